"""The rules of vendors against what the vendors said: the status of every recorded request.

Requests are read by their dialects and judged by the rules of the vendor that answered them. Of
gateways and servers without rules of their own `COMMON` is asked for. Errors about keys, models,
parameters, lengths and what the bytes of media are say nothing about histories and are left out.
"""

import sys
from collections import Counter

import pytest
from msgspec.structs import replace
from recordings import (
    DIALECTS,
    NO_CONVERSATION,
    all_records,
    body,
    histories,
    needs_corpus,
    records,
)

from molo import DecodeError
from molo.history import (
    ANTHROPIC,
    CEREBRAS,
    COMMON,
    DEEPSEEK,
    DEEPSEEK_NON_THINKING,
    GEMINI,
    GLM,
    GROQ,
    MISTRAL,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    OPENROUTER,
    check,
)

pytestmark = needs_corpus

# By dialect, and in that of OpenAI chat by vendor.
RULES = {"openai_responses": OPENAI_RESPONSES, "anthropic": ANTHROPIC, "gemini": GEMINI}
CHAT_RULES = {
    "openai": OPENAI_CHAT,
    "azure": OPENAI_CHAT,
    "azure-foundry": OPENAI_CHAT,
    "deepseek": DEEPSEEK,
    "mistral": MISTRAL,
    "groq": GROQ,
    "cerebras": CEREBRAS,
    "openrouter": OPENROUTER,
    "zai": GLM,
}


def rules_of(dialect, record):
    """Give the rules of the vendor that a record was sent to."""
    thinking = record.get("params", {}).get("thinking", {}).get("type")
    if record["vendor"] == "deepseek" and dialect == "openai_chat":
        is_off = record["model"] == "deepseek-chat" or thinking == "disabled"
        return DEEPSEEK_NON_THINKING if is_off else DEEPSEEK
    return RULES.get(dialect) or CHAT_RULES.get(record["vendor"], COMMON)


# --- Accepted -------------------------------------------------------------------------------------

# Problems of requests that were accepted, each with its reason.
CONTINUED = "the call stands in what the vendor keeps, to which the request refers"
REPLACED = "ids were replaced when the recordings were published; the vendor saw its own"
BY_HAND = "the result has the id of another recording's call: a recording edited by its authors"
EXPECTED = {
    ("760e5d20-2", "orphaned_result"): CONTINUED,
    ("74b883ec-2", "orphaned_result"): CONTINUED,
    ("74b883ec-3", "orphaned_result"): CONTINUED,
    ("1c4fbb3f-1", "orphaned_result"): CONTINUED,
    ("db8f924e-1", "orphaned_result"): CONTINUED,
    ("dc02603e-0", "orphaned_result"): BY_HAND,
    ("dc02603e-0", "dangling_call"): BY_HAND,
}


def is_expected(record, problem):
    replaced = problem.code in {"id_length", "id_chars"} and "ids-redacted" in record["fidelity"]
    return replaced or (record["id"], problem.code) in EXPECTED


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_rule_contradicts_a_request_that_was_accepted(dialect, capsys):
    accepted = [record for record in records(dialect) if record.get("status", 200) == 200]
    problems = [
        (record, problem)
        for record in accepted
        for problem in check(histories(dialect)[record["id"]], rules_of(dialect, record))
    ]
    excused = Counter(problem.code for record, problem in problems if is_expected(record, problem))
    with capsys.disabled():
        sys.stdout.write(f"\n{dialect}: {len(accepted)} accepted; excused: {dict(excused)}\n")
    assert [(r["id"], p) for r, p in problems if not is_expected(r, p)] == []


@pytest.mark.parametrize(("id", "code"), EXPECTED)
def test_what_is_excused_is_still_there(id, code):
    found = {
        (record["id"], problem.code)
        for dialect in ("openai_responses", "anthropic")
        for record in records(dialect)
        if record["id"] == id
        for problem in check(histories(dialect)[id], rules_of(dialect, record))
    }
    assert (id, code) in found


def test_results_without_calls_are_accepted_only_where_the_vendor_keeps_the_calls():
    kept = [
        record["params"].get("previous_response_id") or record["params"].get("conversation")
        for record in records("openai_responses")
        if (record["id"], "orphaned_result") in EXPECTED
    ]
    assert len(kept) == 5
    assert all(kept)


# --- Refused --------------------------------------------------------------------------------------

# An old or a small model, or a server, takes less than its vendor's rules say.
NO_SYSTEM = replace(OPENAI_CHAT, system="refused")  # o1-mini
NO_AUDIO = replace(OPENAI_CHAT, user_blocks=("text", "image", "file", "wire"))  # gpt-5-mini
NO_VIDEO = replace(COMMON, user_blocks=("text", "image", "audio"))  # llama.cpp

REFUSED = [
    ("5ce02834-0", NO_SYSTEM, "system_refused"),  # 'developer' is not supported
    ("8d9d0408-0", NO_SYSTEM, "system_refused"),  # 'system' is not supported
    ("6f0a1c61-0", DEEPSEEK, "block_kind"),  # "unknown variant `input_audio`, expected `text`"
    ("440d76db-0", DEEPSEEK, "block_kind"),
    ("44b4fb41-0", DEEPSEEK, "block_kind"),
    ("e88d1f64-0", DEEPSEEK, "block_kind"),
    ("1c95d448-0", DEEPSEEK, "block_kind"),
    ("3b726149-0", DEEPSEEK, "block_kind"),
    ("5ccfd1ec-0", NO_VIDEO, "block_kind"),  # "unsupported content[].type"
    ("bbab132e-2", NO_AUDIO, "block_kind"),  # "expected to be either text or image_url type"
    ("6a07b2b8-2", NO_AUDIO, "block_kind"),
    ("9ed14e78-1", NO_AUDIO, "block_kind"),
]


@pytest.mark.parametrize(("id", "rules", "code"), REFUSED)
def test_what_was_refused_for_the_shape_of_its_history_has_that_problem(id, rules, code):
    (record,) = [record for record in records("openai_chat") if record["id"] == id]
    assert record["status"] == 400
    problems = check(histories("openai_chat")[id], rules)
    assert {problem.code for problem in problems} == {code}


NOT_OF_THE_HISTORY = {
    "692c6635-1": "anthropic",  # Bedrock takes no images by URL, where Anthropic does
    "6ddee816-1": "openai_responses",  # a file that is sound
    "fcdb4825-2": "openai_responses",  # a file that is sound
    "9d12bed4-0": "openai_responses",  # `previous_response_id` names nothing
}


@pytest.mark.parametrize(("id", "dialect"), NOT_OF_THE_HISTORY.items())
def test_where_media_are_and_what_they_hold_is_no_problem_of_the_history(id, dialect):
    (record,) = [record for record in records(dialect) if record["id"] == id]
    assert record["status"] == 400
    assert check(histories(dialect)[id], rules_of(dialect, record)) == ()


def test_a_message_that_is_a_string_is_no_conversation():
    (id,) = NO_CONVERSATION
    (record,) = [record for record in all_records("anthropic") if record["id"] == id]
    assert record["status"] == 400
    with pytest.raises(DecodeError, match=r"Expected `object`, got `str` - at `\$\.messages\[0\]`"):
        DIALECTS["anthropic"].from_request(body("anthropic", record))
