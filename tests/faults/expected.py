"""What must have come out of a run: the definition, with batches as Spark's own logs say that they were.

Which files were one batch decides what is late.  A query that was killed between the
log of one source and that of the batch reads two files of that source in the next
batch, and files that come while it runs are read when they are seen; so the batches
are taken from the logs of the checkpoint, and the rows of them from the trial.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tests.faults.trial import Trial

from anabranch.testing.oracle import Answer, answer
from anabranch.testing.timeline import Batch, End, Event, Heartbeat, stream_of


def expected(run: Trial, checkpoint: Path) -> Answer:
    """The answer to a trial, cut into the batches that Spark has made."""
    return answer(replace(run.case, events=tuple(_events(run, checkpoint))), by_row=False)


def batches(run: Trial, checkpoint: Path) -> list[dict[str, list[int]]]:
    """By batch and stream, the numbers of the files that were read."""
    places = sorted((checkpoint / "sources").iterdir(), key=lambda place: int(place.name))
    logs = {stream: files for place in places for stream, files in _source(place).items()}
    members = [stream_of(alias) for alias in run.case.aliases]
    offsets = sorted(int(file.name) for file in (checkpoint / "offsets").iterdir() if file.name.isdigit())
    assert offsets == list(range(len(offsets))), offsets
    before = dict.fromkeys(logs, -1)
    found = []
    for number in offsets:
        assert (checkpoint / "commits" / str(number)).exists(), f"batch {number} is not committed"
        lines = (checkpoint / "offsets" / str(number)).read_text("utf-8").splitlines()[2:]
        # A stream that is on two roads is read from one source for each of them.
        streams = members if len(lines) == len(members) else list(logs)
        assert len(lines) == len(streams), lines
        batch: dict[str, list[int]] = {}
        for stream, line in zip(streams, lines, strict=True):
            after = before[stream] if line == "-" else int(json.loads(line)["logOffset"])
            batch[stream] = batch.get(stream, []) + [
                file for file, at in logs[stream].items() if before[stream] < at <= after
            ]
            before[stream] = after
        found.append(batch)
    return found


def _events(run: Trial, checkpoint: Path) -> Iterator[Event]:
    read = dict.fromkeys(run.files, 0)
    for batch in batches(run, checkpoint):
        after: list[Event] = []
        arrivals = []
        for stream, numbers in batch.items():
            for number in sorted(numbers):
                assert number == read[stream], f"file {number} of {stream} was read after {read[stream]} others"
                read[stream] += 1
                file = run.files[stream][number]
                arrivals += file.rows
                after += [Heartbeat(stream, file.promise)] if file.promise is not None else []
                after += [End(stream)] if file.last else []
        yield Batch(tuple(arrivals))
        yield from after
    assert all(read[stream] == len(files) for stream, files in run.files.items()), f"files read: {read}"


def _source(log: Path) -> dict[str, dict[int, int]]:
    """The files that a source has seen: by stream and number, the offset."""
    found: dict[str, dict[int, int]] = {}
    for file in log.iterdir():
        if not file.name.startswith("."):
            for line in file.read_text("utf-8").splitlines()[1:]:
                entry = json.loads(line)
                path = Path(entry["path"])
                found.setdefault(path.parent.name, {})[int(path.stem)] = entry["batchId"]
    return found
