"""Making a history acceptable, with a list of everything that was changed.

`repair` is total: whatever the history and the rules, what it gives back has only problems that
nothing can mend without inventing or deleting what somebody wrote. It is deterministic, mends
nothing that `check` does not complain about, and repairing twice changes nothing.

What decides is what loses least:

- A late result is moved to its call; only a call that has no result anywhere gets one made up,
  which says so and has `is_error=True`. What stood between goes behind the block.
- Results that answer nothing, and second results, are taken out; the change holds them.
- Replies in pieces are joined, their texts by a blank line.
- Ids are settled from left to right, and results follow their calls.
- Arguments are never completed: an object that holds their text takes their place.
- Text is never deleted, but for white space where blank text is refused and U+FFFD in the place of
  lone surrogates. A message that says nothing says so, where it has to say something.
- Reasoning goes only where the rules refuse it; missing reasoning becomes `""` where that will do.

To mend a new rule: a function in one of the modules here, and its place in `PASSES`.
"""

from collections.abc import Callable, Sequence

from molo.history.problems import check
from molo.history.repairs.calls import mend_arguments, mend_ids, mend_text
from molo.history.repairs.draft import Change, ChangeCode, Draft, Repaired
from molo.history.repairs.layout import (
    SYNTHESIZED_RESULT,
    move_systems,
    place_results,
    sort_results,
    take_out_strays,
)
from molo.history.repairs.replies import (
    NO_CONTENT,
    drop_blank_text,
    fill_empty,
    join_neighbours,
    mend_reasoning,
    strip_ending,
)
from molo.history.rules import COMMON, Rules
from molo.message import Message

__all__ = [
    "NO_CONTENT",
    "SYNTHESIZED_RESULT",
    "Change",
    "ChangeCode",
    "Repaired",
    "repair",
]

# The order matters: what a pass reads must not be changed by a later one. Those of the first group
# see messages where they stood in the input, those of the last see them as they come out.
PASSES: tuple[Callable[[Draft], None], ...] = (
    take_out_strays,
    mend_text,
    mend_ids,
    mend_arguments,
    drop_blank_text,
    #
    place_results,
    move_systems,
    sort_results,
    join_neighbours,
    #
    strip_ending,
    mend_reasoning,
    fill_empty,
)


def repair(history: Sequence[Message], rules: Rules = COMMON) -> Repaired:
    """Mend a history so that it is what these rules accept, as far as anything can.

    `remaining` is what `check` says of the history that comes out. Its codes can only be
    `empty_history`, `no_user`, `first_role`, `last_role`, `block_kind`, `system_refused`,
    `tool_name`, `arguments_too_long`, `id_space` and `reasoning_required`. Of a history without
    problems the same messages come back, and no changes.

    Raises:
        EncodeError: an item is no message; `path` says which.

    >>> from molo import Assistant, ToolCall, user
    >>> call = ToolCall("call_1", "weather", "{}")
    >>> repaired = repair([Assistant("", tool_calls=(call,)), user("Never mind.")])
    >>> repaired.history[1].content
    'No result of this call was recorded; this message was put in its place.'
    >>> [(change.code, change.at, change.part, change.to) for change in repaired.changes]
    [('dangling_call', 0, 0, 1)]
    """
    found = check(history, rules)
    if not found:
        return Repaired(list(history), (), ())
    draft = Draft(history, rules)
    for mend in PASSES:
        mend(draft)
    mended = draft.history()
    return Repaired(mended, draft.changes(), check(mended, rules))
