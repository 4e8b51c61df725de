"""Whether a history is what a vendor accepts: all problems, and their places.

`check` never raises, whatever the history; `ensure` raises `HistoryError`. A checker finds the
problems of the codes that stand beside it in `CHECKERS`, and does nothing where the rules are
lenient.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from molo.errors import HistoryError
from molo.history.alphabets import is_written_in
from molo.history.arguments import arguments_fault
from molo.history.contents import blocks, is_empty, is_sealed, is_taken, text_rule
from molo.history.ids import Scope, are_distinct, id_space, scopes
from molo.history.rules import BLOCK_KINDS, COMMON, Role, Rules
from molo.history.structure import Pair, Pairing, pair
from molo.history.surrogates import unencodable
from molo.message import (
    Assistant,
    Message,
    System,
    Text,
    ToolResult,
    User,
    shown_id,
)

__all__ = ["Code", "Problem", "check", "ensure"]

Code = Literal[
    "empty_history",
    "no_user",
    "first_role",
    "last_role",
    "alternation",
    "system_place",
    "system_refused",
    "split_reply",
    "dangling_call",
    "orphaned_result",
    "misplaced_result",
    "duplicate_result",
    "results_order",
    "id_empty",
    "id_length",
    "id_chars",
    "id_repeated",
    "id_space",
    "tool_name",
    "arguments_invalid",
    "arguments_not_object",
    "arguments_not_finite",
    "arguments_repeated_key",
    "arguments_too_long",
    "content_empty",
    "content_blank",
    "content_trailing_blank",
    "reasoning_required",
    "reasoning_refused",
    "reasoning_unsealed",
    "block_kind",
    "text_not_utf8",
]
"""What can be wrong with a history; `TEXTS` says what each means."""

TEXTS: Mapping[Code, str] = {
    "empty_history": "The history has no messages.",
    "no_user": "The history has no User message.",
    "first_role": "No history begins with a message of this role.",
    "last_role": "No history ends with a message of this role.",
    "alternation": "The message has the role of the one before it.",
    "system_place": "A System message stands behind other messages.",
    "system_refused": "System messages are not taken.",
    "split_reply": "The reply before it has calls and goes on here, in front of their results.",
    "dangling_call": "Call {id} has no result.",
    "orphaned_result": "The result answers no call.",
    "misplaced_result": "The result does not stand in the block behind its call.",
    "duplicate_result": "The result answers a call that has one.",
    "results_order": "The result answers an earlier call than the result before it.",
    "id_empty": "The call has an empty id.",
    "id_length": "Id {id} is too short or too long.",
    "id_chars": "Id {id} has characters that are not taken.",
    "id_repeated": "Id {id} belongs to an earlier call.",
    "id_space": "Id {id} is not taken, and no other is left.",
    "tool_name": "The tool's name is empty, too long, or has characters that are not taken.",
    "arguments_invalid": "The arguments of call {id} are no JSON.",
    "arguments_not_object": "The arguments of call {id} are no JSON object.",
    "arguments_not_finite": "The arguments of call {id} hold NaN or Infinity.",
    "arguments_repeated_key": "The arguments of call {id} hold a key twice.",
    "arguments_too_long": "The arguments of call {id} are too long.",
    "content_empty": "The message or text block has no content.",
    "content_blank": "The text is nothing but white space.",
    "content_trailing_blank": "The last reply ends in white space.",
    "reasoning_required": "The reply lacks the reasoning that has to go back with it.",
    "reasoning_refused": "The reply holds reasoning.",
    "reasoning_unsealed": "The reasoning lacks the sealed data that has to go back with it.",
    "block_kind": "A block of this kind is not taken here.",
    "text_not_utf8": "A text in the message holds a lone surrogate.",
}


class Problem(Struct, frozen=True, gc=False):
    """One thing that keeps a history from being accepted.

    `at` is the index of the message (None: the history as a whole), `part` that of the call or
    block in it. `text` is a sentence without a word of the conversation.
    """

    code: Code
    at: int | None
    part: int | None
    text: str


def check(history: Sequence[Message], rules: Rules = COMMON) -> tuple[Problem, ...]:
    """List all problems of a history, sorted by place; empty if it is accepted.

    >>> from molo import Assistant, ToolCall, user
    >>> call = ToolCall("call_1", "weather", '{"city":"Bei')
    >>> for problem in check([user("Hi"), Assistant("", tool_calls=(call,)), user("Bye")]):
    ...     print(problem.at, problem.part, problem.code, problem.text)
    1 0 dangling_call Call `call_1` has no result.
    1 0 arguments_invalid The arguments of call `call_1` are no JSON.
    """
    view = _View(list(history), pair(history), rules)
    found = [problem for checker in CHECKERS.values() for problem in checker(view)]
    return tuple(sorted(found, key=_place))


def ensure(history: Sequence[Message], rules: Rules = COMMON) -> None:
    """Make sure that a history has no problems.

    Raises:
        HistoryError: it has; `problems` holds all of them, `path` is the place of the first.

    >>> ensure([])
    Traceback (most recent call last):
    molo.errors.HistoryError: Expected a history without problems, got 1 problem, first: \
The history has no messages. - at `$`
    """
    problems = check(history, rules)
    if not problems:
        return
    first, count = problems[0], len(problems)
    raise HistoryError(
        f"Expected a history without problems, got {count} problem{'s' * (count > 1)}, "
        f"first: {first.text}",
        path="$" if first.at is None else f"$[{first.at}]",
        problems=problems,
    )


class _View(Struct, frozen=True, gc=False):
    """What the checkers look at."""

    history: list[Message]
    pairing: Pairing
    rules: Rules


def _place(problem: Problem) -> tuple[int, int]:
    at, part = problem.at, problem.part
    return (-1 if at is None else at, -1 if part is None else part)


def _at(code: Code, at: int | None, part: int | None = None) -> Problem:
    return Problem(code, at, part, TEXTS[code])


def _of(code: Code, asked: Pair) -> Problem:
    return Problem(code, asked.at, asked.part, TEXTS[code].format(id=shown_id(asked.call.id)))


# Roles

ROLES: Mapping[type[Message], Role] = {
    System: "system",
    User: "user",
    Assistant: "assistant",
    ToolResult: "tool",
}


def _roles(view: _View) -> Iterator[Problem]:
    history, rules = view.history, view.rules
    if not history:
        yield _at("empty_history", None)
        return
    if rules.needs_user and not any(isinstance(message, User) for message in history):
        yield _at("no_user", None)
    first = next((at for at, m in enumerate(history) if not isinstance(m, System)), None)
    if first is not None and ROLES[type(history[first])] not in rules.first_roles:
        yield _at("first_role", first)
    if ROLES[type(history[-1])] not in rules.last_roles:
        yield _at("last_role", len(history) - 1)


def _neighbours(view: _View) -> Iterator[Problem]:
    rules = view.rules
    if rules.split_replies and not rules.alternation:
        return
    before: Message | None = None
    for at, message in enumerate(view.history):
        if isinstance(message, Assistant) and isinstance(before, Assistant):
            if before.tool_calls and not rules.split_replies:
                yield _at("split_reply", at)
            if rules.alternation:
                yield _at("alternation", at)
        elif rules.alternation and isinstance(message, User) and isinstance(before, User):
            yield _at("alternation", at)
        before = message


def _systems(view: _View) -> Iterator[Problem]:
    place = view.rules.system
    if place == "anywhere":
        return
    leading = True
    for at, message in enumerate(view.history):
        if not isinstance(message, System):
            leading = False
        elif place == "refused":
            yield _at("system_refused", at)
        elif not leading:
            yield _at("system_place", at)


# Calls and results


def _dangling(view: _View) -> Iterator[Problem]:
    for asked in view.pairing.pairs:
        if asked.result is None:
            yield _of("dangling_call", asked)


def _strays(view: _View) -> Iterator[Problem]:
    pairing = view.pairing
    for at in pairing.orphaned:
        yield _at("orphaned_result", at)
    for at in pairing.duplicate:
        yield _at("duplicate_result", at)
    if view.rules.results == "block":
        for at in pairing.misplaced:
            yield _at("misplaced_result", at)


def _results_order(view: _View) -> Iterator[Problem]:
    if not view.rules.results_in_call_order:
        return
    misplaced = set(view.pairing.misplaced)
    call_of = {
        asked.result_at: (asked.at, asked.part)
        for asked in view.pairing.pairs
        if asked.result_at is not None and asked.result_at not in misplaced
    }
    latest = (-1, -1)
    for at in sorted(call_of):  # blocks come one after the other, and so do their calls
        if call_of[at] < latest:
            yield _at("results_order", at)
        latest = max(latest, call_of[at])


def _ids(view: _View) -> Iterator[Problem]:
    space = id_space(view.rules)
    if are_distinct([asked.call.id for asked in view.pairing.pairs], space):
        return
    for asked_together in scopes(view.history, view.pairing.pairs, view.rules):
        scope = Scope(space)
        for asked in asked_together:
            if fault := scope.take(asked.call.id):
                yield _of(fault, asked)


def _names(view: _View) -> Iterator[Problem]:
    rules = view.rules
    if rules.name_chars == "any" and rules.name_max is None:
        return
    for asked in view.pairing.pairs:
        if not _is_name(asked.call.name, rules):
            yield _of("tool_name", asked)


def _is_name(name: str, rules: Rules) -> bool:
    if rules.name_max is not None and len(name) > rules.name_max:
        return False
    return rules.name_chars == "any" or (name != "" and is_written_in(name, rules.name_chars))


def _arguments(view: _View) -> Iterator[Problem]:
    shape, most = view.rules.arguments, view.rules.arguments_max
    for asked in view.pairing.pairs:
        text = asked.call.arguments
        if fault := arguments_fault(text, shape):
            yield _of(fault, asked)
        if most is not None and len(text) > most:
            yield _of("arguments_too_long", asked)


# Text


def _blank_text(view: _View) -> Iterator[Problem]:
    if view.rules.text == view.rules.result_text == "any":
        return
    for at, message in enumerate(view.history):
        wanted = text_rule(message, view.rules)
        if wanted == "any":
            continue
        if is_empty(message, view.rules):
            yield _at("content_empty", at)
        if wanted == "not_blank" and not isinstance(message, User) and message.content.isspace():
            yield _at("content_blank", at)
        for part, block in enumerate(blocks(message)):
            if isinstance(block, Text) and not block.text:
                yield _at("content_empty", at, part)
            elif isinstance(block, Text) and wanted == "not_blank" and block.text.isspace():
                yield _at("content_blank", at, part)


def _final_blank(view: _View) -> Iterator[Problem]:
    if view.rules.final_trailing_blank or not view.history:
        return
    last = view.history[-1]
    if isinstance(last, Assistant) and last.content[-1:].isspace():
        yield _at("content_trailing_blank", len(view.history) - 1)


def _encoding(view: _View) -> Iterator[Problem]:
    for at in unencodable(view.history):
        yield _at("text_not_utf8", at)


# Reasoning


def _reasoning(view: _View) -> Iterator[Problem]:
    rules = view.rules
    if rules.reasoning == "optional" and not rules.sealed_reasoning:
        return
    for at, reply in judged_replies(view.history, rules):
        if fault := reasoning_fault(reply, rules):
            yield _at(fault, at)


ReasoningFault = Literal["reasoning_required", "reasoning_refused", "reasoning_unsealed"]


def reasoning_fault(reply: Assistant, rules: Rules) -> ReasoningFault | None:
    """Say what keeps the reasoning of a reply, of which the rules speak, from being accepted."""
    given, sealed = reply.reasoning, is_sealed(reply, rules)
    unsealed = rules.sealed_reasoning and not sealed
    match rules.reasoning:
        case "refused":
            return "reasoning_refused" if given is not None or sealed else None
        case "required":
            enough = sealed or (given is not None and (given != "" or rules.empty_reasoning))
            return None if enough and not unsealed else "reasoning_required"
        case "optional":
            return "reasoning_unsealed" if given is not None and unsealed else None


_Replies = list[tuple[int, Assistant]]


def judged_replies(history: Sequence[Message], rules: Rules) -> Iterator[tuple[int, Assistant]]:
    """List the replies of which `Rules.reasoning` speaks, with their indices."""
    turn: _Replies = []  # the replies since the last User
    for at, message in enumerate(history):
        if isinstance(message, Assistant):
            turn.append((at, message))
        elif isinstance(message, User):
            yield from _judged_in_turn(turn, rules, current=False)
            turn = []
    yield from _judged_in_turn(turn, rules, current=True)


def _judged_in_turn(turn: _Replies, rules: Rules, *, current: bool) -> _Replies:
    calling = [(at, reply) for at, reply in turn if reply.tool_calls]
    match rules.reasoning_in:
        case "all":
            return turn
        case "calls":
            return calling
        case "tool_turns":
            return turn if calling else []
        case "current_turn":
            return turn if current else []


# Blocks


def _block_kinds(view: _View) -> Iterator[Problem]:
    rules = view.rules
    taken = (rules.user_blocks, rules.assistant_blocks, rules.result_blocks)
    if not rules.dialect and taken == (BLOCK_KINDS, BLOCK_KINDS, BLOCK_KINDS):
        return
    for at, message in enumerate(view.history):
        for part, block in enumerate(blocks(message)):
            if not is_taken(block, message, rules):
                yield _at("block_kind", at, part)


# A checker yields the problems of the codes beside it.

Checker = Callable[[_View], Iterator[Problem]]

CHECKERS: Mapping[tuple[Code, ...], Checker] = {
    ("empty_history", "no_user", "first_role", "last_role"): _roles,
    ("split_reply", "alternation"): _neighbours,
    ("system_place", "system_refused"): _systems,
    ("dangling_call",): _dangling,
    ("orphaned_result", "misplaced_result", "duplicate_result"): _strays,
    ("results_order",): _results_order,
    ("id_empty", "id_length", "id_chars", "id_repeated", "id_space"): _ids,
    ("tool_name",): _names,
    (
        "arguments_invalid",
        "arguments_not_object",
        "arguments_not_finite",
        "arguments_repeated_key",
        "arguments_too_long",
    ): _arguments,
    ("content_empty", "content_blank"): _blank_text,
    ("content_trailing_blank",): _final_blank,
    ("reasoning_required", "reasoning_refused", "reasoning_unsealed"): _reasoning,
    ("block_kind",): _block_kinds,
    ("text_not_utf8",): _encoding,
}
