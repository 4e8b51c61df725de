"""Logs as files: opened, compressed, written safely, and transcripts that grow."""

import gzip
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from molo import DecodeError, EncodeError, assistant, system, user
from molo.ingest import (
    Fault,
    Loaded,
    Record,
    append,
    encode,
    load,
    open_log,
    whole_file,
    write,
)
from molo.ingest.compression import COMPRESSIONS

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ROOT = Path(__file__).parent.parent
PATIENCE = 30  # seconds; only ever waited for when a test fails
LINES = [b'{"role":"system","content":"%d"}\n' % number for number in range(4)]
LOG = b"".join(LINES)
MESSAGES = [system(str(number)) for number in range(4)]
COMPRESS = {".gz": gzip.compress, ".zst": zstd.compress}
NAMES = {".gz": "gzip", ".zst": "zstd"}
SUFFIXES = list(COMPRESS)
SKIPPABLE = b"\x5a\x2a\x4d\x18\x04\x00\x00\x00meta"


def read_file(path, **options):
    with open_log(path) as log:
        return list(log.read(**options))


def messages_of(items):
    return [message for item in items if isinstance(item, Record) for message in item.messages]


def faults_of(items):
    return [(item.code, item.line, item.raw) for item in items if isinstance(item, Fault)]


# --- Compressed logs ------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_members_that_follow_each_other_are_one_log(tmp_path, suffix):
    path = tmp_path / f"log.jsonl{suffix}"
    path.write_bytes(
        COMPRESS[suffix](LOG[:50]) + COMPRESS[suffix](b"") + COMPRESS[suffix](LOG[50:])
    )
    items = read_file(path)
    assert (messages_of(items), faults_of(items)) == (MESSAGES, [])
    assert [item.offset for item in items] == [0, 32, 64, 96]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_compression_is_known_by_the_first_bytes_too(tmp_path, suffix):
    path = tmp_path / "log"
    path.write_bytes(COMPRESS[suffix](LOG))
    assert messages_of(read_file(path)) == MESSAGES


def test_skippable_frames_are_skipped(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(SKIPPABLE + zstd.compress(LOG[:50]) + SKIPPABLE + zstd.compress(LOG[50:]))
    assert messages_of(read_file(path)) == MESSAGES


def test_zeros_behind_a_member_are_padding(tmp_path):
    path = tmp_path / "log.jsonl.gz"
    padding = b"\0" * 70_000  # more than is read at once
    path.write_bytes(gzip.compress(LOG[:50]) + padding + gzip.compress(LOG[50:]) + padding)
    items = read_file(path)
    assert (messages_of(items), faults_of(items)) == (MESSAGES, [])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_stream_cut_anywhere_gives_whole_lines_and_one_fault(tmp_path, suffix):
    path = tmp_path / f"log.jsonl{suffix}"
    whole = COMPRESS[suffix](LOG[:64]) + COMPRESS[suffix](LOG[64:])
    for size in range(1, len(whole)):
        path.write_bytes(whole[:size])
        *records, last = read_file(path, format="molo")
        at_member = size == len(COMPRESS[suffix](LOG[:64]))
        assert (isinstance(last, Fault) and last.code == "compressed") is not at_member
        assert messages_of(records) == MESSAGES[: len(records)]
        assert len(records) >= 2 or size < len(COMPRESS[suffix](LOG[:64])) or at_member


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_damaged_stream_is_one_fault(tmp_path, suffix):
    path = tmp_path / f"log.jsonl{suffix}"
    for data in (b"no compressed data", COMPRESS[suffix](LOG) + b"junk" * 5):
        path.write_bytes(data)
        *records, fault = read_file(path, format="molo")
        assert (fault.code, fault.raw) == ("compressed", b"")
        assert fault.reason == f"Expected {NAMES[suffix]}, got damaged data"
        assert messages_of(records) in ([], MESSAGES)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_compresses_well_does_not_fill_the_memory(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    path.write_bytes(COMPRESS[suffix](b"\n" * 50_000_000))
    with open_log(path) as log:
        assert max(map(len, log)) <= 2**18


def test_a_missing_package_is_one_clear_sentence(tmp_path):
    path = tmp_path / "log.zst"
    path.write_bytes(zstd.compress(LOG))
    script = (
        "import sys; sys.modules['backports'] = sys.modules['compression'] = None\n"
        "from molo.ingest import open_log\n"
        "with open_log(sys.argv[1]) as log:\n"
        "    try: list(log.read())\n"
        "    except ModuleNotFoundError as error: print(error)"
    )
    command = [sys.executable, "-c", script, path]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout == (
        "zstd needs Python 3.14 or the package backports.zstd: pip install backports.zstd\n"
    )


# --- Logs -----------------------------------------------------------------------------------------


def test_a_log_knows_its_size_and_how_far_it_is_read(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(LOG * 5000)
    with open_log(path) as log:
        assert (log.source, log.size, log.position) == (str(path), len(LOG) * 5000, 0)
        items = log.read()
        next(items)
        assert 0 < log.position < log.size
        assert sum(1 for _ in items) == 19_999
        assert log.position == log.size


def test_a_log_gives_its_bytes_and_a_guess_takes_none_of_them(tmp_path):
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress(LOG)[:-1])
    with open_log(path) as log:
        assert log.guess().format == "molo"
        chunks = iter(log)
        assert next(chunks) == LOG
        with pytest.raises(DecodeError, match="Expected more gzip, got the end of the data"):
            next(chunks)


def test_a_json_file_is_a_document_unless_it_holds_lines(tmp_path):
    path = tmp_path / "log.json"
    path.write_bytes(b'[\n  {"role": "system", "content": "0"}\n]\n')
    assert messages_of(read_file(path)) == messages_of(read_file(path, format="molo"))
    assert messages_of(read_file(path)) == MESSAGES[:1]
    path.write_bytes(LOG)
    assert messages_of(read_file(path)) == MESSAGES


@pytest.mark.parametrize("format", ["auto", "molo-msgpack"])
def test_a_file_of_frames_may_have_any_suffix(tmp_path, format):
    path = tmp_path / "log.json"
    path.write_bytes(b"".join(encode(Record([m]), "molo-msgpack") for m in MESSAGES))
    assert messages_of(read_file(path, format=format)) == MESSAGES


def test_standard_input_is_a_log_as_it_comes():
    script = (
        "from molo.ingest import open_log\n"
        "with open_log('-') as log:\n"
        "    print(log.source, log.size)\n"
        "    for item in log.read('molo'): print(item.line, flush=True)"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(LINES[0])
        process.stdin.flush()
        assert process.stdout.readline() == b"- None\n"
        assert process.stdout.readline() == b"1\n"  # before the end of the input
        process.stdin.write(LINES[1])
        rest, _ = process.communicate(timeout=PATIENCE)
    assert rest == b"2\n"


@pytest.mark.parametrize("script", ["open_log('-')", "write([], '-')"])
def test_a_closed_standard_stream_is_an_os_error(script):
    code = (
        "from molo.ingest import open_log, write\n"
        f"try: {script}\n"
        "except OSError as error: raise SystemExit(7)"
    )
    command = f"exec '{sys.executable}' -c \"{code}\" <&- >&-"
    assert subprocess.run(command, shell=True, check=False, timeout=PATIENCE).returncode == 7


# --- Writing --------------------------------------------------------------------------------------

RECORDS = [Record([message], single=True) for message in MESSAGES]
WRITTEN = {
    "log.jsonl": (RECORDS, LOG),
    "log.ndjson": (RECORDS, LOG),
    "log": (RECORDS, LOG),
    "log.json": (RECORDS[:1], LINES[0][:-1]),
    "log.msgpack": (
        RECORDS[:1],
        b"\0\0\0\x17\x82\xa4role\xa6system\xa7content\xa10",
    ),
}


@pytest.mark.parametrize("suffix", ["", *SUFFIXES])
@pytest.mark.parametrize("name", WRITTEN)
def test_a_file_is_written_as_its_name_says(tmp_path, name, suffix):
    records, data = WRITTEN[name]
    path = tmp_path / (name + suffix)
    assert write(records, path) == len(records)
    decompress = {"": bytes, ".gz": gzip.decompress, ".zst": zstd.decompress}
    assert decompress[suffix](path.read_bytes()) == data
    assert messages_of(read_file(path)) == [m for record in records for m in record.messages]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_of_no_records_is_compressed_all_the_same(tmp_path, suffix):
    path = tmp_path / f"log.jsonl{suffix}"
    assert write([], path) == 0
    assert {".gz": gzip.decompress, ".zst": zstd.decompress}[suffix](path.read_bytes()) == b""


def test_the_same_records_give_the_same_compressed_bytes(tmp_path):
    for suffix in SUFFIXES:
        write(RECORDS, tmp_path / f"one{suffix}")
        write(RECORDS, tmp_path / f"two{suffix}")
        one, two = ((tmp_path / f"{name}{suffix}").read_bytes() for name in ("one", "two"))
        assert one == two


def test_a_document_holds_one_record(tmp_path):
    path = tmp_path / "log.json"
    path.write_bytes(b"old")
    for records, got in ((RECORDS, "more"), ([], "none")):
        with pytest.raises(EncodeError, match=f"Expected one record for a document, got {got}"):
            write(records, path)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"old"]


def test_a_record_that_cannot_be_written_leaves_the_old_file(tmp_path):
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(b"old")
    with pytest.raises(EncodeError, match=r"lone surrogate \(in the record of line 7\)"):
        write([*RECORDS, Record([system("\ud83d")], 7)], path)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"old"]


def test_standard_output_is_written_as_it_is():
    script = (
        "from molo import system\n"
        "from molo.ingest import Record, write\n"
        "print(write([Record([system('0')], single=True)], '-'), flush=True)"
    )
    command = [sys.executable, "-u", "-c", script]
    done = subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE)
    assert done.stdout == LINES[0] + b"1\n"


def test_a_pipe_is_written_as_it_is(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    found = []
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()))
    reader.start()
    write(RECORDS, path)
    reader.join(PATIENCE)
    assert found == [LOG]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_links_and_permissions_are_kept(tmp_path):
    target, link = tmp_path / "log.jsonl", tmp_path / "link"
    target.touch(mode=0o640)
    target.chmod(0o640)
    link.symlink_to(target)
    write(RECORDS, link)
    assert link.is_symlink()
    assert target.read_bytes() == LOG
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_permissions(tmp_path):
    umask = os.umask(0o027)
    try:
        write(RECORDS, tmp_path / "log")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "log").stat().st_mode) == 0o640


def test_a_file_that_cannot_be_written_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write(RECORDS, tmp_path / "absent" / "log")
    with pytest.raises(IsADirectoryError):
        write(RECORDS, tmp_path)


def test_what_is_half_written_is_taken_away(tmp_path):
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "log") as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


WRITER = """
import sys
from molo import system
from molo.ingest import Record, write

def records():
    for number in range(int(sys.argv[2])):
        if number % 500 == 0:
            print(number, flush=True)
        yield Record([system("new" * 30)], single=True)

print("begin", flush=True)
write(records(), sys.argv[1])
print("end", flush=True)
"""


@pytest.mark.parametrize("point", range(12))
def test_a_killed_writer_leaves_the_old_file_or_the_new_one(tmp_path, point):
    path = tmp_path / "log.jsonl"
    path.write_bytes(LOG)
    command = [sys.executable, "-c", WRITER, path, "5000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        for _ in range(point):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    new = encode(Record([system("new" * 30)], single=True), "molo") * 5000
    assert path.read_bytes() in (LOG, new)
    assert path.read_bytes() == LOG or point > 10


# --- Transcripts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fsync", [False, True])
def test_a_transcript_grows(tmp_path, fsync):
    path = tmp_path / "session.jsonl"
    append(path, MESSAGES[:1], fsync=fsync)
    append(path, [], fsync=fsync)
    append(path, MESSAGES[1:], fsync=fsync)
    assert path.read_bytes() == LOG
    assert load(path) == Loaded(MESSAGES, ())


def test_a_torn_tail_is_told_and_what_is_added_keeps_off_it(tmp_path):
    path = tmp_path / "session.jsonl"
    for size in range(len(LINES[1])):
        path.write_bytes(LINES[0] + LINES[1][:size])
        loaded = load(path)
        torn = LINES[1][:size]
        whole = MESSAGES[: 1 + (size == len(LINES[1]) - 1)]
        assert loaded.history == whole
        assert [(fault.code, fault.raw) for fault in loaded.faults] == [("torn", torn)][
            : size > 0 and len(whole) == 1
        ]
        append(path, MESSAGES[2:3])
        again = load(path)
        assert again.history == [*whole, MESSAGES[2]]
        assert [fault.raw for fault in again.faults] == [
            fault.raw + b"\n" for fault in loaded.faults
        ]


@pytest.mark.parametrize("size", range(len(LINES[0])))
def test_a_transcript_may_be_torn_in_its_first_line(tmp_path, size):
    path = tmp_path / "session.jsonl"
    path.write_bytes(LINES[0][:size])
    assert load(path).history == MESSAGES[: size == len(LINES[0]) - 1]
    append(path, MESSAGES[1:2])
    assert load(path).history[-1:] == MESSAGES[1:2]


OTHERS = {
    "text": b"hello\nworld\n",
    "a log": b'[{"role":"system","content":"a"}]\n',
    "a document": b'{\n "messages": []\n}\n',
    "objects": b'{"messages":[]}\n',
    "zeros": b"\0" * 100,
    "one of a vendor": b'{"type":"message"}\n',
    "compressed": gzip.compress(b"hello"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_that_is_no_transcript_is_an_error_and_stays(tmp_path, name):
    path = tmp_path / "file"
    path.write_bytes(OTHERS[name])
    with pytest.raises(DecodeError, match="Expected a transcript"):
        load(path)
    with pytest.raises(DecodeError, match="Expected a transcript"):
        append(path, MESSAGES)
    assert path.read_bytes() == OTHERS[name]


def test_a_history_among_messages_is_an_error(tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_bytes(LINES[0] + b"[]\n")
    with pytest.raises(DecodeError, match="got a history in line 2"):
        load(path)


@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_a_file_without_a_line_is_a_transcript_of_nothing(tmp_path, data):
    path = tmp_path / "session.jsonl"
    path.write_bytes(data)
    assert load(path) == Loaded([], ())
    append(path, MESSAGES)
    assert load(path) == Loaded(MESSAGES, ())


def test_no_transcript_is_a_file_not_found_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "session.jsonl")


def test_nothing_is_written_of_messages_that_cannot_be(tmp_path):
    path = tmp_path / "session.jsonl"
    with pytest.raises(EncodeError):
        append(path, [user("Hi"), assistant("\ud83d")])
    with pytest.raises(TypeError):
        append(path, user("Hi"))
    assert not path.exists()


@pytest.mark.parametrize("row", COMPRESSIONS, ids=lambda row: row.suffix)
def test_a_transcript_is_not_compressed(tmp_path, row):
    with pytest.raises(ValueError, match="Expected a file that is not compressed"):
        append(tmp_path / f"session.jsonl{row.suffix}", MESSAGES)


APPENDER = """
import sys
from molo import system
from molo.ingest import append

print("begin", flush=True)
number = int(sys.argv[2])
while True:
    append(sys.argv[1], [system(f"{number} " + "x" * 5000)])
    number += 1
"""


def test_a_transcript_outlives_writers_that_are_killed(tmp_path):
    path = tmp_path / "session.jsonl"
    for _ in range(4):
        begin = len(load(path).history) if path.exists() else 0
        command = [sys.executable, "-c", APPENDER, path, str(begin)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            threading.Event().wait(0.05)
            process.send_signal(signal.SIGKILL)
        loaded = load(path)
        assert [int(m.content.split()[0]) for m in loaded.history] == list(
            range(len(loaded.history))
        )
        assert len(loaded.faults) <= 4
