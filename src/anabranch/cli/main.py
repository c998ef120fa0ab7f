"""``anabranch``: finds the command, and turns a refusal into one line and exit status 1, or 2 where usage is wrong."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import anabranch.cli
from anabranch.cli import standard
from anabranch.cli.usage import Misused
from anabranch.core.errors import Refused

DESCRIPTION = "Joins any number of streams by time windows and predicates, exactly and continuously."
EPILOG = "anabranch COMMAND --help tells more about a command."


def main(given: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    with standard.streams():
        try:
            status = _run(sys.argv[1:] if given is None else given)
            sys.stdout.flush()
            return status
        except Refused as refusal:
            print(f"anabranch: {refusal}", file=sys.stderr)
            return 1
        except BrokenPipeError:  # the reader of our output has gone, as `| head` does
            return 0
        except KeyboardInterrupt:
            print("anabranch: interrupted; nothing was written", file=sys.stderr)
            return 130
        except MemoryError:
            print("anabranch: out of memory; narrow the windows or add a condition that joins", file=sys.stderr)
            return 1


def _run(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="anabranch", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"anabranch {version('anabranch')}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in _commands():
        if name in words[:1]:  # only the command that runs is loaded, so that help is instant
            _say_that_it_compiles(words)
            module = importlib.import_module(f"anabranch.cli.{name}")
            command = commands.add_parser(
                name, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
            )
            module.configure(command)
            command.set_defaults(run=module.run, misused=command.error)
        else:
            commands.add_parser(name, help=_help(name))
    try:
        arguments = parser.parse_args(words)
    except SystemExit:  # help is written too
        sys.stdout.flush()
        raise
    try:
        return int(arguments.run(arguments))
    except Misused as misuse:
        arguments.misused(str(misuse))  # exits
        raise


def _say_that_it_compiles(words: Sequence[str]) -> None:
    """To load a command compiles the join where nobody has before, which takes many seconds: on a terminal, say so."""
    if not sys.stderr.isatty() or "--quiet" in words:
        return
    from anabranch.core import cache  # numba takes half a second, which help does without

    if not cache.kernels().exists():
        print("anabranch: compiling the join, once after an installation", file=sys.stderr)


def _commands() -> list[str]:
    """The modules of this folder that say what they help with."""
    names = sorted(module.name for module in pkgutil.iter_modules(anabranch.cli.__path__))
    return [name for name in names if _help(name)]


def _help(name: str) -> str:
    """A command's ``HELP``, read from its source without running it."""
    spec = importlib.util.find_spec(f"anabranch.cli.{name}")
    assert spec is not None and spec.origin is not None
    for node in ast.parse(Path(spec.origin).read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["HELP"]:
            return str(ast.literal_eval(node.value))
    return ""


if __name__ == "__main__":
    sys.exit(main())
