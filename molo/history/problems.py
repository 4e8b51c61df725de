"""Whether a history is what a vendor accepts: all problems, and their places.

`check` takes any list of messages, however broken; `ensure` raises `HistoryError`. `CHECKERS` says
who finds the problems of a code, and which rules ask for it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from molo.errors import HistoryError
from molo.history.alphabets import are_written_in
from molo.history.arguments import arguments_fault
from molo.history.contents import blocks, is_empty, is_sealed, is_taken, own_text, text_rule
from molo.history.ids import Scope, are_ids, id_space, scopes
from molo.history.rules import COMMON, Role, Rules
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

    Raises:
        EncodeError: an item is no message, but a dict, say (`molo.json.from_builtins` reads
            those); `path` says which.

    >>> from molo import Assistant, ToolCall, user
    >>> call = ToolCall("call_1", "weather", '{"city":"Bei')
    >>> for problem in check([user("Hi"), Assistant("", tool_calls=(call,)), user("Bye")]):
    ...     print(problem.at, problem.part, problem.code, problem.text)
    1 0 dangling_call Call `call_1` has no result.
    1 0 arguments_invalid The arguments of call `call_1` are no JSON.
    """
    view = _View(list(history), pair(history), rules, [])
    try:
        finders = _finders(rules)
    except TypeError:  # a list where a tuple should be: such rules cannot be hashed
        finders = _choose(rules)
    for find in finders:
        find(view)
    return tuple(sorted(view.found, key=_place)) if view.found else ()


def ensure(history: Sequence[Message], rules: Rules = COMMON) -> None:
    """Make sure that a history has no problems.

    Raises:
        HistoryError: it has; `problems` holds all of them, `path` is the place of the first.
        EncodeError: an item is no message; `path` says which.

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
    """What the checkers look at, and what they found so far."""

    history: list[Message]
    pairing: Pairing
    rules: Rules
    found: list[Problem]

    def note(self, code: Code, at: int | None, part: int | None = None) -> None:
        """Add a problem of a message, of a part of it, or of the history."""
        self.found.append(Problem(code, at, part, TEXTS[code]))

    def note_call(self, code: Code, asked: Pair) -> None:
        """Add a problem of a call."""
        text = TEXTS[code].format(id=shown_id(asked.call.id))
        self.found.append(Problem(code, asked.at, asked.part, text))


def _place(problem: Problem) -> tuple[int, int]:
    at, part = problem.at, problem.part
    return (-1 if at is None else at, -1 if part is None else part)


# Roles

ROLES: Mapping[type[Message], Role] = {
    System: "system",
    User: "user",
    Assistant: "assistant",
    ToolResult: "tool",
}


def _emptiness(view: _View) -> None:
    if not view.history:
        view.note("empty_history", None)


def _roles(view: _View) -> None:
    history, rules = view.history, view.rules
    if not history:
        return
    if rules.needs_user and User not in map(type, history):
        view.note("no_user", None)
    for at, message in enumerate(history):
        if type(message) is not System:
            if ROLES[type(message)] not in rules.first_roles:
                view.note("first_role", at)
            break
    if ROLES[type(history[-1])] not in rules.last_roles:
        view.note("last_role", len(history) - 1)


def _neighbours(view: _View) -> None:
    rules = view.rules
    before: Message | None = None
    for at, message in enumerate(view.history):
        if type(message) is Assistant and type(before) is Assistant:
            if before.tool_calls and not rules.split_replies:
                view.note("split_reply", at)
            if rules.alternation:
                view.note("alternation", at)
        elif rules.alternation and type(message) is User and type(before) is User:
            view.note("alternation", at)
        before = message


def _systems(view: _View) -> None:
    place = view.rules.system
    leading = True
    for at, message in enumerate(view.history):
        if type(message) is not System:
            leading = False
        elif place == "refused":
            view.note("system_refused", at)
        elif not leading:
            view.note("system_place", at)


# Calls and results


def _dangling(view: _View) -> None:
    for asked in view.pairing.pairs:
        if asked.result is None:
            view.note_call("dangling_call", asked)


def _strays(view: _View) -> None:
    pairing = view.pairing
    for at in pairing.orphaned:
        view.note("orphaned_result", at)
    for at in pairing.duplicate:
        view.note("duplicate_result", at)
    if view.rules.results == "block":
        for at in pairing.misplaced:
            view.note("misplaced_result", at)


def _results_order(view: _View) -> None:
    misplaced = set(view.pairing.misplaced)
    call_of = {
        asked.result_at: (asked.at, asked.part)
        for asked in view.pairing.pairs
        if asked.result_at is not None and asked.result_at not in misplaced
    }
    latest = (-1, -1)
    for at in sorted(call_of):  # blocks come one after the other, and so do their calls
        if call_of[at] < latest:
            view.note("results_order", at)
        latest = max(latest, call_of[at])


def _ids(view: _View) -> None:
    pairs, rules = view.pairing.pairs, view.rules
    ids = {asked.call.id for asked in pairs}
    if len(ids) == len(pairs) and are_ids(ids, rules):  # mostly so; then no scope matters
        return
    space = id_space(rules)
    for asked_together in scopes(view.history, pairs, rules):
        scope = Scope(space)
        for asked in asked_together:
            if fault := scope.take(asked.call.id):
                view.note_call(fault, asked)


def _names(view: _View) -> None:
    rules = view.rules
    if _are_names({asked.call.name for asked in view.pairing.pairs}, rules):
        return
    for asked in view.pairing.pairs:
        if not _are_names({asked.call.name}, rules):
            view.note_call("tool_name", asked)


def _are_names(names: Set[str], rules: Rules) -> bool:
    shortest = 0 if rules.name_chars == "any" else 1
    return are_written_in(names, rules.name_chars, shortest, rules.name_max)


def _arguments(view: _View) -> None:
    shape, most = view.rules.arguments, view.rules.arguments_max
    for asked in view.pairing.pairs:
        text = asked.call.arguments
        if fault := arguments_fault(text, shape):
            view.note_call(fault, asked)
        if most is not None and len(text) > most:
            view.note_call("arguments_too_long", asked)


# Text


def _blank_text(view: _View) -> None:
    for at, message in enumerate(view.history):
        wanted = text_rule(message, view.rules)
        if wanted == "any":
            continue
        text = own_text(message)
        if not text and is_empty(message, view.rules):
            view.note("content_empty", at)
        if wanted == "not_blank" and text.isspace():
            view.note("content_blank", at)
        for part, block in enumerate(blocks(message)):
            if type(block) is Text and not block.text:
                view.note("content_empty", at, part)
            elif type(block) is Text and wanted == "not_blank" and block.text.isspace():
                view.note("content_blank", at, part)


def _final_blank(view: _View) -> None:
    last = view.history[-1] if view.history else None
    if type(last) is Assistant and last.content[-1:].isspace():
        view.note("content_trailing_blank", len(view.history) - 1)


def _encoding(view: _View) -> None:
    for at in unencodable(view.history):
        view.note("text_not_utf8", at)


# Reasoning


def _reasoning(view: _View) -> None:
    rules = view.rules
    for at, reply in judged_replies(view.history, rules):
        if fault := reasoning_fault(reply, rules):
            view.note(fault, at)


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
        if type(message) is Assistant:
            turn.append((at, message))
        elif type(message) is User:
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


def _block_kinds(view: _View) -> None:
    rules = view.rules
    for at, message in enumerate(view.history):
        for part, block in enumerate(blocks(message)):
            if not is_taken(block, message, rules):
                view.note("block_kind", at, part)


# The checkers


class _Checker(Struct, frozen=True):
    """What notes the problems of some codes.

    Where the rules ask for no more than `COMMON` does, a checker with `asked` has nothing to find.
    """

    codes: tuple[Code, ...]
    find: Callable[[_View], None]
    asked: Callable[[Rules], object] | None = None


CHECKERS: Sequence[_Checker] = (
    _Checker(("text_not_utf8",), _encoding),  # first: it also sees what is no message
    _Checker(("empty_history",), _emptiness),
    _Checker(
        ("no_user", "first_role", "last_role"),
        _roles,
        lambda rules: (rules.needs_user, rules.first_roles, rules.last_roles),
    ),
    _Checker(
        ("split_reply", "alternation"),
        _neighbours,
        lambda rules: (rules.split_replies, rules.alternation),
    ),
    _Checker(("system_place", "system_refused"), _systems, lambda rules: rules.system),
    _Checker(("dangling_call",), _dangling),
    _Checker(("orphaned_result", "misplaced_result", "duplicate_result"), _strays),
    _Checker(("results_order",), _results_order, lambda rules: rules.results_in_call_order),
    _Checker(("id_empty", "id_length", "id_chars", "id_repeated", "id_space"), _ids),
    _Checker(("tool_name",), _names, lambda rules: (rules.name_chars, rules.name_max)),
    _Checker(
        (
            "arguments_invalid",
            "arguments_not_object",
            "arguments_not_finite",
            "arguments_repeated_key",
            "arguments_too_long",
        ),
        _arguments,
    ),
    _Checker(
        ("content_empty", "content_blank"),
        _blank_text,
        lambda rules: (rules.text, rules.result_text),
    ),
    _Checker(("content_trailing_blank",), _final_blank, lambda rules: rules.final_trailing_blank),
    _Checker(
        ("reasoning_required", "reasoning_refused", "reasoning_unsealed"),
        _reasoning,
        lambda rules: (rules.reasoning, rules.sealed_reasoning),
    ),
    _Checker(
        ("block_kind",),
        _block_kinds,
        lambda rules: (
            rules.dialect,
            rules.user_blocks,
            rules.assistant_blocks,
            rules.result_blocks,
        ),
    ),
)


def _choose(rules: Rules) -> tuple[Callable[[_View], None], ...]:
    """Choose the checkers that these rules need."""
    return tuple(
        checker.find
        for checker in CHECKERS
        if checker.asked is None or checker.asked(rules) != checker.asked(COMMON)
    )


_finders = lru_cache(maxsize=64)(_choose)
