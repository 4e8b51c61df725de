"""What a message has to say, the same question for every role."""

import pytest
from hostile import messages, some_blocks
from hypothesis import given

from molo import Assistant, Image, ProviderData, System, Text, ToolCall, ToolResult, User, Wire
from molo.history import Rules
from molo.history.contents import block_rule, blocks, calls, is_empty, is_sealed, with_blocks

DATA = ProviderData(dialect="x", delta="{}", digest="0")
SEALED = ProviderData(dialect="x", delta="{}", digest="0", sealed=True)

EMPTY = [
    (System(""), True),
    (System("", provider_data=DATA), False),
    (User(()), True),
    (User((Text(""),)), False),
    (Assistant(""), True),
    (Assistant("", ""), True),
    (Assistant("", "So"), False),
    (Assistant(" "), False),
    (Assistant("", tool_calls=(ToolCall("a", "f", "{}"),)), False),
    (Assistant("", attachments=(Image(url="x:"),)), False),
    (ToolResult("a", ""), True),
    (ToolResult("a", "0"), False),
]


@pytest.mark.parametrize(("message", "expected"), EMPTY)
def test_a_message_is_empty_if_it_says_nothing(message, expected):
    assert is_empty(message, Rules()) is expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (System("", provider_data=DATA), True),
        (Assistant("", tool_calls=(ToolCall("a", "f", "{}"),), provider_data=DATA), False),
        (User((Wire("x", "{}"),)), True),
        (User((Wire("y", "{}"),)), False),
        (User((Image(url="x:"),)), True),
        (User((Text("Hi"),)), False),
    ],
)
def test_what_a_vendor_does_not_take_says_nothing_but_text(message, expected):
    assert is_empty(message, Rules(dialect="y", user_blocks=("wire",))) is expected


@given(messages)
def test_putting_back_the_same_blocks_changes_nothing(message):
    assert with_blocks(message, blocks(message)) == message


@given(messages, some_blocks)
def test_blocks_are_put_where_they_are_read(message, new):
    expected = () if isinstance(message, System) else new
    assert blocks(with_blocks(message, new)) == expected


def test_a_system_holds_no_blocks_and_no_calls():
    assert block_rule(System("Hi"), Rules()) == ()
    assert calls(System("Hi")) == ()


@pytest.mark.parametrize(
    ("data", "dialect", "expected"),
    [
        (None, "", False),
        (DATA, "", False),
        (SEALED, "", True),
        (SEALED, "x", True),
        (SEALED, "y", False),
    ],
)
def test_sealed_data_counts_where_the_vendor_can_read_it(data, dialect, expected):
    reply = Assistant("", provider_data=data)
    assert is_sealed(reply, Rules(dialect=dialect)) is expected
    assert not is_sealed(reply, Rules(dialect=dialect, reads_sealed=False))
