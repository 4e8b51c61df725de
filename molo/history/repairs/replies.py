"""Passes over what messages say: blank text, replies in pieces, reasoning, messages without any."""

from collections.abc import Sequence

import msgspec

from molo.history.contents import (
    TextRule,
    blocks,
    calls,
    is_empty,
    own_text,
    text_rule,
    with_blocks,
)
from molo.history.problems import Code, judged_replies, reasoning_fault
from molo.history.repairs.draft import Draft, Row
from molo.history.rules import Rules
from molo.message import Assistant, ContentBlock, Message, System, Text, ToolResult, User

__all__ = [
    "NO_CONTENT",
    "drop_blank_text",
    "fill_empty",
    "join_neighbours",
    "mend_reasoning",
    "strip_ending",
]

NO_CONTENT = "(no content)"
"""The text of a message that has nothing to say where it has to say something."""


def drop_blank_text(draft: Draft) -> None:
    """Drop text that is empty or blank, where that is refused; what is left, `fill_empty` fills."""
    if draft.rules.text == draft.rules.result_text == "any":
        return
    for row in draft.rows:
        wanted = text_rule(row.message, draft.rules)
        if wanted != "any":
            _drop_blank_blocks(draft, row, wanted)
        if wanted == "not_blank":
            _drop_blank_content(draft, row)


def _drop_blank_blocks(draft: Draft, row: Row, wanted: TextRule) -> None:
    kept: list[ContentBlock] = []
    for part, block in enumerate(blocks(row.message)):
        if type(block) is Text and (code := _blank_code(block.text, wanted)):
            text = "The text block, which has no text, was taken out."
            draft.record(code, row, part, block, None, text)
        else:
            kept.append(block)
    if len(kept) < len(blocks(row.message)):
        draft.write(row, with_blocks(row.message, tuple(kept)))


def _blank_code(text: str, wanted: TextRule) -> Code | None:
    if not text:
        return "content_empty"
    return "content_blank" if wanted == "not_blank" and text.isspace() else None


def _drop_blank_content(draft: Draft, row: Row) -> None:
    blank = own_text(row.message)
    if blank.isspace():
        draft.write(row, msgspec.structs.replace(row.message, content=""))
        text = "The text, which is white space, was taken out."
        draft.record("content_blank", row, None, blank, "", text)


def join_neighbours(draft: Draft) -> None:
    """Join the pieces of replies, and neighbours of one role where roles have to alternate."""
    if draft.rules.split_replies and not draft.rules.alternation:
        return
    groups: list[list[Row]] = []
    calling = False  # the last group holds calls
    for row in draft.rows:
        if groups and _belongs(row.message, groups[-1][0].message, calling, draft.rules):
            groups[-1].append(row)
        else:
            groups.append([row])
            calling = False
        calling = calling or bool(calls(row.message))
    draft.rows = [group[0] for group in groups]
    for group in groups:
        if len(group) > 1:
            _join(draft, group)


def _belongs(message: Message, before: Message, calling: bool, rules: Rules) -> bool:
    if type(message) is Assistant and type(before) is Assistant:
        return rules.alternation or calling
    return rules.alternation and type(message) is User and type(before) is User


def _join(draft: Draft, group: Sequence[Row]) -> None:
    replies = [row.message for row in group if isinstance(row.message, Assistant)]
    users = [row.message for row in group if isinstance(row.message, User)]
    joined = _joined_replies(replies) if replies else _joined_users(users)
    called = any(reply.tool_calls for reply in replies[:-1])
    code: Code = "split_reply" if called and not draft.rules.split_replies else "alternation"
    for row in group:
        draft.record(code, row, None, row.message, joined, "The message was joined with the next.")
        draft.write(row, joined)
    for row in group[1:]:
        row.joined = group[0]


def _joined_users(users: Sequence[User]) -> User:
    return User(tuple(block for user in users for block in user.content))


def _joined_replies(replies: Sequence[Assistant]) -> Assistant:
    thoughts = [reply.reasoning for reply in replies if reply.reasoning is not None]
    return Assistant(
        _joined_text([reply.content for reply in replies]),
        _joined_text(thoughts) if thoughts else None,
        tuple(call for reply in replies for call in reply.tool_calls),
        attachments=tuple(block for reply in replies for block in reply.attachments),
    )


def _joined_text(texts: Sequence[str]) -> str:
    return "\n\n".join(text for text in texts if text)


def strip_ending(draft: Draft) -> None:
    """Take the white space from the end of a reply that ends the history, where it is refused."""
    if draft.rules.final_trailing_blank or not draft.rows:
        return
    row = draft.rows[-1]
    before = row.message
    if isinstance(before, Assistant) and before.content[-1:].isspace():
        after = msgspec.structs.replace(before, content=before.content.rstrip())
        draft.write(row, after)
        text = "White space at the end of the last reply was taken away."
        draft.record("content_trailing_blank", row, None, before.content, after.content, text)


def mend_reasoning(draft: Draft) -> None:
    """Take away refused reasoning, and put `""` for missing reasoning where that will do."""
    rules = draft.rules
    for place, reply in judged_replies(draft.history(), rules):
        row, before = draft.rows[place], reply.reasoning
        fault = reasoning_fault(reply, rules)
        if fault in {"reasoning_refused", "reasoning_unsealed"}:
            draft.write(row, msgspec.structs.replace(reply, reasoning=None))
            draft.record(fault, row, None, before, None, "The reasoning was taken out.")
        elif fault and rules.empty_reasoning and not rules.sealed_reasoning:
            draft.write(row, msgspec.structs.replace(reply, reasoning=""))
            draft.record(fault, row, None, before, "", "Empty reasoning was put in.")


def fill_empty(draft: Draft) -> None:
    """Let messages that say nothing say so, where messages have to say something."""
    for row in draft.rows:
        before = row.message
        if text_rule(before, draft.rules) != "any" and is_empty(before, draft.rules):
            draft.write(row, _filled(before))
            text = "The message, which says nothing, got a text that says so."
            draft.record("content_empty", row, None, before, row.message, text)


def _filled(message: Message) -> Message:
    match message:
        case User():
            return msgspec.structs.replace(message, content=(*message.content, Text(NO_CONTENT)))
        case System() | Assistant() | ToolResult():
            return msgspec.structs.replace(message, content=NO_CONTENT)
