"""The rules of vendors: data that says no more than what is known."""

import msgspec
import pytest
from hostile import rules
from hypothesis import given
from hypothesis import strategies as st
from oracles import CHARS

from molo import history
from molo.history import COMMON, Rules
from molo.history.alphabets import ALPHABETS, are_written_in, is_written_in

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


@given(
    st.lists(st.text("a_.\n", max_size=4), max_size=4),
    st.sampled_from(sorted(ALPHABETS)),
    st.integers(0, 2),
    st.none() | st.integers(0, 4),
)
def test_texts_are_judged_together_as_each_on_its_own(texts, alphabet, shortest, longest):
    most = 4 if longest is None else longest
    each = [shortest <= len(text) <= most and is_written_in(text, alphabet) for text in texts]
    assert are_written_in(texts, alphabet, shortest, longest) == all(each)
