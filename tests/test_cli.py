"""`molo convert` and `molo repair`, run as real processes on real files."""

import gzip
import json
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import sleep

import pytest
from command import LOG, MOLO, ROOT, SESSION, Call, called, history_of, run, through_shell
from msgspec.structs import replace

import molo
from molo.cli import main
from molo.cli.ending import ending
from molo.dialects import rust_molo
from molo.dialects.loss import Loss
from molo.framing import encode_frame
from molo.ingest import FORMATS, read
from molo.ingest.objects import Content

HISTORY = history_of("Hi")
PRIVATE = "my secret diary"

WRITTEN = {
    "molo": molo.json.encode(HISTORY) + b"\n",
    "molo-msgpack": encode_frame(molo.msgpack.encode(HISTORY)),
    "rust-molo": rust_molo.encode_json(HISTORY) + b"\n",
    "rust-molo-msgpack": rust_molo.encode_msgpack(HISTORY),
    **dict.fromkeys(
        ["openai-chat", "openai-responses"],
        b'[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"},'
        b'{"role":"assistant","content":"Hello"}]\n',
    ),
    "anthropic": b'{"system":[{"type":"text","text":"Be brief."}],"messages":[{"role":"user",'
    b'"content":[{"type":"text","text":"Hi"}]},{"role":"assistant",'
    b'"content":[{"type":"text","text":"Hello"}]}]}\n',
    "gemini": b'{"systemInstruction":{"role":"user","parts":[{"text":"Be brief."}]},"contents":['
    b'{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"text":"Hello"}]}]}\n',
}


@pytest.fixture
def call(capfdbinary: pytest.CaptureFixture[bytes]) -> Call:
    return partial(called, capfdbinary)


def test_the_example_session_comes_back_byte_for_byte_through_every_format(
    tmp_path: Path, call: Call
) -> None:
    steps = [
        (SESSION, tmp_path / "a.json"),
        (tmp_path / "a.json", tmp_path / "b.msgpack"),
        (tmp_path / "b.msgpack", tmp_path / "c.msgpack", "--to", "rust-molo-msgpack"),
        (tmp_path / "c.msgpack", tmp_path / "d.json", "--to", "rust-molo"),
    ]
    for step in steps:
        assert call("convert", *step).returncode == 0
    assert (tmp_path / "d.json").read_bytes() == SESSION.read_bytes()


@pytest.mark.parametrize("target", WRITTEN)
@pytest.mark.parametrize("source", WRITTEN)
def test_any_format_turns_into_any_other(source: str, target: str, tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_bytes(WRITTEN[source])
    arguments = ["convert", str(before), str(after), "--from", source, "--to", target]
    assert main(arguments) == 0
    read_again = list(read([after.read_bytes()], target))
    assert [record.messages for record in read_again] == [HISTORY]


@pytest.mark.parametrize("target", WRITTEN)
def test_what_is_written_of_plain_messages(target: str, tmp_path: Path) -> None:
    source, after = tmp_path / "source", tmp_path / "after"
    source.write_bytes(WRITTEN["molo"])
    assert main(["convert", str(source), str(after), "--to", target]) == 0
    assert after.read_bytes() == WRITTEN[target]


@pytest.mark.parametrize("source", ["molo", "rust-molo-msgpack"])
def test_standard_input_is_guessed_and_standard_output_is_molo(source: str) -> None:
    done = run("convert", "-", "-", stdin=WRITTEN[source])
    assert (done.returncode, done.stdout) == (0, WRITTEN["molo"])


SUFFIXES = {
    "a.json": molo.json.encode(HISTORY),
    "a.jsonl": WRITTEN["molo"],
    "a.ndjson": WRITTEN["molo"],
    "a.msgpack": WRITTEN["molo-msgpack"],
    "a.jsonl.gz": WRITTEN["molo"],
}


@pytest.mark.parametrize("name", SUFFIXES)
def test_the_suffix_says_how_records_lie_in_a_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(WRITTEN["molo"])
    out = tmp_path / name
    assert main(["convert", str(tmp_path / "in.jsonl"), str(out)]) == 0
    data = out.read_bytes()
    assert (gzip.decompress(data) if name.endswith(".gz") else data) == SUFFIXES[name]


def test_the_summary_on_standard_error_says_what_was_done(tmp_path: Path, call: Call) -> None:
    done = call("convert", SESSION, tmp_path / "out.json")
    assert done.stderr == b"1 history, 23 messages: rust-molo -> molo\n"


FAILURES = {
    "no such file": (["convert", "absent.json", "out.json"], 2, "absent.json: No such file"),
    "no command": ([], 2, "COMMAND"),
    "unknown format": (["convert", "a", "b", "--from", "yaml"], 2, "--from"),
    "unknown rules": (["repair", "a", "b", "--rules", "mine"], 2, "--rules"),
    "no workers": (["check", "good.json", "--workers", "0"], 2, "--workers"),
    "no regular expression": (["convert", "a", "b", "--redact", "("], 2, "regular expression"),
    "a pattern of nothing": (["convert", "a", "b", "--redact", "x*"], 2, "empty text"),
    "no format by suffix": (["convert", "good.json", "out.txt"], 2, "--to"),
    "no name for the format": (["repair", "good.json", "out.msgpack"], 2, "use convert"),
    "no directory to write in": (
        ["convert", "good.json", "absent/out.json"],
        2,
        "absent/out.json: No such file",
    ),
    "a directory to write to": (["convert", "good.json", "directory.json"], 2, "Is a directory"),
    "a directory to read": (["check", "directory.json"], 2, "Is a directory"),
    "a link to itself": (["convert", "good.json", "loop.json"], 2, "symbolic links"),
    "a full disk": (["convert", "good.json", "/dev/full", "--to", "molo"], 2, "No space left"),
    "all on one stream": (["convert", "good.json", "-", "--json"], 2, "only one of"),
    "rejects for output": (
        ["convert", "good.json", "o.json", "--rejects", "./o.json"],
        2,
        "replace o",
    ),
    "rejects for input": (
        ["convert", "good.json", "out.json", "--rejects", "good.json"],
        2,
        "replace good.json",
    ),
    "a line that is not there": (["show", "good.json", "7"], 2, "no record in line 7"),
    "an id that is not there": (["show", "good.json", "--id", "7"], 2, "no record with this id"),
    "nothing to show": (["show", "blank.jsonl"], 2, "no record"),
    "bad data": (
        ["convert", "bad.json", "out.json", "--from", "molo"],
        1,
        "bad.json:1: Expected `str`, got `int` - at `$[0].content` [record]",
    ),
    "bad data, no format fits": (["convert", "worse.json", "out.json"], 1, "nothing was written"),
    "bad data, shown": (["show", "worse.json", "1"], 1, ""),
    "nothing for a document": (["convert", "blank.jsonl", "out.json"], 1, "got none"),
    "too much for a document": (["convert", "two.jsonl", "out.json"], 1, ".jsonl holds them"),
    "more than the crate holds": (
        ["convert", "image.json", "out.json", "--to", "rust-molo"],
        1,
        "`$[0]",
    ),
    "a line that would be gone": (["repair", "torn.jsonl", "./torn.jsonl"], 2, "--rejects FILE"),
}
IMAGE = molo.user_blocks([molo.Image(url="https://example.org/a.png")])
FILES = {
    "good.json": molo.json.encode(HISTORY),
    "two.jsonl": WRITTEN["molo"] * 2,
    "blank.jsonl": b"\n \n",
    "torn.jsonl": WRITTEN["molo"] + b'[{"role":"sys',
    "bad.json": f'[{{"role":"system","content":5}},{{"role":"{PRIVATE}"}}]'.encode(),
    "worse.json": f'[{{"role":5,"content":"{PRIVATE}"}}]'.encode(),
    "image.json": molo.json.encode([IMAGE]),
    "out.json": b"old",
}


@pytest.mark.parametrize(("arguments", "code", "text"), FAILURES.values(), ids=FAILURES)
def test_a_failure_has_its_exit_code_and_leaves_every_file_as_it_was(
    arguments: list[str],
    code: int,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, data in FILES.items():
        Path(name).write_bytes(data)
    Path("directory.json").mkdir()
    Path("loop.json").symlink_to("loop.json")
    before = sorted(os.listdir())
    assert exit_code(arguments) == code
    told = capfd.readouterr()
    assert text in told.err
    assert PRIVATE not in told.err + told.out
    assert {name: Path(name).read_bytes() for name in FILES} == FILES
    assert sorted(os.listdir()) == before


def exit_code(arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as error:
        return int(str(error))


# --- Logs -----------------------------------------------------------------------------------------

GOOD = b'{"id":%d,"messages":[{"role":"user","content":"My number is 555-%04d."}],"n":0.10}'
CALL = (
    b'{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":null,'
    b'"reasoning_content":"Hm.","tool_calls":[{"id":"c","type":"function",'
    b'"function":{"name":"look","arguments":"{}"}}]}]}'
)
MIXED = b"\n".join(
    [GOOD % (1, 1), b"no JSON", GOOD % (2, 2), b"", CALL, b'{"messages":5}\r', GOOD % (3, 3), b"{"]
)


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    path = tmp_path / "mixed.jsonl"
    path.write_bytes(MIXED)
    return path


def test_a_log_goes_to_another_vendor_and_bad_lines_to_a_file_byte_for_byte(
    mixed: Path, call: Call
) -> None:
    out, rejects = mixed.with_name("out.jsonl"), mixed.with_name("rejects")
    done = call("convert", mixed, out, "--to", "anthropic", "--rejects", rejects)
    assert done.returncode == 1
    assert rejects.read_bytes() == b'no JSON\n{"messages":5}\r\n{'
    assert [json.loads(line).get("id") for line in out.read_bytes().splitlines()] == [1, 2, None, 3]
    assert done.stderr.decode().splitlines()[3:] == [
        "4 histories, 5 messages: openai-chat -> anthropic",
        "1 loss (1 reasoning)",
        f"3 bad lines (1 json, 1 record, 1 torn), in {rejects}",
    ]


def test_there_and_back_a_log_says_what_it_said(mixed: Path, call: Call) -> None:
    native, back = mixed.with_name("native.jsonl"), mixed.with_name("back.jsonl")
    call("convert", mixed, native)
    done = call("convert", native, back, "--to", "openai-chat")
    assert done.returncode == 0
    good = [line for number, line in enumerate(MIXED.splitlines()) if number in (0, 2, 4, 6)]
    assert [json.loads(line) for line in back.read_bytes().splitlines()] == list(
        map(json.loads, good)
    )


def test_json_tells_every_loss_change_problem_and_bad_line(mixed: Path, call: Call) -> None:
    out = mixed.with_name("out.jsonl")
    done = call("convert", mixed, out, "--to", "anthropic", "--repair", "gemini", "--json")
    *found, summary = map(json.loads, done.stdout.splitlines())
    assert [
        tuple(one.get(key) for key in ("kind", "line", "code", "at", "to")) for one in found
    ] == [
        ("fault", 2, "json", None, None),
        ("change", 5, "dangling_call", 1, 2),
        ("loss", 5, "reasoning", None, 1),
        ("fault", 6, "record", None, None),
        ("fault", 8, "torn", None, None),
    ]
    assert (found[0]["offset"], found[0]["length"]) == (len(GOOD % (1, 1)) + 1, len(b"no JSON\n"))
    assert summary["kind"] == "summary"
    assert (summary["records"], summary["messages"], summary["changed"]) == (4, 5, 1)
    assert summary["losses"] == {"reasoning": 1}
    assert done.stderr == b""


def test_at_most_ten_bad_lines_are_told_one_by_one(tmp_path: Path, call: Call) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(GOOD % (1, 1) + b"\n" + b"no JSON\n" * 25)
    told = call("convert", log, tmp_path / "out.jsonl").stderr.decode().splitlines()
    assert [line.split(":")[1] for line in told[:10]] == [str(number) for number in range(2, 12)]
    assert told[10:] == ["1 history, 1 message: openai-chat -> molo", "25 bad lines (25 json)"]


def test_redaction_reaches_messages_and_what_stands_beside_them(tmp_path: Path, call: Call) -> None:
    log = tmp_path / "log.jsonl"
    hidden = [
        '{"messages":[{"role":"user","content":"I am Ada."}],"user":{"name":"\\u0041da"}}',
        '{"messages":[{"role":"user","content":"x"}],"response":{"choices":[{"message":'
        '{"role":"assistant","content":"Ada!"}},{"message":{"content":"Ada?"}}]}}',
        '{"messages":[{"role":"user","content":[{"type":"text","text":"Ada","x":"Ada"}]}]}',
    ]
    log.write_text("\n".join(hidden))
    done = call(
        "convert",
        log,
        "-",
        "--to",
        "openai-chat",
        "--redact",
        "(?i)ADA",
        "--redact",
        "red",
    )
    assert (done.returncode, b"Ada" in done.stdout) == (0, False)
    assert done.stdout.count(b"[redacted]") == 5
    assert b"[[" not in done.stdout


ENVELOPES = {  # what a vendor's envelope remembers, a pattern that is in it, and what is written
    "kept": ("Hi", '{"input":"[redacted]"}'),
    "dropped": ("text", '{"input":[{"role":"user","content":"Hi"}]}'),
}


@pytest.mark.parametrize(("pattern", "written"), ENVELOPES.values(), ids=ENVELOPES)
def test_an_envelope_that_holds_a_match_is_dropped(
    pattern: str, written: str, tmp_path: Path, call: Call
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"input":"Hi"}')  # a string, not a list: the envelope knows, as "text"
    out = call("convert", log, "-", "--to", "openai-responses", "--redact", pattern).stdout
    assert json.loads(out) == json.loads(written)


STRIPPED = {
    "all": [None, None, None],
    "all-but-current-turn": [None, None, "c"],
    "all-but-tool-turns": [None, "b", None],
}


@pytest.mark.parametrize("policy", STRIPPED)
def test_reasoning_is_stripped_as_the_policy_says(policy: str, tmp_path: Path) -> None:
    call = molo.ToolCall("1", "look", "{}")
    replies = [molo.Assistant("", "a"), molo.Assistant("", "b", (call,)), molo.Assistant("", "c")]
    history = [message for reply in replies for message in (molo.user("?"), reply)]
    log, out = tmp_path / "log.json", tmp_path / "out.json"
    log.write_bytes(molo.json.encode(history))
    assert main(["convert", str(log), str(out), "--strip-reasoning", policy]) == 0
    after = molo.json.decode(out.read_bytes())
    kept = [message.reasoning for message in after if isinstance(message, molo.Assistant)]
    assert kept == STRIPPED[policy]


# --- Repair ---------------------------------------------------------------------------------------


def test_a_repaired_log_has_no_problems_and_keeps_all_else(tmp_path: Path, call: Call) -> None:
    out, rejects = tmp_path / "out.jsonl", tmp_path / "rejects"
    done = call("repair", LOG, out, "--rules", "openai-chat", "--rejects", rejects)
    assert done.returncode == 1  # for the line that is no JSON
    assert call("check", out, "--rules", "openai-chat").returncode == 0
    before = [line for line in LOG.read_bytes().splitlines() if line != rejects.read_bytes()[:-1]]
    beside = [
        [(one["id"], one["model"], one["usage"]) for one in map(json.loads, lines)]
        for lines in (before, out.read_bytes().splitlines())
    ]
    assert beside[0] == beside[1]


def test_an_answer_that_asks_for_tools_gets_no_made_up_result(tmp_path: Path, call: Call) -> None:
    [line] = [line for line in LOG.read_bytes().splitlines() if b'"response"' in line]
    log = tmp_path / "log.jsonl"
    log.write_bytes(line + b"\n")
    assert call("check", log, "--rules", "mistral").returncode == 1  # its ids have nine characters
    assert json.loads(call("repair", log, "-").stdout) == json.loads(line)


def test_a_log_can_be_repaired_in_place(tmp_path: Path, call: Call) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(CALL + b"\n")
    assert call("repair", log, log).returncode == 0
    assert call("check", log).returncode == 0
    assert os.listdir(tmp_path) == ["log.jsonl"]


def test_problems_that_are_left_are_found(tmp_path: Path, call: Call) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'[{"role":"user","content":"Hi"},{"role":"assistant","content":"Yes"}]\n')
    done = call("repair", log, tmp_path / "out.jsonl", "--rules", "mistral")
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[1:] == ["1 problem (1 last_role) left"]


def test_what_an_answer_asks_for_stays_open_while_the_rest_is_mended(
    tmp_path: Path, call: Call
) -> None:
    asks = (
        b'{"role":"assistant","content":"","tool_calls":[{"id":"%b","type":"function",'
        b'"function":{"name":"look","arguments":"{}"}}]}'
    )
    log = tmp_path / "log.jsonl"
    log.write_bytes(
        b'{"messages":[{"role":"user","content":"Hi"},%b,{"role":"user","content":"Well?"}],'
        b'"response":{"choices":[{"message":%b}]}}\n' % (asks % b"a", asks % b"b")
    )
    *found, summary = map(
        json.loads, call("repair", log, tmp_path / "out.jsonl", "--json").stdout.splitlines()
    )
    changes = [one for one in found if one["kind"] == "change"]
    assert [(one["code"], one["at"], one["to"]) for one in changes] == [("dangling_call", 1, 2)]
    mended = json.loads((tmp_path / "out.jsonl").read_bytes())
    roles = [message["role"] for message in mended["messages"]]
    assert roles == ["user", "assistant", "tool", "user"]
    assert mended["response"]["choices"][0]["message"]["tool_calls"][0]["id"] == "b"
    assert summary["problems"] == {}


# --- What the output cannot hold ------------------------------------------------------------------

PICTURED = molo.json.encode([molo.user("Hi"), IMAGE]) + b"\r\n"
HELD_AND_NOT = WRITTEN["molo"] + PICTURED + b"\n" + WRITTEN["molo"] + PICTURED
PACKED = {"log.jsonl": bytes, "log.jsonl.gz": gzip.compress}


@pytest.mark.parametrize("name", PACKED)
def test_a_line_that_the_output_cannot_hold_is_kept_byte_for_byte_and_the_rest_goes_on(
    name: str, tmp_path: Path, call: Call
) -> None:
    log, out, rejects = (tmp_path / one for one in (name, "out.jsonl", "rejects"))
    log.write_bytes(PACKED[name](HELD_AND_NOT))
    done = call("convert", log, out, "--to", "rust-molo", "--rejects", rejects)
    assert done.returncode == 1
    assert out.read_bytes() == WRITTEN["rust-molo"] * 2
    assert rejects.read_bytes() == PICTURED * 2
    assert done.stderr.decode().splitlines()[2:] == [
        "2 histories, 6 messages: molo -> rust-molo",
        f"2 bad lines (2 unwritable), in {rejects}",
    ]


def test_json_tells_where_the_line_is_that_the_output_cannot_hold(
    tmp_path: Path, call: Call
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(HELD_AND_NOT)
    rejects = tmp_path / "rejects"
    done = call("convert", log, "/dev/null", "--to", "rust-molo", "--rejects", rejects, "--json")
    *found, summary = map(json.loads, done.stdout.splitlines())
    assert [
        tuple(one[key] for key in ("kind", "code", "line", "offset", "length")) for one in found
    ] == [
        ("fault", "unwritable", line, HELD_AND_NOT.index(PICTURED, at), len(PICTURED))
        for line, at in ((2, 0), (5, len(HELD_AND_NOT) // 2))
    ]
    assert summary["faults"] == {"unwritable": 2}


def test_what_is_done_to_a_record_that_is_not_written_is_not_told(
    tmp_path: Path, call: Call
) -> None:
    log = tmp_path / "log.jsonl"
    dangling = molo.Assistant("", tool_calls=(molo.ToolCall("c", "look", "{}"),))
    log.write_bytes(molo.json.encode([IMAGE, dangling]) + b"\n" + WRITTEN["molo"])
    arguments = ["--to", "rust-molo", "--repair", "common", "--rejects", tmp_path / "rejects"]
    done = call("convert", log, "/dev/null", *arguments, "--json")
    fault, summary = map(json.loads, done.stdout.splitlines())
    assert (fault["code"], summary["changes"], summary["records"]) == ("unwritable", {}, 1)


def test_of_a_transcript_that_cannot_be_written_all_lines_are_kept(
    transcript: Path, call: Call
) -> None:
    line = molo.json.encode_message(IMAGE) + b"\n"
    transcript.write_bytes(LINES + b"no JSON\n" + line + WRITTEN["molo"])
    out, rejects = transcript.with_name("out.jsonl"), transcript.with_name("rejects")
    arguments = ["--to", "rust-molo", "--rejects", rejects]
    assert call("convert", transcript, out, *arguments).returncode == 1
    assert rejects.read_bytes() == b"no JSON\n" + line
    call("convert", transcript, out, *arguments, "--repair", "common")
    assert rejects.read_bytes() == b"no JSON\n" + LINES + line
    assert out.read_bytes() == WRITTEN["rust-molo"]


def test_a_row_of_a_parquet_file_is_kept_as_json(tmp_path: Path, call: Call) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra `arrow`)")
    log, table, out, rejects = map(
        tmp_path.joinpath, ("log.jsonl", "t.parquet", "out.jsonl", "rejects")
    )
    log.write_bytes(HELD_AND_NOT)
    assert call("convert", log, table).returncode == 0
    to_rust = ("convert", table, out, "--to", "rust-molo")
    assert (call(*to_rust).returncode, out.exists()) == (1, False)
    assert call(*to_rust, "--rejects", rejects).returncode == 1
    assert out.read_bytes() == WRITTEN["rust-molo"] * 2
    assert rejects.read_bytes() == (PICTURED.rstrip() + b"\n") * 2


def test_a_log_of_which_the_output_can_hold_nothing_is_still_a_log(
    tmp_path: Path, call: Call
) -> None:
    log, out = tmp_path / "log.jsonl", tmp_path / "out.jsonl"
    log.write_bytes(PICTURED)
    done = call("convert", log, out, "--to", "rust-molo", "--rejects", tmp_path / "rejects")
    assert (done.returncode, out.exists()) == (1, False)
    last = b"molo: Expected a log that rust-molo can hold, got none of 1 bad line"
    assert done.stderr.splitlines()[-1] == last


def test_losses_of_reading_are_told_as_those_of_writing_are(
    transcript: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_less(data: bytes) -> Content:
        read = FORMATS["rust-molo"].read(data)
        return replace(read, losses=(Loss("unread", 0, None, "Expected less"),))

    monkeypatch.setitem(FORMATS, "molo", FORMATS["rust-molo"]._replace(read=read_less))
    transcript.write_bytes(
        b"".join(rust_molo.encode_json_message(message) + b"\n" for message in TRANSCRIPT[:2])
    )
    arguments = ["--from", "molo", "--to", "anthropic", "--repair", "common", "--json"]
    done = call("convert", transcript, "/dev/null", *arguments)
    *found, summary = map(json.loads, done.stdout.splitlines())
    losses = [(one["line"], one["at"]) for one in found if one["kind"] == "loss"]
    assert losses == [(1, 0), (2, 1)]
    assert summary["losses"] == {"unread": 2}


# --- Parquet --------------------------------------------------------------------------------------


def test_a_log_goes_through_parquet_and_says_what_it_said(mixed: Path, call: Call) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra `arrow`)")
    table, rejects, back = (mixed.with_name(name) for name in ("t.parquet", "bad", "back.jsonl"))
    done = call("convert", mixed, table, "--rejects", rejects)
    assert done.returncode == 1
    assert done.stderr.splitlines()[3] == b"4 histories, 5 messages: openai-chat -> parquet"
    assert rejects.read_bytes() == b'no JSON\n{"messages":5}\r\n{'
    assert call("convert", table, back, "--to", "openai-chat").returncode == 0
    good = [line for line in MIXED.splitlines() if line.endswith((b".10}", b"]}]}"))]
    assert list(map(json.loads, back.read_bytes().splitlines())) == list(map(json.loads, good))
    assert call("check", table).returncode == 1
    assert call("convert", rejects, table, "--from", "molo").returncode == 1
    assert call("check", table).returncode == 1  # it is as it was


# --- Transcripts ----------------------------------------------------------------------------------

CALLS = molo.Assistant("", tool_calls=(molo.ToolCall("c", "look", "{}"),))
TRANSCRIPT = [molo.user("Hi"), CALLS, molo.tool_result("c", "A cat."), molo.assistant("A cat.")]
LINES = b"".join(molo.json.encode_message(message) + b"\n" for message in TRANSCRIPT)


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(LINES)
    return path


def test_a_transcript_stays_one_or_becomes_a_document(transcript: Path, call: Call) -> None:
    document, again = transcript.with_name("all.json"), transcript.with_name("again.jsonl")
    assert call("convert", transcript, document).stderr == b"1 history, 4 messages: molo -> molo\n"
    assert molo.json.decode(document.read_bytes()) == TRANSCRIPT
    assert call("convert", transcript, again).stderr == b"4 messages: molo -> molo\n"
    assert again.read_bytes() == LINES


def test_a_transcript_is_repaired_as_one_history(transcript: Path, call: Call) -> None:
    lines = LINES.splitlines(keepends=True)
    transcript.write_bytes(b"".join([*lines[:2], lines[0], lines[2]]))  # a late result
    done = call("repair", transcript, "-")
    assert done.stdout == b"".join([lines[0], lines[1], lines[2], lines[0]])
    assert done.returncode == 0


# --- Files and streams ----------------------------------------------------------------------------


def test_a_replaced_file_keeps_its_permissions_and_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    assert main(["convert", str(SESSION), str(link)]) == 0
    assert link.is_symlink()
    assert molo.json.decode(real.read_bytes())
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_new_file_has_the_permissions_that_the_umask_leaves(tmp_path: Path) -> None:
    assert main(["convert", str(SESSION), str(tmp_path / "new.json")]) == 0
    plain = tmp_path / "plain"
    plain.touch()
    assert (tmp_path / "new.json").stat().st_mode == plain.stat().st_mode


def test_a_device_is_written_to_and_not_replaced() -> None:
    assert main(["convert", str(SESSION), "/dev/null", "--to", "molo"]) == 0
    assert Path("/dev/null").is_char_device()


def test_a_name_as_long_as_names_may_be_is_written_to(tmp_path: Path) -> None:
    longest = tmp_path / ("n" * (os.pathconf(tmp_path, "PC_NAME_MAX") - len(".json")) + ".json")
    assert main(["convert", str(SESSION), str(longest)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == [longest.name]


PIPES = {
    "by the name of standard output": 'molo convert "$SESSION" /dev/stdout --to molo | cat',
    "by the number of a descriptor": 'molo convert "$SESSION" /dev/fd/1 --to molo | cat',
    "through another descriptor": 'molo convert "$SESSION" /dev/fd/3 --to molo 3>&1 >&2 | cat',
    "from a process": 'molo convert <(cat "$SESSION") - --to molo --workers 2',
    "from the name of standard input": 'cat "$SESSION" | molo convert /dev/stdin - --to molo',
    "with standard error closed": 'molo convert "$SESSION" - --to molo 2>&-',
}


@pytest.mark.parametrize("line", PIPES.values(), ids=PIPES)
def test_a_pipe_is_a_file_like_any_other_and_holds_the_history_alone(line: str) -> None:
    history = rust_molo.decode_json(SESSION.read_bytes())
    assert through_shell(line).stdout == molo.json.encode(history) + b"\n"


APPENDED = {
    "standard output": "molo convert {session} /dev/stdout --to molo >>{log}",
    "standard error": "molo convert {bad} /dev/null --to molo --rejects /dev/stderr 2>>{log}",
    "a descriptor": "molo convert {session} /dev/fd/5 --to molo 5>>{log}",
}


@pytest.mark.parametrize("line", APPENDED.values(), ids=APPENDED)
def test_a_descriptor_that_is_named_is_appended_to_and_no_file_replaced(
    line: str, tmp_path: Path
) -> None:
    log, bad = tmp_path / "log", tmp_path / "bad.jsonl"
    log.write_bytes(b"first\n")
    bad.write_bytes(WRITTEN["molo"] + b"no JSON\n")
    through_shell(line.format(session=SESSION, log=log, bad=bad))
    lines = log.read_bytes().splitlines()
    assert (lines[0], len(lines) > 1) == (b"first", True)


MUTE = ["molo check absent 2>/dev/full", 'molo check "$LOG" >/dev/full 2>/dev/full']


@pytest.mark.parametrize("line", MUTE)
def test_where_nobody_can_be_told_the_exit_code_tells(line: str) -> None:
    assert through_shell(line).returncode == 2


def test_a_log_is_converted_though_nobody_can_be_told(tmp_path: Path) -> None:
    log, out = tmp_path / "log.jsonl", tmp_path / "out.jsonl"
    log.write_bytes(WRITTEN["molo"] + b"no JSON\n")
    assert through_shell(f"molo convert {log} {out} 2>/dev/full").returncode == 1
    assert out.read_bytes() == WRITTEN["molo"]


@pytest.mark.parametrize("buffering", ["", "1"])
def test_output_that_nobody_reads_to_its_end_is_a_failure(buffering: str, tmp_path: Path) -> None:
    long = tmp_path / "long.json"
    long.write_bytes(molo.json.encode([molo.user("x" * 2**20)]))
    line = f"PYTHONUNBUFFERED={buffering} molo convert {long} - --to molo | head --bytes=1"
    done = through_shell(f"{line}; exit ${{PIPESTATUS[0]}}")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"[", b"")


CLOSED = {
    "standard input": "molo convert - /dev/null --to molo <&-",
    "standard output": 'molo convert "$SESSION" - --to molo >&-',
    "standard output of a report": 'molo check "$LOG" >&-',
}


@pytest.mark.parametrize("line", CLOSED.values(), ids=CLOSED)
def test_a_standard_stream_that_is_closed_is_wrong_use(line: str) -> None:
    done = through_shell(line)
    assert (done.returncode, done.stderr) == (2, b"molo: standard input or output is closed\n")


def test_an_interrupt_leaves_the_old_output_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "out.json").write_bytes(b"old")
    os.mkfifo(tmp_path / "in.json")
    command = [*MOLO, "convert", "in.json", "out.json"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    with (tmp_path / "in.json").open("wb"):  # opens when the command does, which waits for data
        process.send_signal(signal.SIGINT)
    stderr = process.communicate(timeout=60)[1]  # the end of the data wakes a read in any case
    assert (process.returncode, stderr) == (130, b"")
    assert (tmp_path / "out.json").read_bytes() == b"old"


def test_a_termination_is_an_exit_and_leaves_the_old_output(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    os.mkfifo(source)
    out.write_bytes(b"old")

    def terminate() -> None:
        with source.open("wb", buffering=0) as log:
            log.write(WRITTEN["molo"])
            while not any(name.startswith(".molo-") for name in os.listdir(tmp_path)):
                sleep(0.01)
            os.kill(os.getpid(), signal.SIGTERM)

    with ThreadPoolExecutor() as other, pytest.raises(SystemExit) as ended:
        other.submit(terminate)
        main(["convert", str(source), str(out)])
    assert ended.value.code == 128 + signal.SIGTERM
    assert sorted(os.listdir(tmp_path)) == ["in.jsonl", "out.jsonl"]
    assert out.read_bytes() == b"old"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_signal_for_which_somebody_cares_is_left_to_them() -> None:
    asked: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    with ending():
        signal.raise_signal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, before)
    assert asked == [signal.SIGTERM]


def test_the_command_runs_in_any_thread() -> None:
    with ThreadPoolExecutor() as other:
        assert other.submit(main, ["show", str(LOG), "--json"]).result() == 0


def test_version_is_that_of_the_project_file() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    name, number = run("--version").stdout.decode().split()
    assert name == "molo"
    assert f'version = "{number}"' in project
