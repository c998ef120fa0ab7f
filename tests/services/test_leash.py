import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from tests.services.leash import leashed

ENDLESS = (sys.executable, "-c", "import time; print('here', flush=True); time.sleep(600)")


def alive(pid):
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def wait_for(condition):
    last = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < last
        time.sleep(0.02)


def test_runs_in_the_block_and_is_gone_after_it(tmp_path):
    with leashed(ENDLESS, tmp_path / "log") as process:
        wait_for(lambda: (tmp_path / "log").read_text() == "here\n")
        assert alive(process.pid) and not process.ended()
    assert not alive(process.pid) and process.ended()


@pytest.mark.parametrize("end", [AssertionError, KeyboardInterrupt])
def test_is_gone_when_the_block_fails(tmp_path, end):
    with pytest.raises(end), leashed(ENDLESS, tmp_path / "log") as process:
        raise end
    assert not alive(process.pid)


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_is_gone_when_the_tests_are_killed(tmp_path, end):
    outer = "import sys; from tests.services.test_leash import run; run(sys.argv[1])"
    with subprocess.Popen(
        [sys.executable, "-c", outer, str(tmp_path / "log")], stdout=subprocess.PIPE, text=True
    ) as tests:
        pid = int(tests.stdout.readline())
        assert alive(pid)
        tests.send_signal(end)
    wait_for(lambda: not alive(pid))


def run(log):
    with leashed(ENDLESS, log) as process:
        print(process.pid, flush=True)  # noqa: T201
        time.sleep(600)


def test_one_that_ends_by_itself_has_ended(tmp_path):
    with leashed((sys.executable, "-c", "print('done')"), tmp_path / "log") as process:
        wait_for(process.ended)
    assert (tmp_path / "log").read_text() == "done\n"


def test_one_that_does_not_listen_is_gone_too(tmp_path):
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('here', flush=True); time.sleep(600)"
    )
    with leashed((sys.executable, "-c", deaf), tmp_path / "log", polite=0.1) as process:
        wait_for(lambda: (tmp_path / "log").read_text() == "here\n")
    assert not alive(process.pid)
