"""The jars that services run on, by Ivy: the resolver that pyspark brings along, so Java and pyspark are enough.

``jars.xml`` says which, Ivy where from; it keeps them in its own cache.  A class path that was found once is written
down in ``build/jars`` and holds as long as its files exist.  Found: no time at all; in Ivy's cache: 4 s; else a minute.
"""

import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NEEDS = Path(__file__).with_name("jars.xml")
FOUND = Path(__file__).parents[2] / "build" / "jars"
PATIENCE = {"sun.net.client.defaultConnectTimeout": 10_000, "sun.net.client.defaultReadTimeout": 60_000}


class Missing(Exception):
    """Something that services run on is not to be had here; a test that needs it is skipped."""


@dataclass(frozen=True)
class Connector:
    """Kafka for Spark; *instead* says why it is not that of the installed Spark, if it is not."""

    jars: Sequence[Path]
    version: str
    instead: str = ""


def java() -> str:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=Path(home, "bin") if home else None)
    if found is None:
        raise Missing("no java, on the path or in JAVA_HOME")
    return found


@functools.cache
def connector() -> Connector:
    """That of the installed Spark, or the nearest one that is known to work with it."""
    instead = ""
    try:
        jars = resolve("connector")
    except Missing as missing:
        instead = str(missing)
        jars = resolve("substitute")
    (itself,) = (jar for jar in jars if jar.name.startswith("spark-sql-kafka"))
    return Connector(jars, itself.stem.rpartition("-")[2], instead)


@functools.cache
def resolve(configuration: str) -> Sequence[Path]:
    """The files of one configuration of ``jars.xml``."""
    java()  # also where the files are known, as they are of no use without it
    ivy, version = _of_pyspark()
    asked = hashlib.sha256(NEEDS.read_bytes() + version.encode()).hexdigest()[:12]
    found = FOUND / f"{configuration}-{asked}"
    if not found.exists() or not all(jar.exists() for jar in _read(found)):
        _ask(ivy, configuration, version, found)
    return _read(found)


def _of_pyspark() -> tuple[Path, str]:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise Missing("pyspark is not installed")
    ivy = next(Path(spec.origin).parent.glob("jars/ivy-*.jar"), None)
    if ivy is None:
        raise Missing("this pyspark has no jars")
    return ivy, importlib.metadata.version("pyspark")


def _ask(ivy: Path, configuration: str, version: str, found: Path) -> None:
    found.parent.mkdir(parents=True, exist_ok=True)
    draft = found.with_name(f"{found.name}.{os.getpid()}")
    properties = {**PATIENCE, "spark.version": version}
    command = [java(), *(f"-D{name}={value}" for name, value in properties.items()), "-jar", ivy]
    command += ["-m2compatible", "-warn", "-ivy", NEEDS, "-confs", configuration, "-cachepath", draft]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        draft.unlink(missing_ok=True)
        raise Missing(f"jars of the {configuration} cannot be had: {_reason(answer.stdout + answer.stderr)}")
    draft.replace(found)


def _reason(said: str) -> str:
    lines = [line.strip(": \t") for line in said.splitlines() if line.strip(": \t")]
    telling = [line for line in lines if line.endswith("not found") or "error" in line]
    return (telling or lines or ["Ivy says nothing"])[-1]


def _read(found: Path) -> Sequence[Path]:
    return tuple(Path(jar) for jar in found.read_text().strip().split(os.pathsep))
