"""A history cut to a budget, in whole steps, so that no pair is broken; and how long a message is.

Nothing is rewritten: what is kept are the same messages, in their order.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from molo.history.structure import pair
from molo.message import (
    Assistant,
    Audio,
    ContentBlock,
    File,
    Image,
    Message,
    System,
    Text,
    ToolResult,
    User,
    Wire,
)

__all__ = ["Trimmed", "estimate_tokens", "trim"]


class Trimmed(Struct, frozen=True):
    """What `trim` kept, and what follows from it.

    `dropped` are the indices, in the input, of the messages that are gone. `unbound` are those of
    kept messages whose sealed data was bound to a dropped one before it: the vendor refuses it now
    (replace their `provider_data` by None). Both are in order. `over` is by how much what has to be
    kept is over the budget: in tokens if `max_tokens` is too small for it, else in messages, else
    in turns; 0 if it is within.
    """

    history: list[Message]
    dropped: tuple[int, ...]
    unbound: tuple[int, ...]
    over: int


def estimate_tokens(message: Message) -> int:
    """Estimate how many tokens a message takes up in a prompt, without a tokenizer.

    A token is taken for 4 bytes of UTF-8. What counts is text, reasoning, the names and arguments
    of calls, results, 4 tokens around each message and call, and attachments by kind and size;
    not `provider_data`. Always the same for the same message, and at least 4.

    How good that is, as estimate over truth, measured with the tokenizers o200k (GPT-4o), tekken
    (Mistral) and DeepSeek V3: English prose, JSON and source code 0.8 to 1.25; European languages
    in Latin letters 0.8 to 1.1; Chinese, Japanese and Korean 0.7 to 1.1; Cyrillic, Arabic,
    Devanagari, Thai 1.0 to 1.7. Too low for digits (0.25 to 0.6), emoji (0.3 to 0.7) and base64
    (0.35). Older tokenizers take twice as much for other scripts than Latin. For a hard limit,
    leave a margin, or give `trim` the vendor's own count.

    >>> from molo import user
    >>> estimate_tokens(user("How is the weather in Beijing?"))
    12
    """
    # No `match`: it would take as long as all the rest, since isinstance against a msgspec type is
    # slow where the answer is no.
    size = 0
    blocks: tuple[ContentBlock, ...] = ()
    if type(message) is Assistant:
        size, blocks = _text(message.content), message.attachments
        if message.reasoning is not None:
            size += _text(message.reasoning)
        for call in message.tool_calls:
            size += _FRAME * _BYTES_PER_TOKEN + _text(call.name) + _text(call.arguments)
    elif type(message) is ToolResult:
        size, blocks = _text(message.content), message.attachments
    elif isinstance(message, User):
        blocks = message.content
    else:
        size = _text(message.content)
    for block in blocks:
        size += _text(block.text) if isinstance(block, Text) else _medium(block)
    return _FRAME - (-size // _BYTES_PER_TOKEN)


def trim(
    history: Sequence[Message],
    *,
    max_turns: int | None = None,
    max_messages: int | None = None,
    max_tokens: int | None = None,
    count_tokens: Callable[[Message], int] = estimate_tokens,
) -> Trimmed:
    """Keep the newest steps that fit into every budget that is given.

    Always kept are the leading System messages, the User message of the newest turn, and the last
    step of that turn if it has one; they count towards the budget. Then step after step is added,
    from the newest to the oldest, until one does not fit:

    - A step is kept or dropped whole, together with what stands between it and the next step or
      User (a System message, a stray result). What stands between a User and the first step of
      its turn is like a step.
    - With the first step that is kept of an older turn comes that turn's User.
    - A misplaced result stays with its call: all from the step of the one to the other is kept or
      dropped as one.
    - What stands before the first User is older than the first turn and no turn of its own.
      Without a User, the history is one turn.

    So trimming makes no new kind of problem: `check` finds none in what is kept that it would not
    find in the history. `count_tokens` is called at most once a message, and only if `max_tokens`
    is given.

    Raises:
        ValueError: a budget is negative.

    >>> from molo import assistant, system, user
    >>> history = [system("Be brief."), user("Hi"), assistant("Hello"), user("Bye")]
    >>> trimmed = trim(history, max_turns=1)
    >>> trimmed.history, trimmed.dropped
    ([System(content='Be brief.'), User(content=(Text(text='Bye'),))], (1, 2))
    """
    if any(limit is not None and limit < 0 for limit in (max_turns, max_messages, max_tokens)):
        raise ValueError("Expected budgets of at least 0, got a negative one")
    budget = _Budget(history, max_turns, max_messages, max_tokens, count_tokens)
    if budget.holds_all():
        return Trimmed(list(history), (), (), 0)
    leading = _leading(history)
    order, units = _units(history, leading)
    firsts = _firsts(history, order, units)
    oldest = next(firsts, 0)
    budget.spend(range(leading))
    budget.spend(order[oldest:])
    over = budget.excess()
    for first in firsts:
        if over or not budget.holds(order[first:oldest]):
            break
        oldest = first
    dropped = tuple(sorted(order[:oldest]))
    gone = set(dropped)
    kept = [at for at in range(len(history)) if at not in gone]
    return Trimmed([history[at] for at in kept], dropped, _unbound(history, kept), over)


class _Budget:
    """What may be kept, and how much of it is; no message is counted twice."""

    def __init__(
        self,
        history: Sequence[Message],
        max_turns: int | None,
        max_messages: int | None,
        max_tokens: int | None,
        count_tokens: Callable[[Message], int],
    ) -> None:
        self._history = history
        self._limits = (max_tokens, max_messages, max_turns)
        self._count_tokens = count_tokens
        self._counted: dict[int, int] = {}
        self._users = 0
        if max_turns is not None:
            self._users = sum(type(message) is User for message in history)
        self._tokens = self._messages = 0
        self._turns = 0 if self._users or not history else 1  # without a User it is one turn

    def holds_all(self) -> bool:
        """Tell whether nothing has to go; counts from the newest on, and no more than needed."""
        max_tokens, max_messages, max_turns = self._limits
        if max_messages is not None and len(self._history) > max_messages:
            return False
        if max_turns is not None and self._turns + self._users > max_turns:
            return False
        if max_tokens is None:
            return True
        counted, count_tokens, tokens = self._counted, self._count_tokens, 0
        for at in reversed(range(len(self._history))):
            counted[at] = count = count_tokens(self._history[at])
            tokens += count
            if tokens > max_tokens:
                return False
        return True

    def holds(self, unit: Iterable[int]) -> bool:
        """Keep some more messages; tell whether all that is kept is within the limits."""
        self.spend(unit)
        return self.excess() == 0

    def spend(self, unit: Iterable[int]) -> None:
        """Keep some more messages."""
        for at in unit:
            self._messages += 1
            self._turns += type(self._history[at]) is User
            if self._limits[0] is not None:
                self._tokens += self._tokens_of(at)

    def excess(self) -> int:
        """By how much the first limit that is exceeded is; 0 if none is."""
        spent = (self._tokens, self._messages, self._turns)
        for amount, limit in zip(spent, self._limits, strict=True):
            if limit is not None and amount > limit:
                return amount - limit
        return 0

    def _tokens_of(self, at: int) -> int:
        tokens = self._counted.get(at)
        if tokens is None:
            tokens = self._counted[at] = self._count_tokens(self._history[at])
        return tokens


def _leading(history: Sequence[Message]) -> int:
    """Count the System messages in front of everything else."""
    for at, message in enumerate(history):
        if type(message) is not System:
            return at
    return len(history)


def _units(history: Sequence[Message], leading: int) -> tuple[list[int], list[int]]:
    """Put what follows the leading System messages in the order in which it is dropped.

    Gives indices of messages, and the places in that list where a unit begins, the least that is
    kept or dropped: a step and what stands behind it. A User comes last in its turn, so that the
    newest unit of the turn has it.
    """
    order: list[int] = []
    units: list[int] = []
    user: list[int] = []
    turn = 0  # how many units are older than the turn at hand
    in_run = False
    for at in range(leading, len(history)):
        kind = type(history[at])
        if kind is User:
            _close_turn(order, units, turn, user)
            user, turn = [at], len(units)
        else:
            if len(units) == turn or (kind is Assistant and not in_run):
                units.append(len(order))
            order.append(at)
        in_run = kind is Assistant
    _close_turn(order, units, turn, user)
    return order, units


def _close_turn(order: list[int], units: list[int], turn: int, user: list[int]) -> None:
    if user and len(units) == turn:
        units.append(len(order))
    order += user


def _firsts(history: Sequence[Message], order: list[int], units: list[int]) -> Iterator[int]:
    """Say, from the newest on, which units can be the oldest that is kept.

    A unit cannot where a newer one holds a result that answers a call of an older one.
    """
    called = _called(history, order, units) if _has_strays(history) else {}
    oldest = len(order)
    for first in reversed(units):
        oldest = min(oldest, called.get(first, first))
        if oldest == first:
            yield first


def _called(history: Sequence[Message], order: list[int], units: list[int]) -> dict[int, int]:
    """Map each unit that holds misplaced results to the oldest one that holds a call of theirs."""
    stops = [*units[1:], len(order)]
    unit_of = {
        at: start for start, stop in zip(units, stops, strict=True) for at in order[start:stop]
    }
    pairing = pair(history)
    misplaced = set(pairing.misplaced)
    called: dict[int, int] = {}
    for call in pairing.pairs:  # in the order of the calls
        if call.result_at in misplaced:
            called.setdefault(unit_of[call.result_at], unit_of[call.at])
    return called


def _has_strays(history: Sequence[Message]) -> bool:
    """Tell whether any result stands where its id is no call's: only then one can be misplaced.

    Most histories have none, and this is faster than `pair`.
    """
    ids: set[str] = set()
    in_run = False
    for message in history:
        if type(message) is ToolResult:
            if message.id not in ids:
                return True
        elif not in_run or type(message) is not Assistant:
            ids.clear()
        if type(message) is Assistant:
            ids.update([call.id for call in message.tool_calls])
        in_run = type(message) is Assistant
    return False


# Dialects whose sealed data vouches for its own step alone. All else is taken to be bound to all
# that stands before it, as thinking blocks are:
# https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks,
# https://ai.google.dev/gemini-api/docs/thought-signatures (both read 2026-11). OpenAI's encrypted
# items are bound to the item behind them: https://github.com/openai/openai-dotnet/issues/1050.
_UNBOUND_DIALECTS = frozenset({"gemini", "openai_responses"})


def _unbound(history: Sequence[Message], kept: Sequence[int]) -> tuple[int, ...]:
    """List the kept messages behind a dropped one whose sealed data was bound to that."""
    return tuple(
        at
        for place, at in enumerate(kept)
        if place < at
        and (data := history[at].provider_data) is not None
        and data.sealed
        and data.dialect not in _UNBOUND_DIALECTS
    )


# What stands around a message: its role and delimiters; around a call: its id and delimiters.
_FRAME = 4  # tokens
_BYTES_PER_TOKEN = 4

# Media of which the size is not known, in tokens; all read 2026-11.
# Larger images are shrunk to about 1,600, https://docs.claude.com/en/docs/vision
_IMAGE = 1_500
# Half a minute of 32 tokens a second, https://ai.google.dev/gemini-api/docs/audio
_AUDIO = 1_000
# A page: "a 3-page PDF" takes 7,000, https://docs.claude.com/en/docs/build-with-claude/pdf-support
_FILE = 2_300

# Media of which it is, in bytes a token.
_AUDIO_BYTES = 500  # 16,000 bytes a second: MP3 of 128 kbit/s
_FILE_BYTES = 20  # 46,000 bytes a page


def _text(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _medium(block: Image | Audio | File | Wire) -> int:
    match block:
        case Wire():
            return _text(block.data)
        case Image():
            return _IMAGE * _BYTES_PER_TOKEN
        case Audio():
            return _sized(block.data, _AUDIO, _AUDIO_BYTES)
        case File(mime_type=mime_type) if mime_type.startswith("text/"):
            return _sized(block.data, _FILE, _BYTES_PER_TOKEN)
        case File():
            return _sized(block.data, _FILE, _FILE_BYTES)


def _sized(data: bytes | None, unsized: int, bytes_per_token: int) -> int:
    tokens = unsized if data is None else len(data) // bytes_per_token
    return tokens * _BYTES_PER_TOKEN
