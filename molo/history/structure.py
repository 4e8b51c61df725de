"""The structure of a history: its turns, its steps, and which result answers which call.

A **turn** is a User message and all after it until the next User. A **step** is a run of adjacent
Assistant messages (one, as it should be) and the block of ToolResults right behind it. The
functions read any history, however broken, raise nothing and change nothing; all take time linear
in the number of messages and calls.

They compare exact types: a failing isinstance against a msgspec type takes six times as long.
"""

from collections import deque
from collections.abc import Sequence

from msgspec import Struct

from molo.message import Assistant, Message, ToolCall, ToolResult, User

__all__ = ["Pair", "Pairing", "Step", "Turn", "pair", "steps", "turns"]


class Turn(Struct, frozen=True, gc=False):
    """The messages `history[start:stop]`: a User message and all after it until the next."""

    start: int
    stop: int


class Step(Struct, frozen=True, gc=False):
    """The messages `history[start:stop]`: a run of Assistants and the results right behind it."""

    start: int
    stop: int


class Pair(Struct, frozen=True, gc=False):
    """A call and the result that answers it.

    `call` is `history[at].tool_calls[part]`, `result` is `history[result_at]`. Of a dangling call
    `result` and `result_at` are None.
    """

    at: int
    part: int
    call: ToolCall
    result_at: int | None
    result: ToolResult | None


class Pairing(Struct, frozen=True, gc=False):
    """What `pair` found: a Pair for each call, in order, and the indices of stray results.

    `orphaned` results answer no call. `misplaced` ones answer a call (and stand in its Pair) but
    not in the block of its step. `duplicate` ones answer a call of their step that an earlier
    result has answered.
    """

    pairs: tuple[Pair, ...]
    orphaned: tuple[int, ...]
    misplaced: tuple[int, ...]
    duplicate: tuple[int, ...]

    @property
    def dangling(self) -> tuple[Pair, ...]:
        """The pairs that lack a result."""
        return tuple(pair for pair in self.pairs if pair.result is None)


def turns(history: Sequence[Message]) -> tuple[Turn, ...]:
    """List the turns of a history; what stands before the first User belongs to none.

    >>> from molo import assistant, system, user
    >>> turns([system("Be brief."), user("Hi"), assistant("Hello"), user("Bye")])
    (Turn(start=1, stop=3), Turn(start=3, stop=4))
    """
    starts = [at for at, kind in enumerate(map(type, history)) if kind is User]
    return tuple(map(Turn, starts, [*starts[1:], len(history)]))


def steps(history: Sequence[Message]) -> tuple[Step, ...]:
    """List the steps of a history; a result that no Assistant stands before belongs to none.

    >>> from molo import assistant, tool_result, user
    >>> steps([user("Hi"), assistant("Let me look."), tool_result("call_1", "Sunny"), user("Bye")])
    (Step(start=1, stop=3),)
    """
    found: list[Step] = []
    start = None
    previous: type[Message] | None = None
    for at, kind in enumerate(map(type, history)):
        begins = kind is Assistant and previous is not Assistant
        ends = begins or (kind is not Assistant and kind is not ToolResult)
        if ends and start is not None:
            found.append(Step(start, at))
            start = None
        if begins:
            start = at
        previous = kind
    if start is not None:
        found.append(Step(start, len(history)))
    return tuple(found)


def pair(history: Sequence[Message]) -> Pairing:
    """Find the result of each call.

    Ids are compared within one step, never over the whole history: they restart in every turn in
    the wild (`call_0`, `functions.f:0`). Each result, in order, is

    1. in the block of a step: the answer to the first unanswered call of that step with its id
       (an empty id is an id like any other here);
    2. else, if that step has an answered call with its id: duplicate;
    3. else, if its id is not empty, the misplaced answer to an unanswered call with its id, the
       first one of the nearest earlier step that has one;
    4. else orphaned.

    >>> from molo import Assistant, ToolCall, tool_result
    >>> call = ToolCall("call_1", "weather", "{}")
    >>> pairing = pair([Assistant("", tool_calls=(call,)), tool_result("call_1", "Sunny")])
    >>> [(pair.at, pair.part, pair.result_at) for pair in pairing.pairs]
    [(0, 0, 1)]
    """
    in_order = _in_order(history)
    return _by_id(history) if in_order is None else Pairing(tuple(in_order), (), (), ())


def _in_order(history: Sequence[Message]) -> list[Pair] | None:
    """Pair calls and results that all stand as they should: then no id needs to be looked up.

    None if one does not: results come right behind the message that asks for them, in the order of
    its calls.
    """
    pairs: list[Pair] = []
    calls: tuple[ToolCall, ...] = ()
    called_at = part = 0  # `part` of the calls have their results
    for at, message in enumerate(history):
        if type(message) is ToolResult:
            if part == len(calls) or calls[part].id != message.id:
                return None
            pairs.append(Pair(called_at, part, calls[part], at, message))
            part += 1
        elif part < len(calls):
            return None
        elif type(message) is Assistant:
            calls, called_at, part = message.tool_calls, at, 0
    return pairs if part == len(calls) else None


def _by_id(history: Sequence[Message]) -> Pairing:
    pairs: list[Pair] = []
    orphaned: list[int] = []
    misplaced: list[int] = []
    duplicate: list[int] = []
    waiting: _Waiting = {}
    earlier: dict[str, list[deque[int]]] = {}
    in_run = False
    for at, message in enumerate(history):
        if type(message) is ToolResult:
            in_run = False
            same_id = waiting.get(message.id)
            if same_id:
                _answer(pairs, same_id.popleft(), at, message)
            elif same_id is not None:
                duplicate.append(at)
            elif message.id in earlier:
                _answer(pairs, _take_nearest(earlier, message.id), at, message)
                misplaced.append(at)
            else:
                orphaned.append(at)
        elif type(message) is Assistant:
            if not in_run:
                waiting = _leave_step(waiting, earlier)
                in_run = True
            for part, call in enumerate(message.tool_calls):
                waiting.setdefault(call.id, deque()).append(len(pairs))
                pairs.append(Pair(at, part, call, None, None))
        else:
            waiting = _leave_step(waiting, earlier)
            in_run = False
    return Pairing(tuple(pairs), tuple(orphaned), tuple(misplaced), tuple(duplicate))


# The unanswered calls of the step at hand by id, as indices into the pairs. An empty deque is an
# id whose calls are all answered.
_Waiting = dict[str, deque[int]]


def _answer(pairs: list[Pair], number: int, at: int, result: ToolResult) -> None:
    asked = pairs[number]
    pairs[number] = Pair(asked.at, asked.part, asked.call, at, result)


def _leave_step(waiting: _Waiting, earlier: dict[str, list[deque[int]]]) -> _Waiting:
    """Put what is unanswered with the earlier steps, and begin anew."""
    for id, unanswered in waiting.items():
        if unanswered and id:
            earlier.setdefault(id, []).append(unanswered)
    return {}


def _take_nearest(earlier: dict[str, list[deque[int]]], id: str) -> int:
    nearest = earlier[id][-1]
    number = nearest.popleft()
    if not nearest:
        earlier[id].pop()
        if not earlier[id]:
            del earlier[id]
    return number
