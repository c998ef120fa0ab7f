from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anabranch.core.errors import Refused
from anabranch.files import ARRIVAL, open_source, stream_argument
from anabranch.files.paths import data_files

Read = Callable[..., Any]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("A=a.csv", ("A", "a.csv", None)),
        ("A=a.csv@seen", ("A", "a.csv", "seen")),
        ("A=a.csv@arrival", ("A", "a.csv", "arrival")),
        ("A=a=b@c=d.csv@seen", ("A", "a=b@c=d.csv", "seen")),
        ("A=me@home/a.csv", ("A", "me@home/a.csv", None)),
        ("A=me@home/a.csv@seen", ("A", "me@home/a.csv", "seen")),
        (" A =a b.csv@first seen", ("A", "a b.csv", "first seen")),
    ],
)
def test_stream_argument(text: str, parts: tuple[str, str, str | None]) -> None:
    assert stream_argument(text) == parts


def test_an_at_in_the_name_of_a_file_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a@b.csv").write_text("ts\n1\n")
    assert stream_argument("A=a@b.csv") == ("A", "a@b.csv", None)
    assert stream_argument("A=a@b.csv@ts") == ("A", "a@b.csv", "ts")


@pytest.mark.parametrize("text", ["A", "A=", "=a.csv", " =a.csv", "A=a.csv@", "A=@ts", ""])
def test_what_is_no_stream_argument(text: str) -> None:
    with pytest.raises(Refused, match=r"write NAME=PATH or NAME=PATH@TIMECOLUMN, such as camera1=camera1.parquet$"):
        stream_argument(text)


@pytest.mark.parametrize(
    ("header", "asked", "time"),
    [
        ("id,ts", None, "ts"),
        ("id,TS", None, "TS"),
        ("ts,TS", None, "ts"),
        ("id,Seen At", "seen at", "Seen At"),
        ("Seen,seen", "seen", "seen"),
        ("id,ts", "ID", "id"),
        ("id,x", "arrival", ARRIVAL),
        ("arrival,ts", "arrival", ARRIVAL),
        ("Arrival,ts", "Arrival", "Arrival"),
    ],
)
def test_time_column(read: Read, header: str, asked: str | None, time: str) -> None:
    assert read("a.csv", header + "\n1,2\n", asked).source.time == time


@pytest.mark.parametrize(
    ("header", "asked", "message"),
    [
        ("id,x,s", None, "stream 'A' has no column 'ts' for its time; name one of id, x as in A=.*/a.csv@id"),
        ("id,x,s", "seen", "stream 'A' has no column 'seen' for its time; name one of id, x as in .*"),
        ("Seen,SEEN,s", "seen", "the time 'seen' of stream 'A' may be Seen or SEEN; spell it as in the file"),
        ("id,ts,s", "s", "the time 's' of stream 'A' is of type string, which is no event time; .*"),
        ("arrival,x,s", "ARRIVAL", "the column 'arrival' .* cannot be its time; @arrival is transaction time"),
    ],
)
def test_no_time_no_stream(read: Read, header: str, asked: str | None, message: str) -> None:
    with pytest.raises(Refused, match=f"^{message}$"):
        read("a.csv", header + "\n1,2,a\n", asked)


def test_wide_tables_are_not_listed_to_the_end(read: Read) -> None:
    with pytest.raises(Refused, match=r"name one of c0, c1, c2, c3, c4, c5, c6, c7, \.\.\. as in"):
        read("a.csv", ",".join(f"c{i}" for i in range(99)) + "\n" + ",".join(["1"] * 99))


def test_a_stream_can_be_read_again(read: Read) -> None:
    source = read("a.csv", "ts\n1\n").source
    assert [b.to_pylist() for b, _ in source.batches()] == [b.to_pylist() for b, _ in source.batches()] != []


@pytest.mark.parametrize("ending", [".parquet", ".PARQUET", ".csv", ".jsonl", ".ndjson", ".json"])
def test_the_ending_tells_the_format(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    if ending.lower() == ".parquet":
        pq.write_table(pa.table({"ts": [1]}), path)
    else:
        path.write_text("ts\n1\n" if ending == ".csv" else '{"ts": 1}\n')
    assert [batch.to_pylist() for batch, _ in open_source("A", str(path)).batches()] == [[{"ts": 1}]]


def filled(folder: Path, *names: str) -> str:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text("ts\n1\n")
    return str(folder)


def test_a_folder_is_read_in_the_order_of_the_bytes_of_its_names(tmp_path: Path) -> None:
    names = ["é.csv", "b.csv", "B.csv", "a10.csv", "a9.csv", "z.CSV"]
    kind, files = data_files("A", filled(tmp_path / "in", *names, "_SUCCESS", ".a.csv.crc", "_b.parquet"))
    assert kind == "csv"
    assert [os.path.basename(file) for file in files] == ["B.csv", "a10.csv", "a9.csv", "b.csv", "z.CSV", "é.csv"]


def test_places_that_are_no_stream(tmp_path: Path) -> None:
    def refusal(path: str) -> str:
        with pytest.raises(Refused) as refused:
            open_source("A", path)
        assert "\n" not in str(refused.value)
        return str(refused.value).replace(str(tmp_path), "")

    here = str(tmp_path)
    filled(tmp_path, "camera1.csv", "notes.txt")
    assert refusal(f"{here}/camera2.csv") == (
        "stream 'A': there is no file or folder '/camera2.csv'; did you mean '/camera1.csv'?"
    )
    assert (
        refusal(f"{here}/no/a.csv")
        == "stream 'A': there is no file or folder '/no/a.csv'; there is no folder '/no' either"
    )
    assert refusal(f"{here}/camera1.csv/a.csv").startswith("stream 'A': there is no file or folder")
    assert refusal(f"{here}/notes.txt") == (
        "stream 'A': '/notes.txt' has no known format; its name should end in .parquet, .csv, .jsonl, .ndjson or .json"
    )
    filled(tmp_path / "empty", "_SUCCESS")
    assert refusal(f"{here}/empty").startswith("stream 'A': the folder '/empty' has no files")
    filled(tmp_path / "mixed", "a.csv", "b.csv", "c.jsonl", "d.jsonl")
    assert refusal(f"{here}/mixed").startswith("stream 'A': '/mixed/a.csv' and '/mixed/c.jsonl' are of two kinds")
    filled(tmp_path / "odd", "a.csv", "README")
    assert refusal(f"{here}/odd").startswith("stream 'A': '/odd/README' has no known format")
    filled(tmp_path / "deep", "a.csv")
    filled(tmp_path / "deep" / "k=1", "b.csv")
    assert refusal(f"{here}/deep").startswith("stream 'A': '/deep/k=1' is not a file; a folder is read without")
    os.mkfifo(tmp_path / "pipe.csv")
    assert refusal(f"{here}/pipe.csv").startswith("stream 'A': '/pipe.csv' is not a file")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*args: object) -> None:
        raise PermissionError(13, "Permission denied")

    filled(tmp_path, "a.csv")
    monkeypatch.setattr("builtins.open", forbidden)
    with pytest.raises(Refused, match=r"^'.*a.csv' cannot be read: Permission denied$"):
        open_source("A", str(tmp_path / "a.csv"))
