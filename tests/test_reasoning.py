"""Reasoning that is taken out, and think tags that are taken for reasoning."""

import pytest
from case_reader import case_rows, read_case
from hostile import histories
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from molo import (
    Assistant,
    ProviderData,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    assistant,
    assistant_with_reasoning,
    system,
    tool_result,
    user,
)
from molo.history.reasoning import split_think_tags, strip_reasoning

CALL = ToolCall("call_1", "weather", "{}")
SEALED = ProviderData(dialect="anthropic", delta="{}", digest="0", sealed=True)
OPEN = ProviderData(dialect="openai_chat", delta='{"unit":{"name":["Ada"]}}', digest="0")

# Two finished turns, of which the first one called a tool, and the one at hand.
HISTORY = [
    system("Be brief."),
    assistant_with_reasoning("Hello", "greet"),
    user("Weather?"),
    Assistant("", "look", (CALL,)),
    tool_result("call_1", "Sunny"),
    assistant_with_reasoning("Sunny.", "found"),
    user("Thanks"),
    assistant_with_reasoning("Welcome", ""),
    user("17*24?"),
    assistant_with_reasoning("408", "340 + 68"),
    assistant("Anything else?"),
]


def replies(history):
    return [message for message in history if isinstance(message, Assistant)]


def reasonings(history):
    return [reply.reasoning for reply in replies(history)]


@pytest.mark.parametrize(
    ("keep", "left"),
    [
        ("none", [None, None, None, None, None, None]),
        ("current_turn", [None, None, None, None, "340 + 68", None]),
        ("tool_turns", [None, "look", "found", None, None, None]),
    ],
)
def test_reasoning_stays_in_the_turns_that_are_named(keep, left):
    assert reasonings(strip_reasoning(HISTORY, keep=keep)) == left


@pytest.mark.parametrize(
    ("keep", "left"),
    [("none", [None, None]), ("current_turn", ["a", "b"]), ("tool_turns", ["a", "b"])],
)
def test_without_a_user_the_history_is_one_turn(keep, left):
    history = [Assistant("", "a", (CALL,)), assistant_with_reasoning("", "b")]
    assert reasonings(strip_reasoning(history, keep)) == left


def test_a_call_in_front_of_the_first_user_keeps_the_reasoning_there_alone():
    history = [Assistant("", "a", (CALL,)), user("Hi"), assistant_with_reasoning("", "b")]
    assert reasonings(strip_reasoning(history, "tool_turns")) == ["a", None]


@pytest.mark.parametrize("keep", ["", "all", "NONE"])
def test_another_value_of_keep_is_refused(keep):
    with pytest.raises(ValueError, match="Expected `none`, `current_turn` or `tool_turns`"):
        strip_reasoning(HISTORY, keep=keep)


@pytest.mark.parametrize("reasoning", ["", "text"])
def test_a_reply_that_lost_its_reasoning_has_no_provider_data(reasoning):
    history = [Assistant("a", reasoning, (CALL,), provider_data=OPEN)]
    assert strip_reasoning(history) == [Assistant("a", None, (CALL,))]


SEALED_MESSAGES = [
    Assistant("a", provider_data=SEALED),
    System("a", provider_data=SEALED),
    User((Text("a"),), provider_data=SEALED),
    ToolResult("call_1", "a", provider_data=SEALED),
]


@pytest.mark.parametrize("message", SEALED_MESSAGES)
def test_sealed_data_goes_where_reasoning_goes_whatever_the_message(message):
    assert strip_reasoning([message]) == [replace(message, provider_data=None)]


@pytest.mark.parametrize("message", SEALED_MESSAGES)
def test_sealed_data_stays_where_reasoning_stays(message):
    (kept,) = strip_reasoning([message], "current_turn")
    assert kept is message


@pytest.mark.parametrize(
    ("delta", "stays"),
    [
        ('{"unit":{"name":["Ada"]}}', True),
        ('{"unit":{"note":["\\"reasoning\\":"]}}', True),
        ('{"unit":{"note":["reasoning"]}}', True),
        ('{"unit":{"reasoning":[null]}}', False),
        ('{"unit":{"reasoning_content" : [null]}}', False),
        ('{"unit":{"reasoning_details":[[]]}}', False),
    ],
)
def test_a_delta_with_a_key_for_reasoning_goes_too(delta, stays):
    data = ProviderData(dialect="openai_chat", delta=delta, digest="0")
    (stripped,) = strip_reasoning([Assistant("B", provider_data=data)])
    assert (stripped.provider_data is data) is stays


def slow_kept(history, keep):
    """The indices that keep reasoning, from the definition."""
    turn_of = [
        sum(isinstance(message, User) for message in history[: at + 1])
        for at in range(len(history))
    ]
    calling = {
        turn
        for turn, message in zip(turn_of, history, strict=True)
        if isinstance(message, Assistant) and message.tool_calls
    }
    turns = {"none": set(), "current_turn": set(turn_of[-1:]), "tool_turns": calling}[keep]
    return [turn in turns for turn in turn_of]


@given(histories, st.sampled_from(["none", "current_turn", "tool_turns"]))
def test_stripping_changes_reasoning_and_provider_data_and_nothing_else(history, keep):
    before = list(history)
    stripped = strip_reasoning(tuple(history), keep)
    kept = slow_kept(history, keep)
    assert history == before
    assert [bare(message) for message in stripped] == [bare(message) for message in history]
    assert all(
        new is old
        for old, new, stays in zip(history, stripped, kept, strict=True)
        if stays or new == old
    )
    gone = [new for new, stays in zip(stripped, kept, strict=True) if not stays]
    assert all(reasoning is None for reasoning in reasonings(gone))
    assert not any(message.provider_data.sealed for message in gone if message.provider_data)
    assert strip_reasoning(stripped, keep) == stripped


def bare(message):
    fields = {name: getattr(message, name) for name in message.__struct_fields__}
    return type(message), {**fields, "reasoning": None, "provider_data": None}


@given(histories)
def test_a_message_without_reasoning_and_sealed_data_is_the_same_object(history):
    stripped = strip_reasoning(strip_reasoning(history))
    assert all(map(lambda a, b: a is b, strip_reasoning(stripped), stripped))


# --- Think tags -----------------------------------------------------------------------------------

# content -> reasoning and content
MOVED = {
    "a block": ("<think>\nwhy\n</think>\n\n408", "why", "408"),
    "a block behind white space": (" \n<think>why</think>408", "why", "408"),
    "an empty block": ("<think>\n\n</think>\n\nHi", "", "Hi"),
    "several blocks": ("<think>a</think>\n\n<think>\nb</think> Hi", "a\n\nb", "Hi"),
    "a tag within a block": ("<think>a <think> b</think>Hi", "a <think> b", "Hi"),
    "a block and nothing else": ("<think>why</think>", "why", ""),
    "a block in one line with blanks": ("<think> why </think> because", "why", "because"),
    "a mention of the closing tag in a block": (
        "<think>He means `</think>`.\n</think>It closes.",
        "He means `</think>`.",
        "It closes.",
    ),
    "closing tags in code alone": ("<think>a ` b</think>Use `x`.", "a ` b", "Use `x`."),
    "a cut block": ("<think>\nThinking: 5 plus", "Thinking: 5 plus", ""),
    "an opening tag": ("<think>", "", ""),
    "a cut block behind a whole one": ("<think>a</think><think>b", "a\n\nb", ""),
    "an orphan between words": ("340 + 68 = 408</think>408", "340 + 68 = 408", "408"),
    "an orphan in its own line": ("why\n</think>\n\nHi", "why", "Hi"),
    "an orphan behind an indent": ("why\n  </think>Hi", "why", "Hi"),
    "an orphan behind a sentence": ("It is so. </think> Hi", "It is so.", "Hi"),
    "an orphan behind a Chinese sentence": ("完成。</think>北京", "完成。", "北京"),
    "an orphan at the end": ("How are you? 😊</think>\n\n", "How are you? 😊", ""),
    "an orphan in front": ("</think>\n\nHi", "", "Hi"),
    "orphans in a row": ("why\n</think>\n\n</think>\n\nHi", "why", "Hi"),
    "an orphan behind a mention": ("`</think>` it is\n</think>Hi", "`</think>` it is", "Hi"),
    "an orphan in front of a block": ("a</think><think>b</think>Hi", "a\n\nb", "Hi"),
    "an orphan behind an empty block": ("<think></think>a</think>Hi", "a", "Hi"),
    "an orphan behind a lone backtick": ("it`s so</think>Hi\n`", "it`s so", "Hi\n`"),
    "an orphan behind two kinds of code": (
        "```\n~~~\n```\nwhy\n</think>Hi\n~~~",
        "```\n~~~\n```\nwhy",
        "Hi\n~~~",
    ),
    "an orphan behind a block is text": ("<think>a</think>b</think>c", "a", "b</think>c"),
    "the rest keeps its white space": ("<think>a</think>b \n\n c\n", "a", "b \n\n c\n"),
}


@pytest.mark.parametrize(("content", "reasoning", "rest"), MOVED.values(), ids=MOVED)
def test_reasoning_in_think_tags_is_moved(content, reasoning, rest):
    assert split_think_tags([assistant(content)]) == [Assistant(rest, reasoning)]


MENTIONED = {
    "no tag": "I think so.",
    "inline code": "It closes a block: `</think>`.",
    "inline code between two backticks": "Write ``a ` </think>`` there.",
    "a fenced block": "Like so:\n```\n</think>\n```\n",
    "a fenced block of tildes": "~~~\n</think>\n~~~",
    "a fence in a longer fence": "````\n```\n</think>\n```\n````",
    "mid-sentence": "The </think> tag closes it.",
    "the end of a sentence": "It is closed by </think>.",
    "in quotes": 'Look for "</think>" in it.',
    "in brackets": "It ends at the tag (</think>).",
    "in a sentence without blanks": "使用</think>标签来结束",
    "both tags": "Put it in <think> and </think>\n",
    "a block behind text": "Sure.\n<think>why</think>\nHi",
    "an opening tag behind text": "It starts with <think>",
    "another tag": "<thinking>why</thinking>Hi",
    "another spelling": "<THINK>why</THINK>Hi",
}


@pytest.mark.parametrize("content", MENTIONED.values(), ids=MENTIONED)
def test_text_that_mentions_a_tag_is_left_alone(content):
    message = assistant(content)
    (left,) = split_think_tags([message])
    assert left is message


@pytest.mark.parametrize(
    ("reasoning", "content", "expected"),
    [
        ("a", "<think>b</think>c", Assistant("c", "a\n\nb")),
        ("a", "<think>b", Assistant("", "a\n\nb")),
        ("a", "<think></think>c", Assistant("c", "a")),
        ("a", "b</think>c", Assistant("b</think>c", "a")),
        ("", "b</think>c", Assistant("c", "b")),
        ("", "<think>b</think>c", Assistant("c", "b")),
    ],
)
def test_what_is_moved_comes_behind_the_reasoning_that_is_there(reasoning, content, expected):
    assert split_think_tags([assistant_with_reasoning(content, reasoning)]) == [expected]


def test_a_reply_that_was_split_has_no_provider_data():
    message = Assistant("<think>a</think>b", tool_calls=(CALL,), provider_data=SEALED)
    assert split_think_tags([message]) == [Assistant("b", "a", (CALL,))]


def test_only_replies_are_split():
    history = [
        system("<think>a</think>b"),
        user("<think>a</think>b"),
        tool_result("1", "<think>a</think>b"),
    ]
    assert all(map(lambda a, b: a is b, split_think_tags(history), history))


tagged = st.lists(
    st.sampled_from(
        [
            "<think>",
            "</think>",
            "a",
            "é",
            "完",
            " ",
            "\n",
            "`",
            "```",
            "~~~",
            ".",
            '"',
            "(",
            "\u3000",
        ]
    ),
    max_size=16,
).map("".join)


def letters(*texts):
    """What is left of texts without white space and every character of the tags."""
    return "".join(c for text in texts for c in text if not c.isspace() and c not in "</think>")


@given(st.none() | st.sampled_from(["", " ", "é"]), tagged)
def test_splitting_loses_no_text_and_twice_is_once(reasoning, content):
    history = [Assistant(content, reasoning)]
    split = split_think_tags(history)
    (message,) = split
    before = letters(reasoning or "", content)
    assert letters(message.reasoning or "", message.content) == before
    assert split_think_tags(split) == split
    assert history == [Assistant(content, reasoning)]


@given(histories)
def test_splitting_leaves_replies_without_tags_as_they_are(history):
    assert all(map(lambda a, b: a is b, split_think_tags(history), history))


# --- The handed cases -----------------------------------------------------------------------------

# The function, and what the index says of each case in molo's terms. That the block of 31 was cut
# is not kept: the reply's `stop` says so, which is no part of a history.
FACTS = {
    30: (
        split_think_tags,
        lambda history: (
            history[1] == Assistant("408", "Let me verify: 340 + 68 = 408")
            and history[3] == assistant("It closes a think block: `</think>`.")
        ),
    ),
    31: (split_think_tags, lambda history: history[1] == Assistant("", "Thinking: 5 plus 6 is")),
    44: (
        strip_reasoning,
        lambda history: (
            [(m.content, m.reasoning) for m in replies(history)]
            == [("A", None), ("", None), ("B", None)]
        ),
    ),
    106: (strip_reasoning, lambda history: replies(history)[0].reasoning is None),
}
ROWS = case_rows("strip_reasoning") or [pytest.param(None, marks=pytest.mark.skip("no cases"))]


@pytest.mark.parametrize("row", ROWS)
def test_the_handed_cases_hold(row):
    history = read_case(row)
    before = list(history)
    function, holds = FACTS[row["n"]]
    assert holds(function(history))
    assert history == before
