"""An environment of its own for an engine that cannot live beside the others, made when it is first needed.

Packages come through pip and jars through Maven, each from where it is set up to look.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from bench.machine import installed
from bench.streaming.workload import Contender


class Missing(Exception):
    """Why an engine cannot be had here."""


def environment(name: str, by: Contender, root: Path) -> Path | None:
    """The folder of a contender's environment; None if it lives in this one."""
    if not by.needs:
        if not installed(by.package):
            raise Missing(f"{by.package} is not installed")
        return None
    home, wanted = root / name, json.dumps([by.needs, by.jars])
    stamp = home / "complete"
    if not stamp.exists() or stamp.read_text("utf-8") != wanted:
        _run(sys.executable, "-m", "venv", "--clear", str(home))
        _run(str(python(home)), "-m", "pip", "install", "--quiet", *by.needs)
        for jar in by.jars:
            _run("mvn", "-B", "-q", "dependency:copy", f"-Dartifact={jar}", f"-DoutputDirectory={home / 'jars'}")
        stamp.write_text(wanted, "utf-8")
    return home


def python(home: Path | None) -> Path:
    """The interpreter of an environment."""
    return home / "bin" / "python" if home else Path(sys.executable)


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise Missing(f"{command[0]} is not installed") from error
    if done.returncode:
        raise Missing(f"{' '.join(command)} failed: {(done.stderr or done.stdout).strip()[-300:]}")
