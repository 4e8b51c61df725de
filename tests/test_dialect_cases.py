"""The handed cases of conversion, and of what only a dialect sees; and where all others are tested.

Each stands for a kind: the tests of the dialects hold inputs of their own for it.
"""

import ast
import json
import re
from pathlib import Path

import pytest
from case_reader import CASES, case_rows
from recordings import DIALECTS

import molo
from molo import parse_arguments
from molo.history import ANTHROPIC, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES, check, pair, repair

TESTS = Path(__file__).parent
RULES = {
    "openai_chat": OPENAI_CHAT,
    "openai_responses": OPENAI_RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
}
NAMES = {"responses": "openai_responses"}  # formats of the cases that have another name in molo

OF_HISTORY = ("validate", "pair", "repair", "strip_reasoning", "trim")
OPERATIONS = (*OF_HISTORY, "convert", "decode", "ingest")

# --- Which test has which case --------------------------------------------------------------------

HISTORY = ("test_cases.py", "test_a_case_is_valid_or_not_as_it_says")
PAIRS = ("test_cases.py", "test_the_pairs_of_a_case_are_found")
REPAIRS = (
    "test_cases.py",
    "test_a_case_is_repaired_to_the_roles_it_says_and_loses_nothing_else",
)
REASONING = ("test_reasoning.py", "test_the_handed_cases_hold")
TRIM = ("test_window.py", "test_the_handed_cases_hold")
INGEST = ("test_ingest_cases.py", "test_a_case_has_as_many_good_records_as_it_says")
MSGPACK = (
    "test_ingest_cases.py",
    "test_a_case_in_messagepack_that_is_not_molos_is_a_fault",
)
KEPT = ("test_dialect_cases.py", "test_a_case_comes_back_key_for_key")


def here(name):
    return ("test_dialect_cases.py", name)


COVERED = {
    **dict.fromkeys([1, 10, 16, 61, 62], HISTORY),
    **dict.fromkeys([2, 3, 5], REPAIRS),
    11: PAIRS,
    **dict.fromkeys([30, 31, 44, 106], REASONING),
    **dict.fromkeys([25, 33], TRIM),
    **dict.fromkeys([63, 68, 69, 70, 73, 74, 76, 77, 78, 80, 81, 83, 84, 88, 102, 104], INGEST),
    82: ("test_ingest_cases.py", "test_a_truncated_gzip_stream_gives_what_it_has"),
    95: ("test_ingest_cases.py", "test_messages_behind_each_other_have_frames_in_molo"),
    **dict.fromkeys([41, 90, 91, 93, 94], MSGPACK),
    86: ("test_ingest_cases.py", "test_an_object_without_a_role_is_no_message"),
    100: ("test_ingest_cases.py", "test_older_versions_are_read"),
    8: here("test_ids_are_unique_for_anthropic_and_first_uses_stay"),
    12: here("test_ids_that_are_null_or_missing_are_empty_and_repair_gives_one"),
    14: (
        "test_openai_responses.py",
        "test_case_14_calls_with_reasoning_between_them_pair_and_stay_in_order",
    ),
    18: here("test_the_name_of_a_result_for_gemini_is_that_of_its_call"),
    32: here("test_reasoning_state_that_cannot_go_back_is_found_and_taken_out"),
    34: (
        "test_openai_responses.py",
        "test_case_34_without_a_store_only_encrypted_reasoning_is_left",
    ),
    38: here("test_signed_blocks_and_parts_keep_their_order"),
    39: here("test_signed_blocks_and_parts_keep_their_order"),
    43: here("test_reasoning_state_that_cannot_go_back_is_found_and_taken_out"),
    46: KEPT,
    47: here("test_anthropic_gets_no_blank_text"),
    49: here("test_the_text_of_a_result_in_parts_is_joined_and_its_image_moves"),
    52: here("test_a_legacy_call_and_its_result_are_a_pair"),
    53: here("test_names_that_openai_refuses_are_left_out_and_named"),
    54: here("test_messages_with_odd_keys_for_nothing_are_valid"),
    55: here("test_messages_with_odd_keys_for_nothing_are_valid"),
    57: here("test_messages_with_odd_keys_for_nothing_are_valid"),
    58: here("test_arguments_mean_what_they_say_and_no_more"),
    59: here("test_arguments_mean_what_they_say_and_no_more"),
    60: here("test_arguments_mean_what_they_say_and_no_more"),
    85: here("test_an_unknown_part_is_carried"),
    99: here("test_arguments_given_as_an_object_are_text_in_messagepack"),
}

# Where the design decides in another way than the case expects.
OVERRIDDEN = {
    12: "an id is text: null and absent are read as the empty id, and written as they were",
    14: "the items of one reply are one message and stay in their order, as the vendor gave them",
    31: "that a reply was cut is no part of a history: its `stop` says so",
    41: "OpenAI's form in MessagePack, which no vendor writes and molo does not read",
    55: "the refusal is the content of a message that has no other",
    60: "arguments that are a string are found as no object; nothing unwraps them",
    76: "`salvage` is asked for on its own, by the one who has the fault",
    77: "a second record on a line makes the line bad; `salvage` reads both",
    85: "an unknown part is carried as Wire, not refused",
    90: "MessagePack messages behind each other have frames",
    91: "keys are text; a message with others is refused",
    93: "extensions are refused",
    94: "keys are text; a message with others is refused",
    95: "MessagePack messages behind each other have frames",
    100: "the shape was guessed: what OpenAI's form has not is carried in the message's delta",
}


def test_every_case_of_the_index_has_a_test_that_is_there():
    rows = case_rows(*OPERATIONS)
    assert {row["n"] for row in rows} in ({*COVERED}, set())
    assert OVERRIDDEN.keys() <= COVERED.keys()
    for file, test in set(COVERED.values()):
        tree = ast.parse((TESTS / file).read_bytes())
        assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


# --- The cases ------------------------------------------------------------------------------------

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the handed cases are not here")


def case(number):
    operations = ("convert", "decode", "validate")
    [row] = [row for row in case_rows(*operations) if row["n"] == number]
    return row


def wire_of(number):
    return (CASES / case(number)["file"]).read_bytes()


def dialect_of(number):
    return NAMES.get(case(number)["format"], case(number)["format"])


def history_of(number):
    return DIALECTS[dialect_of(number)].from_request(wire_of(number)).history


def converted(number, target):
    """Repair the history of a case for a vendor and write it for it."""
    mended = repair(history_of(number), RULES[target]).history
    return mended, DIALECTS[target].to_request(mended, rules=RULES[target])


FORMS = ("openai_chat", "responses", "anthropic", "gemini")
READ_HERE = [
    row["n"] for row in case_rows("convert", "decode", "validate") if row["format"] in FORMS
]


@pytest.mark.parametrize("number", READ_HERE)
def test_a_case_comes_back_key_for_key(number):
    dialect = DIALECTS[dialect_of(number)]
    read = dialect.from_request(wire_of(number))
    assert dialect.to_request(read.history, envelope=read.envelope).losses == ()
    again = dialect.to_request_json(read.history, envelope=read.envelope)
    assert json.loads(again) == json.loads(wire_of(number))


def test_ids_are_unique_for_anthropic_and_first_uses_stay():
    mended, written = converted(8, "anthropic")
    assert [[p.at, p.part, p.result_at] for p in pair(mended).pairs] == case(8)["check"]["pairs"]
    blocks = [block for message in written.request["messages"] for block in message["content"]]
    ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert ids[0] == "call_0"
    assert len(set(ids)) == len(ids) == 2
    assert [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"] == ids


def test_ids_that_are_null_or_missing_are_empty_and_repair_gives_one():
    history = history_of(12)
    assert [p.code for p in check(history, OPENAI_CHAT)] == ["id_empty"]
    assert case(12)["check"] == {"decodes": True, "valid": False}
    mended, written = converted(12, "openai_chat")
    _, reply, result, _ = written.request["messages"]
    assert result["tool_call_id"] == reply["tool_calls"][0]["id"] != ""
    assert check(mended, OPENAI_CHAT) == ()


def test_the_name_of_a_result_for_gemini_is_that_of_its_call():
    _, written = converted(18, "gemini")
    parts = [part for content in written.request["contents"] for part in content["parts"]]
    names = [part["functionResponse"]["name"] for part in parts if "functionResponse" in part]
    assert names == case(18)["check"]["to_function_response_names"]


@pytest.mark.parametrize("number", [32, 43])
def test_reasoning_state_that_cannot_go_back_is_found_and_taken_out(number):
    """A reasoning item with nothing behind it; a signature that was cut by somebody's log."""
    rules = RULES[dialect_of(number)]
    [problem] = check(history_of(number), rules)
    assert (problem.code, problem.at) == ("reasoning_unsealed", 1)
    mended, written = converted(number, dialect_of(number))
    assert check(mended, rules) == ()
    assert not re.search("rs_a|thinking|signature", json.dumps(written.request))


def test_signed_blocks_and_parts_keep_their_order():
    _, written = converted(38, "anthropic")
    types = [block["type"] for block in written.request["messages"][1]["content"]]
    assert types == case(38)["check"]["block_types"]
    _, written = converted(39, "gemini")
    parts = written.request["contents"][1]["parts"]
    signed = [at for at, part in enumerate(parts) if "thoughtSignature" in part]
    assert signed == case(39)["check"]["signed_parts"]


def test_anthropic_gets_no_blank_text():
    _, written = converted(47, "anthropic")
    messages = written.request["messages"]
    texts = [block["text"] for m in messages for block in m["content"] if block["type"] == "text"]
    assert [text for text in texts if not text.strip()] == []
    assert [[block["type"] for block in messages[at]["content"]] for at in (1, 3)] == [
        ["tool_use"],
        ["tool_use"],
    ]


def test_the_text_of_a_result_in_parts_is_joined_and_its_image_moves():
    """OpenAI takes text alone in results, and images from users."""
    _, written = converted(49, "openai_chat")
    *_, result, moved = written.request["messages"]
    assert result["content"] == "\n".join(case(49)["check"]["must_contain_text"])
    assert moved["content"] == [json.loads(wire_of(49))["messages"][2]["content"][2]]
    assert ("moved", 2, 0) in [(loss.code, loss.at, loss.part) for loss in written.losses]


def test_a_legacy_call_and_its_result_are_a_pair():
    history = history_of(52)
    [asked] = pair(history).pairs
    assert [[asked.at, asked.part, asked.result_at]] == case(52)["check"]["pairs"]
    assert asked.call.arguments == '{"city":"Paris"}'
    assert check(history, OPENAI_CHAT) == ()


def test_names_that_openai_refuses_are_left_out_and_named():
    _, written = converted(53, "openai_chat")
    names = [message["name"] for message in written.request["messages"] if "name" in message]
    assert all(re.fullmatch(case(53)["check"]["name_pattern"], name) for name in names)
    assert [(loss.code, loss.at) for loss in written.losses] == [("field", 1), ("field", 2)]


@pytest.mark.parametrize("number", [54, 55, 57])
def test_messages_with_odd_keys_for_nothing_are_valid(number):
    history = history_of(number)
    assert check(history, OPENAI_CHAT) == ()
    said = [message.content for message in history if isinstance(message, molo.Assistant)]
    assert said == {54: ["A", "B"], 55: ["I can't help with that."], 57: [""]}[number]


ARGUMENTS = {
    58: ([{}, {}], []),
    59: ([{"city": "Köln", "n": 1.0}, {}], []),
    60: (
        ['{"city": "Rome"}', {"todos": '[{"t":"a"}]', "note": "[draft]", "n": "42"}],
        ["arguments_not_object"],
    ),
}


@pytest.mark.parametrize("number", ARGUMENTS)
def test_arguments_mean_what_they_say_and_no_more(number):
    values, problems = ARGUMENTS[number]
    calls = [asked.call for asked in pair(history_of(number)).pairs]
    assert [parse_arguments(call, object) for call in calls] == values
    assert [problem.code for problem in check(history_of(number), OPENAI_CHAT)] == problems


def test_arguments_given_as_an_object_keep_their_text_to_the_letter():
    first, second = [asked.call.arguments for asked in pair(history_of(59)).pairs]
    assert first in wire_of(59).decode()
    assert second == ""


def test_an_unknown_part_is_carried():
    block = history_of(85)[1].attachments[0]
    assert json.loads(block.data) == json.loads(wire_of(85))["messages"][1]["content"][1]


def test_arguments_given_as_an_object_are_text_in_messagepack():
    history = molo.msgpack.decode(molo.msgpack.encode(history_of(99)))
    assert json.loads(history[1].tool_calls[0].arguments) == {"a": 1}
    assert history == history_of(99)
