"""A history while it is mended: its messages as rows that move, and the list of what was done."""

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from molo.history.contents import calls
from molo.history.problems import Code, Problem
from molo.history.rules import Rules
from molo.history.structure import Pair, Pairing, pair
from molo.message import ContentBlock, Message, ProviderData, ToolCall

__all__ = ["Change", "ChangeCode", "Draft", "Repaired", "Replaced", "Row"]

ChangeCode = Code | Literal["provider_data_dropped"]
"""The code of the problem that a change mends, or: data of a vendor went with another change."""

Replaced = Message | ContentBlock | ToolCall | ProviderData | str | None
"""What a change replaces: a message, one part of it, or its content or reasoning."""


class Change(Struct, frozen=True, gc=False):
    """One edit: `before` is what stood there, `after` what stands there now; None is nothing.

    `at` is the index of the message in the input (of an added result: of its call), `to` its index
    in the output, None if it is no longer there. `part` is the index of the call or block. A
    message that only moved is both `before` and `after`.
    """

    code: ChangeCode
    at: int
    to: int | None
    part: int | None
    before: Replaced
    after: Replaced
    text: str


class Repaired(Struct, frozen=True):
    """What `repair` made: the history, each change, and the problems that nothing can mend."""

    history: list[Message]
    changes: tuple[Change, ...]
    remaining: tuple[Problem, ...]


class Row(Struct, eq=False, gc=False):
    """A message on its way from the input to the output."""

    at: int
    message: Message
    call: tuple[int, int] | None = None  # of a result: the place of the call that it answers
    in_front_of: int | None = None  # the index in the input of the message that it goes in front of
    is_new: bool = False  # it was added; `at` is the index of its call's message
    joined: "Row | None" = None  # the row that took this one in
    to: int | None = None


class _Edit(Struct, gc=False):
    code: ChangeCode
    row: Row
    part: int | None
    before: Replaced
    after: Replaced
    text: str


class Draft:
    """The rows in their order so far, and the edits in the order in which they were made.

    `inputs` are the rows by their index in the input, also those that are gone by now; `pairing`
    is that of the input.
    """

    def __init__(self, history: Sequence[Message], rules: Rules) -> None:
        self.rules = rules
        self.pairing: Pairing = pair(history)
        self.inputs: list[Row] = [Row(at, message) for at, message in enumerate(history)]
        self.rows: list[Row] = list(self.inputs)
        self.ids_ran_out = False
        for asked in self.pairing.pairs:
            if asked.result_at is not None:
                self.inputs[asked.result_at].call = (asked.at, asked.part)
        self._edits: list[_Edit] = []

    def call(self, asked: Pair) -> ToolCall:
        """Look up a call of the input as it is by now, where rows still stand as they stood."""
        return calls(self.inputs[asked.at].message)[asked.part]

    def record(
        self,
        code: ChangeCode,
        row: Row,
        part: int | None,
        before: Replaced,
        after: Replaced,
        text: str,
    ) -> None:
        """Note an edit."""
        self._edits.append(_Edit(code, row, part, before, after, text))

    def write(self, row: Row, message: Message) -> None:
        """Put a new message in a row, and drop the vendor's data, which was about the old one."""
        dropped = row.message.provider_data
        row.message = message
        if message.provider_data is not None:
            row.message = msgspec.structs.replace(message, provider_data=None)
        if dropped is not None:
            text = _SEALED_DROPPED if dropped.sealed else _DROPPED
            self.record("provider_data_dropped", row, None, dropped, None, text)

    def history(self) -> list[Message]:
        """List the messages as they stand."""
        return [row.message for row in self.rows]

    def changes(self) -> tuple[Change, ...]:
        """List the edits by place in the input, with the places that the rows have come to."""
        for to, row in enumerate(self.rows):
            row.to = to
        return tuple(
            Change(
                edit.code,
                edit.row.at,
                (edit.row.joined or edit.row).to,
                edit.part,
                edit.before,
                edit.after,
                edit.text,
            )
            for edit in sorted(self._edits, key=_input_place)
        )


def _input_place(edit: _Edit) -> int:
    return edit.row.at


_DROPPED = "The vendor's data about the message went, for the message is another one now."
_SEALED_DROPPED = (
    "The vendor's sealed data went, for the message is another one now; it held reasoning state."
)
