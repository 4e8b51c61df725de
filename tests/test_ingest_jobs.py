"""Jobs over a log, in processes that may fail, die, or be interrupted."""

import gzip
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import ingest_jobs
import pytest

from molo.ingest import jobs, open_log, run

ROOT = Path(__file__).parent.parent
PATIENCE = 30  # seconds; only ever waited for when a test fails
GOOD = b'{"role":"system","content":"%s"}\n' % (b"x" * 500)
BAD = b'{"role":"pirate","content":"%s"}\n' % (b"x" * 900)
PRETTY = b'{\n  "messages": []\n}\n'


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Some 20 parts for two workers: good lines, bad ones, blank ones, long ones, a torn one."""
    lines = [GOOD, GOOD, BAD, b"\r\n", GOOD, GOOD * 3, b"\0" * 700 + b"\n", GOOD, GOOD * 2]
    long = GOOD.replace(b"x", b"long" * 100)
    path = tmp_path_factory.mktemp("jobs") / "log.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + (b"".join(lines) * 15 + long) * 10 + GOOD[:99])
    return path


@pytest.fixture(scope="module")
def whole(log):
    """What one process makes of the log."""
    with open_log(log) as opened:
        return ingest_jobs.items(opened.read("molo"))[1]


@pytest.fixture(scope="module")
def shared(log):
    """What two workers make of it, and what they told of their progress."""
    told = []
    return list(run(log, ingest_jobs.items, 2, format="molo", progress=told.append)), told


def test_parts_give_together_what_the_whole_gives(shared, whole):
    parts, _ = shared
    assert len(parts) > 5
    assert [item for _, items in parts for item in items] == whole
    assert len(whole) > 1000


def test_the_work_is_done_by_other_processes(shared):
    parts, _ = shared
    assert os.getpid() not in {process for process, _ in parts}


def test_one_worker_is_this_process(log, whole):
    assert list(run(log, ingest_jobs.items, format="molo")) == [(os.getpid(), whole)]


def test_progress_tells_the_bytes_that_were_read(log, shared):
    told_of_one = []
    list(run(log, ingest_jobs.items, format="molo", progress=told_of_one.append))
    for told in (told_of_one, shared[1]):
        assert told == sorted(told)
        assert len(told) > 5
        assert told[-1] == log.stat().st_size


def test_part_files_are_joined_in_order(log, whole, tmp_path):
    names = run(log, partial(ingest_jobs.part_file, str(tmp_path)), 2, format="molo")
    joined = "".join(Path(name).read_text() for name in names)
    assert joined == "".join(f"{line}\n" for line, _, _ in whole)


@pytest.mark.parametrize("size", [1, 5, 40, 700, 10**6])
def test_a_file_is_cut_at_line_ends(tmp_path, size):
    data = (GOOD + b"\n" + b"y" * 99 + b"\n") * 7 + b"z" * 9
    path = tmp_path / "log"
    path.write_bytes(data)
    parts = list(jobs._parts(path, size))
    assert [part.start for part in parts] == [0, *(part.stop for part in parts)][:-1]
    assert parts[-1].stop == len(data)
    assert {data[part.stop - 1 : part.stop] for part in parts[:-1]} <= {b"\n"}
    assert [part.line for part in parts] == [data[: part.start].count(b"\n") + 1 for part in parts]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("log.json", PRETTY),
        ("log.jsonl.gz", gzip.compress(os.urandom(100_000))),
        ("log.msgpack", b"\0\0\0\1\x90" * 20_000),
        ("log.jsonl", b""),
    ],
)
def test_what_has_no_lines_is_worked_on_in_this_process(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    [(process, _)] = run(path, ingest_jobs.items, 2)
    assert process == os.getpid()


def test_less_than_one_worker_is_a_value_error(log):
    with pytest.raises(ValueError, match="workers must be 1 or more, got 0"):
        list(run(log, ingest_jobs.items, 0))


# --- Failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_job_raises_comes_in_its_place(log, workers):
    with pytest.raises(ValueError, match=r"^line 3$"):
        list(run(log, ingest_jobs.refuse, workers, format="molo"))


@pytest.mark.parametrize("job", [ingest_jobs.exit_at_once, ingest_jobs.kill_itself])
def test_the_death_of_a_worker_is_an_error(log, job):
    with pytest.raises(ChildProcessError, match="a worker died before it was done"):
        list(run(log, job, 2))


def test_an_error_that_cannot_be_sent_is_an_error_all_the_same(log):
    with pytest.raises(Exception):  # noqa: B017
        list(run(log, ingest_jobs.refuse_oddly, 2))


def alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


SCRIPT = """
import sys
from functools import partial
import ingest_jobs
from molo.ingest import run
if __name__ == "__main__":
    for _ in run(sys.argv[1], partial(ingest_jobs.never_end, sys.argv[2]), 2):
        pass
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_parent(log, tmp_path, number):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    begun = tmp_path / "begun"
    begun.mkdir()
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    command = [sys.executable, str(script), str(log), str(begun)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as parent:
        wait_for(lambda: len(list(begun.iterdir())) == 2)
        parent.send_signal(number)
        _, errors = parent.communicate(timeout=PATIENCE)
    assert parent.returncode != 0
    assert (b"KeyboardInterrupt" in errors) is (number == signal.SIGINT)
    workers = [int(path.name) for path in begun.iterdir()]
    wait_for(lambda: not any(map(alive, workers)))


def test_workers_end_when_nobody_wants_more(log):
    results = run(log, ingest_jobs.items, 2)
    process, _ = next(results)
    results.close()
    wait_for(lambda: not alive(process))
