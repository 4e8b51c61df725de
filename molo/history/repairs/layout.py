"""Passes that put messages in their places: results behind their calls, Systems in front."""

from collections.abc import Iterator, Sequence

from molo.history.problems import Code
from molo.history.repairs.draft import Draft, Row
from molo.history.structure import Pair, Step, steps
from molo.message import Assistant, System, ToolResult

__all__ = [
    "SYNTHESIZED_RESULT",
    "move_systems",
    "place_results",
    "sort_results",
    "take_out_strays",
]

SYNTHESIZED_RESULT = "No result of this call was recorded; this message was put in its place."
"""The content of the results that `repair` adds; they also have `is_error=True`."""


def take_out_strays(draft: Draft) -> None:
    """Take out the results that answer no call, or one that has its result."""
    pairing = draft.pairing
    for at in pairing.orphaned:
        _take_out(draft, at, "orphaned_result", "The result, which answers no call, was taken out.")
    for at in pairing.duplicate:
        _take_out(draft, at, "duplicate_result", "The second result of the call was taken out.")
    strays = {*pairing.orphaned, *pairing.duplicate}
    draft.rows = [row for row in draft.rows if row.at not in strays]


def _take_out(draft: Draft, at: int, code: Code, text: str) -> None:
    row = draft.inputs[at]
    draft.record(code, row, None, row.message, None, text)


def place_results(draft: Draft) -> None:
    """Move late results into the block of their step, and add missing ones."""
    for step, asked in _by_step(draft):
        if asked.result_at is None:
            draft.rows.append(_synthesized(draft, asked, step.stop))
        elif asked.result_at >= step.stop and _wants_blocks(draft):
            _move(draft, draft.inputs[asked.result_at], step.stop)
    draft.rows.sort(key=_layout_place)


def _layout_place(row: Row) -> tuple[int, bool, bool, int]:
    """Sort by place in the input; in front of a message go late results, then the added ones."""
    if row.in_front_of is None:
        return (row.at, True, False, 0)
    return (row.in_front_of, False, row.is_new, 0 if row.is_new else row.at)


def _wants_blocks(draft: Draft) -> bool:
    """Where ids ran out, some are not unique: only a block then tells whose a result is."""
    return draft.rules.results == "block" or draft.ids_ran_out


def _by_step(draft: Draft) -> Iterator[tuple[Step, Pair]]:
    remaining = iter(draft.pairing.pairs)
    asked = next(remaining, None)
    for step in steps([row.message for row in draft.inputs]):
        while asked is not None and asked.at < step.stop:
            yield step, asked
            asked = next(remaining, None)


def _synthesized(draft: Draft, asked: Pair, stop: int) -> Row:
    result = ToolResult(draft.call(asked).id, SYNTHESIZED_RESULT, is_error=True)
    call = (asked.at, asked.part)
    row = Row(asked.at, result, call=call, in_front_of=stop, is_new=True)
    text = "A result was added that says that none was recorded."
    draft.record("dangling_call", row, asked.part, None, result, text)
    return row


def _move(draft: Draft, row: Row, stop: int) -> None:
    row.in_front_of = stop
    text = "The result moved into the block behind its call."
    draft.record("misplaced_result", row, None, row.message, row.message, text)


def move_systems(draft: Draft) -> None:
    """Move System messages that stand behind others to the end of the leading ones."""
    if draft.rules.system != "leading":
        return
    systems = [row for row in draft.rows if type(row.message) is System]
    others = [row for row in draft.rows if type(row.message) is not System]
    rows = [*systems, *others]
    leading = next((n for n, row in enumerate(draft.rows) if row is not rows[n]), len(rows))
    for row in systems[leading:]:
        text = "The System message moved behind the leading ones."
        draft.record("system_place", row, None, row.message, row.message, text)
    draft.rows = rows


def sort_results(draft: Draft) -> None:
    """Put the results of a block in the order of their calls, where that matters."""
    if not (draft.rules.results_in_call_order or draft.ids_ran_out):
        return
    for block in _blocks(draft.rows):
        in_order = sorted((draft.rows[place] for place in block), key=_call_place)
        for place, row in zip(block, in_order, strict=True):
            if draft.rows[place] is not row and not row.is_new:
                text = "The result moved to where its call stands among the calls."
                draft.record("results_order", row, None, row.message, row.message, text)
            draft.rows[place] = row


def _call_place(row: Row) -> tuple[int, int]:
    return row.call or (-1, -1)


def _blocks(rows: Sequence[Row]) -> Iterator[list[int]]:
    """List the places of each step's results in its block, without those of other steps."""
    for step in steps([row.message for row in rows]):
        replies = [row for row in rows[step.start : step.stop] if type(row.message) is Assistant]
        first, last = replies[0].at, replies[-1].at
        yield [
            place
            for place in range(step.start + len(replies), step.stop)
            if first <= _call_place(rows[place])[0] <= last
        ]
