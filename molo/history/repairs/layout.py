"""Passes that put messages in their places: results behind their calls, Systems in front."""

from collections.abc import Iterator, Sequence

from molo.history.repairs.draft import Draft, Row
from molo.history.structure import Pair, Step, steps
from molo.message import Assistant, Message, System, ToolResult

__all__ = ["SYNTHESIZED_RESULT", "move_systems", "place_results", "sort_results"]

SYNTHESIZED_RESULT = "No result of this call was recorded; this message was put in its place."
"""The content of the results that `repair` adds; they also have `is_error=True`."""


def place_results(draft: Draft) -> None:
    """Take out stray results, move late ones into the block of their step, add missing ones."""
    gone = _take_out_strays(draft)
    endings: dict[int, list[Row]] = {}  # what comes in front of the message of this index
    for step, asked in _by_step(draft.history(), draft.pairing.pairs):
        if asked.result_at is None:
            endings.setdefault(step.stop, []).append(_synthesized(draft, asked))
        elif asked.result_at >= step.stop and _wants_blocks(draft):
            endings.setdefault(step.stop, []).append(_moved(draft, asked.result_at))
            gone.add(asked.result_at)
    rows: list[Row] = []
    for at, row in enumerate(draft.inputs):
        rows += sorted(endings.get(at, ()), key=_late_first)
        if at not in gone:
            rows.append(row)
    rows += sorted(endings.get(len(draft.inputs), ()), key=_late_first)
    draft.rows = rows


def _wants_blocks(draft: Draft) -> bool:
    """Where ids ran out, some are not unique: only a block then tells whose a result is."""
    return draft.rules.results == "block" or draft.ids_ran_out


def _take_out_strays(draft: Draft) -> set[int]:
    for at in draft.pairing.orphaned:
        row = draft.inputs[at]
        text = "The result, which answers no call, was taken out."
        draft.record("orphaned_result", row, None, row.message, None, text)
    for at in draft.pairing.duplicate:
        row = draft.inputs[at]
        text = "The result, the second of its call, was taken out."
        draft.record("duplicate_result", row, None, row.message, None, text)
    return {*draft.pairing.orphaned, *draft.pairing.duplicate}


def _by_step(history: Sequence[Message], pairs: Sequence[Pair]) -> Iterator[tuple[Step, Pair]]:
    remaining = iter(pairs)
    asked = next(remaining, None)
    for step in steps(history):
        while asked is not None and asked.at < step.stop:
            yield step, asked
            asked = next(remaining, None)


def _synthesized(draft: Draft, asked: Pair) -> Row:
    result = ToolResult(draft.call(asked).id, SYNTHESIZED_RESULT, is_error=True)
    row = Row(asked.at, result, call=(asked.at, asked.part), is_new=True)
    text = "A result was added that says that none was recorded."
    draft.record("dangling_call", row, asked.part, None, result, text)
    return row


def _moved(draft: Draft, at: int) -> Row:
    row = draft.inputs[at]
    text = "The result moved into the block behind its call."
    draft.record("misplaced_result", row, None, row.message, row.message, text)
    return row


def _late_first(row: Row) -> tuple[bool, int]:
    """Sort late results by where they stood, and the added ones, in their order, behind them."""
    return (True, 0) if row.is_new else (False, row.at)


def move_systems(draft: Draft) -> None:
    """Move System messages that stand behind others to the end of the leading ones."""
    if draft.rules.system != "leading":
        return
    systems = [row for row in draft.rows if isinstance(row.message, System)]
    others = [row for row in draft.rows if not isinstance(row.message, System)]
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
            if draft.rows[place] is not row:
                text = "The result moved to where its call stands among the calls."
                draft.record("results_order", row, None, row.message, row.message, text)
                draft.rows[place] = row


def _call_place(row: Row) -> tuple[int, int]:
    return row.call or (-1, -1)


def _blocks(rows: Sequence[Row]) -> Iterator[list[int]]:
    """List the places of each step's results in its block, without those of other steps."""
    for step in steps([row.message for row in rows]):
        replies = [
            row for row in rows[step.start : step.stop] if isinstance(row.message, Assistant)
        ]
        first, last = replies[0].at, replies[-1].at
        yield [
            place
            for place in range(step.start + len(replies), step.stop)
            if first <= _call_place(rows[place])[0] <= last
        ]
