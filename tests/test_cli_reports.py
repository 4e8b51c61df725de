"""`molo check`, `molo stats` and `molo show`: what they tell of a log."""

import json
from functools import partial
from pathlib import Path

import pytest
from command import LOG, Call, called

import molo

FOUND = [  # of the example: line, message, code
    (2, 2, "dangling_call"),
    (3, 4, "misplaced_result"),
    (4, 2, "arguments_invalid"),
    (5, 4, "duplicate_result"),
    (6, 3, "split_reply"),
    (7, 2, "id_empty"),
    (8, None, "json"),
]
CALL = molo.ToolCall("call_1", "weather", '{"city":"Oslo"}')
RESULT = molo.ToolResult("call_1", "Line one\nLine two", is_error=True)


@pytest.fixture
def call(capfdbinary: pytest.CaptureFixture[bytes]) -> Call:
    return partial(called, capfdbinary)


def told(call: Call, *arguments: object) -> list[str]:
    return call(*arguments).stdout.decode().splitlines()


def write_log(path: Path, *histories: list[molo.Message]) -> Path:
    path.write_bytes(b"".join(molo.json.encode(history) + b"\n" for history in histories))
    return path


# --- Check ----------------------------------------------------------------------------------------


def test_check_tells_each_problem_with_its_line(call: Call) -> None:
    done = call("check", LOG, "--rules", "openai-chat")
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 1
    assert [line.split("[")[-1].removesuffix("]") for line in lines[: len(FOUND)]] == [
        code for _, _, code in FOUND
    ]
    assert lines[0] == f"{LOG}:2: message 2: Call `call_b72` has no result. [dangling_call]"
    assert lines[len(FOUND)] == ""
    assert lines[-3].endswith("in 6 of 9 histories.")
    assert lines[-2] == "1 bad line (1 json)."


def test_check_tells_machines_the_same(call: Call) -> None:
    *found, summary = map(json.loads, told(call, "check", LOG, "--rules", "openai-chat", "--json"))
    assert [(one["line"], one.get("at"), one["code"]) for one in found] == FOUND
    assert [one["kind"] for one in found] == ["problem"] * 6 + ["fault"]
    raw = LOG.read_bytes()
    assert raw[found[6]["offset"] :][: found[6]["length"]] == raw.splitlines(keepends=True)[7]
    assert (summary["histories"], summary["with_problems"], summary["faults"]) == (
        9,
        6,
        {"json": 1},
    )


def test_a_log_without_problems_is_fine(call: Call, tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [molo.user("Hi")], [molo.user("Bye")])
    done = call("check", log)
    assert done.returncode == 0
    assert done.stdout.decode().splitlines()[1] == "No problems in 2 histories."


def test_the_rules_decide(call: Call, tmp_path: Path) -> None:
    history = [molo.user("Hi"), molo.Assistant("", tool_calls=(CALL,)), RESULT]
    log = write_log(tmp_path / "log.jsonl", history)
    assert call("check", log).returncode == 0
    assert "[reasoning_required]" in told(call, "check", log, "--rules", "deepseek")[0]


def test_a_transcript_is_one_history_and_a_problem_has_the_line_of_its_message(
    call: Call, tmp_path: Path
) -> None:
    log = tmp_path / "transcript.jsonl"
    messages = [molo.user("Hi"), molo.Assistant("", tool_calls=(CALL,)), molo.user("Hello?")]
    lines = [molo.json.encode_message(message) for message in messages]
    log.write_bytes(b"\n\n".join(lines) + b"\n" + b'{"role":"us')
    *found, summary = map(json.loads, told(call, "check", log, "--json"))
    assert [(one["line"], one.get("at"), one["code"]) for one in found] == [
        (6, None, "torn"),
        (3, 1, "dangling_call"),
    ]
    assert summary["histories"] == 1


def test_behind_a_transcript_stand_histories_of_their_own(call: Call, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    single, whole = molo.json.encode_message(molo.user("Hi")), molo.json.encode([molo.user("Hi")])
    log.write_bytes(b"\n".join([single, single, whole, single, single]))
    [summary] = map(json.loads, told(call, "check", log, "--json"))
    assert (summary["histories"], summary["messages"]) == (3, 5)


def test_an_answer_is_not_blamed_for_what_is_still_open(call: Call, tmp_path: Path) -> None:
    asks = (
        b'{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function",'
        b'"function":{"name":"look","arguments":"{"}}]}'
    )
    said = b'{"role":"user","content":"Hi"}'
    log = tmp_path / "log.jsonl"
    log.write_bytes(
        b'{"messages":[%b],"response":{"choices":[{"message":%b}]}}\n' % (said, asks)
        + b'{"messages":[%b,%b]}\n' % (said, asks)
    )
    *found, _ = map(json.loads, told(call, "check", log, "--json"))
    assert [(one["line"], one["code"]) for one in found] == [
        (1, "arguments_invalid"),
        (2, "dangling_call"),
        (2, "arguments_invalid"),
    ]
    assert json.loads(told(call, "stats", log, "--json")[0])["dangling_calls"] == {"look": 1}


# --- Stats ----------------------------------------------------------------------------------------


def test_stats_count_what_is_in_a_log(call: Call, tmp_path: Path) -> None:
    blocks = [molo.Text("Look:"), molo.Image(url="https://example.org/a.png"), molo.Text("?")]
    first = [
        molo.system("Be brief."),
        molo.user_blocks(blocks),
        molo.Assistant("", "Let me see.", (CALL, CALL)),
        RESULT,
    ]
    log = write_log(tmp_path / "log.jsonl", first, [molo.user("Hi"), molo.assistant("Hello")])
    with log.open("ab") as file:
        file.write(b"no JSON\n")
    done = call("stats", log, "--json")
    stats = json.loads(done.stdout)
    assert done.returncode == 1  # for the bad line
    assert (stats["histories"], stats["messages"], stats["longest_history"]) == (2, 6, 4)
    assert stats["roles"] == {"system": 1, "user": 2, "assistant": 2, "tool": 1}
    assert stats["texts"]["user"] == {"number": 2, "characters": 8, "longest": 6}
    assert stats["texts"]["arguments"] == {"number": 2, "characters": 30, "longest": 15}
    assert stats["reasoning_share"] == 0.5
    assert stats["calls"] == {"weather": 2}
    assert stats["dangling_calls"] == {"weather": 1}
    assert stats["attachments"] == {"image": 1}
    assert stats["faults"] == {"json": 1}


def test_stats_are_tables_for_people(call: Call) -> None:
    lines = told(call, "stats", LOG)
    assert lines[0].split() == ["text", "number", "characters", "longest"]
    assert [line.split()[0] for line in lines[1:7]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "reasoning",
        "arguments",
    ]
    assert "1 dangling call." in lines


def test_stats_of_nothing(call: Call, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    done = call("stats", empty)
    assert done.returncode == 0
    assert b"0 messages in 0 histories" in done.stdout
    stats = json.loads(call("stats", empty, "--json").stdout)
    assert (stats["histories"], stats["messages"], stats["reasoning_share"]) == (0, 0, 0)


def test_what_stands_beside_a_conversation_is_shown_as_it_is_spelled(
    call: Call, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    beside = '"id":123456789012345678901234567890,"n":1e999,"x":[5],"ok":true,"t":"\\n"'
    log.write_text(f'{{"messages":[],{beside}}}')
    head = told(call, "show", log, "--id", "123456789012345678901234567890")[0]
    assert head.split("  ")[1:] == [
        "id=123456789012345678901234567890",
        "n=1e999",
        "ok=true",
        "t=\\n",
    ]


# --- Show -----------------------------------------------------------------------------------------

SHOWN = """\
{log}:2  id=b7  model=m

[0] system
  Be brief.

[1] user
  Hi
  (image, image/png, 3 bytes)

[2] assistant
  Let me see.
  One moment.
  -> weather({{"city":"Oslo"}})  call_1
  -> weather({{"city":"Oslo"}})  call_2
  ! Call `call_2` has no result. [dangling_call]

[3] tool, result of call_1, an error
  Line one
  Line two
"""


@pytest.fixture
def shown_log(tmp_path: Path) -> Path:
    image = molo.Image(data=b"PNG", mime_type="image/png")
    other = molo.ToolCall("call_2", CALL.name, CALL.arguments)
    history = [
        molo.system("Be brief."),
        molo.user_blocks([molo.Text("Hi"), image]),
        molo.Assistant("One moment.", "Let me see.", (CALL, other)),
        RESULT,
    ]
    log = tmp_path / "log.jsonl"
    lines = [
        b"[]",
        b'{"id":"b7","model":"m","messages":%b,"usage":{"n":1}}' % molo.json.encode(history),
        b'{"id":5,"messages":%b}' % molo.json.encode([molo.user("Bye")]),
    ]
    log.write_bytes(b"\n".join(lines))
    return log


@pytest.mark.parametrize("which", [["2"], ["--id", "b7"]], ids=str)
def test_a_conversation_is_shown_by_line_or_id(
    which: list[str], shown_log: Path, call: Call
) -> None:
    done = call("show", shown_log, *which)
    assert (done.returncode, done.stdout.decode()) == (0, SHOWN.format(log=shown_log))


def test_blocks_of_vendors_and_histories_without_messages_are_shown(
    tmp_path: Path, call: Call
) -> None:
    log = write_log(tmp_path / "log.jsonl", [molo.user_blocks([molo.Wire("gemini", "{}")])], [])
    assert told(call, "show", log)[2:] == ["[0] user", "  (a block of gemini, 2 characters)"]
    assert told(call, "show", log, "2")[1:] == ["  ! The history has no messages. [empty_history]"]


def test_an_id_may_be_a_number_and_that_of_an_answer(shown_log: Path, call: Call) -> None:
    assert told(call, "show", shown_log, "--id", "5")[0] == f"{shown_log}:3  id=5"
    assert told(call, "show", LOG, "--id", "chatcmpl-9w2")[0].startswith(f"{LOG}:9")


def test_show_gives_machines_the_native_form(shown_log: Path, call: Call) -> None:
    shown = call("show", shown_log, "2", "--json").stdout
    assert json.loads(shown) == json.loads(shown_log.read_bytes().splitlines()[1])


def test_show_tells_what_is_wrong_with_a_bad_line(call: Call) -> None:
    done = call("show", LOG, "8")
    assert done.returncode == 1
    assert done.stdout.startswith(f"{LOG}:8: Expected more JSON".encode())


def test_any_line_of_a_transcript_shows_all_of_it(call: Call, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'{"role":"system","content":"A"}\n{"role":"system","content":"B"}\n')
    assert told(call, "show", log, "2")[2:] == ["[0] system", "  A", "", "[1] system", "  B"]
