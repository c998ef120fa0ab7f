"""A Spark session of our own, for the command line: quiet, on this machine unless a master is named."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from anabranch.core.errors import Refused
from anabranch.spark.sql import CHANGELOG, PARTITIONS, PROVIDER, ROCKSDB

JAVA = 17
INSTALL = {
    "linux": "apt-get install openjdk-17-jre-headless (on Fedora: dnf install java-17-openjdk-headless)",
    "darwin": "brew install openjdk@17",
}
QUIET = "rootLogger.level = off\n"


@contextmanager
def session(master: str | None = None) -> Iterator[SparkSession]:
    """A session that ends with the block; what Spark says of itself goes to a file, not to the terminal."""
    check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    cores = os.cpu_count() or 1
    with tempfile.TemporaryDirectory(prefix="anabranch-", ignore_cleanup_errors=True) as folder:
        log = Path(folder) / "log4j2.properties"
        log.write_text(QUIET, "utf-8")
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log} -Dderby.system.home={folder}",
            "spark.sql.warehouse.dir": f"{folder}/warehouse",
            "spark.sql.session.timeZone": "UTC",
            PARTITIONS: str(cores),
            PROVIDER: ROCKSDB,
            CHANGELOG: "true",
        }
        if master is None:
            settings |= {
                "spark.driver.bindAddress": "127.0.0.1",
                "spark.driver.host": "127.0.0.1",
                "spark.local.dir": f"{folder}/local",
                "spark.driver.memory": "2g",
            }
        builder = SparkSession.builder.master(master or f"local[{cores}]").appName("anabranch")
        for name, value in settings.items():
            builder = builder.config(name, value)
        with _aside(Path(folder) / "spark.log"):
            spark = builder.getOrCreate()
        try:
            yield spark
        finally:
            spark.stop()


def check_java() -> None:
    """Refuse to begin without a Java that Spark can use."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    hint = f"install Java {JAVA} or newer: {INSTALL.get(sys.platform, 'see adoptium.net')}; or add --runtime local"
    if java is None or not Path(java).exists():
        where = f"JAVA_HOME is {home}, and there is no bin/java in it" if home else "there is no java on the PATH"
        raise Refused(f"Spark needs Java, and {where}", hint)
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)(?:\.(\d+))?', said)
    version = int(found[2] if found[1] == "1" and found[2] else found[1]) if found else 0
    if version < JAVA:
        raise Refused(f"Spark needs Java {JAVA}, and {java} is version {version or 'unknown'}", hint)


@contextmanager
def _aside(file: Path) -> Iterator[None]:
    """Let the Java process inherit a file as its standard error."""
    sys.stderr.flush()
    kept, sink = os.dup(2), os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(sink, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(sink)
