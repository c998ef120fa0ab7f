"""Every documented example is executed.

A comment before a fenced block says what to do with it:

    <!-- run -->             sql is parsed, python is executed, sh is run
    <!-- refused: words -->  the same, and it has to be refused with these words, a command with status 1
    <!-- output -->          what the last block that ran has printed, or why it was refused
    <!-- excerpt -->         some of its lines, in their order; ``...`` stands for what is left out of a line
    <!-- file: name -->      is written to the page's folder
    <!-- streams -->         declares streams for the queries below, one ``name(column TYPE, ...)`` a line
    <!-- fragment -->        is no whole example; the text around it says why

A page is one test: its blocks share a folder, a Python namespace and the streams.
A block of sql, python or sh without such a comment is an error, so none is forgotten.
"""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from anabranch.core.errors import Refused

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
MARK = re.compile(r"<!-- (run|refused|output|excerpt|file|streams|fragment)(?:: (.+))? -->")
EXECUTED = ("sql", "python", "sh")
STREAM = re.compile(r"(\w+)\((.+)\)")
COMMAND = "import sys; from anabranch.cli.main import main; sys.exit(main())"


@dataclass(frozen=True)
class Block:
    line: int
    mark: str
    words: str
    language: str
    body: str


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page that have a comment, or should have one."""
    mark, words = "", ""
    lines = enumerate(text.splitlines(), 1)
    for number, line in lines:
        if found := MARK.fullmatch(line):
            mark, words = found[1], found[2] or ""
        elif line.startswith("```"):
            body = ""
            for _, inner in lines:
                if inner == "```":
                    break
                body += f"{inner}\n"
            if mark or line[3:] in EXECUTED:
                yield Block(number, mark, words, line[3:], body)
            mark, words = "", ""
        elif line:
            mark, words = "", ""


@dataclass
class Reader:
    """Somebody who follows a page from its top, in a folder of their own."""

    folder: Path
    known: dict[str, Any] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "example"})
    printed: str = ""

    def follow(self, block: Block) -> None:
        assert block.mark, f"a comment must say what to do with a block of {block.language}"
        getattr(self, block.mark)(block)

    def fragment(self, block: Block) -> None:
        """Read, and no more."""

    def file(self, block: Block) -> None:
        (self.folder / block.words).write_text(block.body, encoding="utf-8")

    def streams(self, block: Block) -> None:
        for line in block.body.splitlines():
            declared = STREAM.fullmatch(line)
            assert declared, f"no stream: {line}"
            self.known[declared[1]] = stream(declared[1], declared[2])

    def output(self, block: Block) -> None:
        assert self.printed == block.body

    def excerpt(self, block: Block) -> None:
        printed = iter(self.printed.splitlines())
        for line in filter(lambda line: line.strip() != "...", block.body.splitlines()):
            shown = re.compile(".*".join(map(re.escape, line.split("..."))))
            assert any(shown.fullmatch(each) for each in printed), f"not printed, or not in this order: {line}"

    def run(self, block: Block) -> None:
        self.printed = getattr(self, block.language)(block)

    def refused(self, block: Block) -> None:
        if block.language == "sh":
            done = self.shell(block)
            assert done.returncode == 1, done.stderr
            self.printed = done.stderr
        else:
            with pytest.raises(Refused) as refusal:
                self.run(block)
            self.printed = f"{refusal.value}\n"
        assert block.words in self.printed
        assert self.printed.count("\n") == 1, "a refusal is one line"

    def sql(self, block: Block) -> str:
        from anabranch.plan.sql import parse

        return str(parse(block.body, self.known))

    def python(self, block: Block) -> str:
        code = compile("\n" * block.line + block.body, "the example", "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.chdir(self.folder):
            exec(code, self.names)
        return printed.getvalue()

    def sh(self, block: Block) -> str:
        done = self.shell(block)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def shell(self, block: Block) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.body],
            cwd=self.folder,
            env=os.environ | {"PATH": f"{commands(self.folder)}:{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


def stream(name: str, columns: str) -> Any:
    """The stream that a line like ``name(column TYPE, ...)`` declares."""
    from anabranch.plan.query import Stream

    types = {
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "STRING": pa.string(),
        "BOOLEAN": pa.bool_(),
        "TIMESTAMP": pa.timestamp("us", "UTC"),
    }
    return Stream(name, pa.schema([(c, types[t]) for c, t in (column.split() for column in columns.split(","))]))


def commands(folder: Path) -> Path:
    """A folder with ``anabranch`` as it is here, and a ``make`` that knows the verbs but does not act."""
    place = folder / ".bin"
    place.mkdir(exist_ok=True)
    scripts = {
        "anabranch": f"exec '{sys.executable}' -c '{COMMAND}' \"$@\"",
        "make": f"unset MAKEFLAGS MAKELEVEL\nexec '{shutil.which('make')}' -n -C '{ROOT}' \"$@\" >/dev/null",
    }
    for name, script in scripts.items():
        (place / name).write_text(f"#!/bin/sh\n{script}\n")
        (place / name).chmod(0o755)
    return place


def follow(text: str, folder: Path) -> None:
    """Do all that a page says, in its order."""
    reader = Reader(folder)
    for block in blocks(text):
        try:
            reader.follow(block)
        except BaseException as error:
            error.add_note(f"in the block of line {block.line}")
            raise


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_example_does_what_its_page_says(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    text = page.read_text(encoding="utf-8")
    if "SparkSession" in text:
        request.getfixturevalue("spark")  # so that the page finds the session that all tests share
    follow(text, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```",
        "<!-- run -->\n```python\nprint(1)\n```\n<!-- output -->\n```text\n2\n```",
        "<!-- run -->\n```python\nprint(1, 2)\n```\n<!-- excerpt -->\n```text\n...3\n```",
        "<!-- run -->\n```sh\nexit 3\n```",
        "<!-- run -->\n```sh\nmake no-such-verb\n```",
        "<!-- streams -->\n```text\nnot a stream\n```",
    ],
    ids=["no comment", "other output", "other excerpt", "failed command", "unknown verb", "no stream"],
)
def test_an_example_that_does_something_else_fails(text: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        follow(text, tmp_path)
