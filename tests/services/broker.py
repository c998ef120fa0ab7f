"""A Kafka broker of our own: one node that is its own controller, on loopback, with data that goes when it goes.

Its settings are the smallest that work; two of them tests depend on.  Records are kept for ever: Kafka counts their age
from their own timestamps, and those of tests are old.  A topic exists only if it was created: a wrong name is an error.
"""

import os
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.services.jars import java
from tests.services.leash import Leashed, leashed

HOST = "127.0.0.1"
QUICK = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
SAYS = {"defaultLogLevel": "warn", "log.kafka.server.KafkaRaftServer": "info"}
READY = "Kafka Server started"  # its port is open before; now it is also known to its controller and can hold topics
PATIENCE = 60  # seconds
TRIES = 3
CLUSTER = "AAAAAAAAAAAAAAAAAAAAAQ"  # alone on its ports; a random name may begin with "-", which reads as an option

SETTINGS = """
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller}
controller.listener.names=CONTROLLER
controller.quorum.voters=1@{host}:{controller}
log.dirs={data}
log.retention.ms=-1
auto.create.topics.enable=false
num.network.threads=1
num.io.threads=2
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
controlled.shutdown.enable=false
"""


@dataclass(frozen=True)
class Broker:
    servers: str
    pid: int
    data: Path


class Failed(Exception):
    """The broker ended, or did not answer in time; with the end of what it said."""


@contextmanager
def broker(jars: Sequence[Path], within: Path) -> Iterator[Broker]:
    """Answers in the block, is gone after it; its files are in a folder of its own *within* another."""
    with TemporaryDirectory(prefix="kafka-", dir=within) as folder:
        for left in reversed(range(TRIES)):
            try:
                with _attempt(jars, Path(folder)) as started:
                    yield started
                return
            except _Taken:
                if not left:
                    raise


class _Taken(Failed):
    """A port was free when it was chosen and is not any more."""


@contextmanager
def _attempt(jars: Sequence[Path], folder: Path) -> Iterator[Broker]:
    folder = folder / uuid.uuid4().hex
    folder.mkdir()
    settings, log, data = folder / "server.properties", folder / "log", folder / "data"
    port, controller = _free_ports(2)
    settings.write_text(SETTINGS.format(host=HOST, port=port, controller=controller, data=data.as_posix()))
    says = (f"-Dorg.slf4j.simpleLogger.{name}={level}" for name, level in SAYS.items())
    run = [java(), *QUICK, *says, "-cp", os.pathsep.join(map(str, jars))]
    _format(run, settings)
    with leashed([*run, "kafka.Kafka", str(settings)], log) as process:
        _await(process, port, log)
        yield Broker(f"{HOST}:{port}", process.pid, data)


def _free_ports(count: int) -> Sequence[int]:
    sockets = [socket.create_server((HOST, 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _format(run: Sequence[str], settings: Path) -> None:
    command = [*run, "kafka.tools.StorageTool", "format", "--cluster-id", CLUSTER, "--config", str(settings)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise Failed(answer.stdout + answer.stderr)


def _await(process: Leashed, port: int, log: Path) -> None:
    last = time.monotonic() + PATIENCE
    while READY not in log.read_text() or not listens(port):
        said = log.read_text()[-2000:] if process.ended() or time.monotonic() > last else None
        if said is not None:
            raise (_Taken if "Address already in use" in said else Failed)(said)
        time.sleep(0.05)


def listens(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True
