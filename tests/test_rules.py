"""The rules of vendors: data that says no more than what is known."""

import json

import msgspec
import pytest
from case_reader import CASES, anthropic, openai_chat
from hostile import rules
from hypothesis import given
from oracles import CHARS

from molo import Assistant, ProviderData, history
from molo.history import COMMON, Rules
from molo.history.alphabets import ALPHABETS, is_written_in

CORPUS = CASES.parent / "corpus"
VENDORS = {name: value for name, value in vars(history).items() if isinstance(value, Rules)}


def test_there_is_a_constant_for_each_vendor():
    assert VENDORS.keys() >= {
        "COMMON",
        "OPENAI_CHAT",
        "OPENAI_RESPONSES",
        "ANTHROPIC",
        "GEMINI",
        "DEEPSEEK",
        "KIMI",
        "GLM",
        "QWEN",
        "MINIMAX",
        "MISTRAL",
        "GROQ",
        "CEREBRAS",
        "OPENROUTER",
    }


def test_common_is_every_default():
    assert Rules() == COMMON


@pytest.mark.parametrize("name", VENDORS)
def test_the_rules_of_a_vendor_do_not_contradict_themselves(name):
    vendor = VENDORS[name]
    assert 1 <= vendor.id_min <= (vendor.id_max or vendor.id_min)
    assert "user" in vendor.first_roles
    assert {"user", "tool"} <= set(vendor.last_roles)
    assert "text" in vendor.user_blocks


@given(rules)
def test_rules_are_data_that_json_can_hold(some):
    assert msgspec.json.decode(msgspec.json.encode(some), type=Rules) == some


def test_rules_of_ones_own_are_made_by_replacing_fields():
    assert msgspec.structs.replace(COMMON, id_max=12) == Rules(id_max=12)


@pytest.mark.parametrize("alphabet", CHARS)
def test_an_alphabet_has_its_characters_and_no_others(alphabet):
    assert set(ALPHABETS[alphabet]) == set(CHARS[alphabet])
    ascii_text = map(chr, range(128))
    assert {c for c in ascii_text if is_written_in(c, alphabet)} == set(CHARS[alphabet])
    assert not is_written_in("é", alphabet)
    assert not is_written_in("a\n", alphabet)


# Recorded requests that were accepted, judged by the rules of their vendor as far as molo's
# messages tell (signatures, which they do not hold, are taken to be there).

OF_VENDOR = {
    "openai": history.OPENAI_CHAT,
    "azure": history.OPENAI_CHAT,
    "deepseek": history.DEEPSEEK,
    "mistral": history.MISTRAL,
    "groq": history.GROQ,
    "cerebras": history.CEREBRAS,
    "openrouter": history.OPENROUTER,
    "zai": history.GLM,
    "anthropic": history.ANTHROPIC,
    "bedrock": history.ANTHROPIC,
}
SIGNED = ProviderData(dialect="anthropic", delta="{}", digest="0", sealed=True)
KNOWN = {
    # The result has the id of another recording's call. The vendor's errors say that this is
    # refused, and some recordings of this source were edited by hand.
    "dc02603e-0",
}


def rules_of(record):
    thinking = (record.get("params") or {}).get("thinking") or {}
    off = record["model"] == "deepseek-chat" or thinking.get("type") == "disabled"
    if record["vendor"] == "deepseek" and off:
        return history.DEEPSEEK_NON_THINKING
    return OF_VENDOR.get(record["vendor"], COMMON)


def accepted(name):
    with (CORPUS / name).open() as lines:
        for record in map(json.loads, lines):
            fine = record.get("status", 200) == 200 and "error" not in record
            if fine and "messages" in record and record["id"] not in KNOWN:
                yield record


def signed(message):
    thought = isinstance(message, Assistant) and message.reasoning is not None
    return msgspec.structs.replace(message, provider_data=SIGNED) if thought else message


@pytest.mark.skipif(not CORPUS.exists(), reason="the recorded conversations are not here")
@pytest.mark.parametrize(
    ("name", "read"), [("openai_chat.jsonl", openai_chat), ("anthropic.jsonl", anthropic)]
)
def test_no_rule_contradicts_a_request_that_was_accepted(name, read):
    refused = [
        (record["id"], problem.code)
        for record in accepted(name)
        for problem in history.check(list(map(signed, read(record))), rules_of(record))
        # Ids that were replaced when the recordings were published
        if not ("ids-redacted" in record["fidelity"] and problem.code == "id_length")
    ]
    assert refused == []
