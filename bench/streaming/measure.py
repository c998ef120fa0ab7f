"""Play one feed with one contender in this process, which is new: ``python -m bench.streaming.measure PLAY OUT``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.answer import Answer
from bench.streaming.feed import Feed
from bench.streaming.workload import Found, Play, contender


@dataclass(frozen=True)
class Order:
    """What the process is told: who plays, and what."""

    contender: str
    play: Play

    def text(self) -> str:
        play = self.play
        return json.dumps({"contender": self.contender, **asdict(play)}, default=str)

    @classmethod
    def of(cls, text: str) -> Order:
        read = json.loads(text)
        paths = {name: Path(read[name]) if read[name] else None for name in ("matches", "environment")}
        folders = {stream: Path(folder) for stream, folder in read["folders"].items()}
        return cls(read["contender"], Play(Feed(**read["feed"]), folders, Path(read["work"]), **paths))


def written(found: Found) -> str:
    return json.dumps(asdict(found))


def found(text: str) -> Found:
    read = json.loads(text)
    return Found(answer=Answer(**read.pop("answer")), **read)


def main() -> None:
    order = Order.of(sys.argv[1])
    Path(sys.argv[2]).write_text(written(contender(order.contender).run(order.play)), "utf-8")


if __name__ == "__main__":
    main()
