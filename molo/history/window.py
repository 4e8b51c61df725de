"""A history cut to a budget, in whole steps, so that no pair is broken; and how long a message is.

Nothing is rewritten: what is kept are the same messages, in their order.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import accumulate, count

from msgspec import Struct
from msgspec.structs import replace

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
    kept messages whose sealed data was bound to a dropped one before it: the vendor refuses it now,
    and `unsealed` is the history with their `provider_data` taken off. Both are in order. `over` is
    by how much what has to be kept is over the budget: in tokens if `max_tokens` is too small for
    it, else in messages, else in turns; 0 if it is within.
    """

    history: list[Message]
    dropped: tuple[int, ...]
    unbound: tuple[int, ...]
    over: int

    @property
    def unsealed(self) -> list[Message]:
        """The history, without the `provider_data` of those that are `unbound`."""
        if not self.unbound:
            return self.history
        dropped, unbound = set(self.dropped), set(self.unbound)
        kept = (at for at in count() if at not in dropped)
        return [
            replace(message, provider_data=None) if at in unbound else message
            for at, message in zip(kept, self.history, strict=False)
        ]


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
    find in the history (by rules that let a history begin with a User, as every vendor's do). But a
    vendor may refuse sealed reasoning that was bound to what is gone. If there is any `unbound`,
    send `unsealed` instead, through `repair`: for a vendor that takes reasoning only with its seal,
    that is a problem then (`reasoning_unsealed`).

    `count_tokens` gives at least 0, and is called at most once a message, and only if `max_tokens`
    is given.

    Raises:
        ValueError: a budget is negative.

    >>> from molo import assistant, system, user
    >>> history = [system("Be brief."), user("Hi"), assistant("Hello"), user("Bye")]
    >>> trimmed = trim(history, max_turns=1)
    >>> trimmed.history, trimmed.dropped
    ([System(content='Be brief.'), User(content=(Text(text='Bye'),))], (1, 2))
    """
    if min(max_turns or 0, max_messages or 0, max_tokens or 0) < 0:
        raise ValueError("Expected budgets of at least 0, got a negative one")
    history = list(history)
    if max_turns is not None and history and not any(map(_is_user, history)):
        max_turns -= 1  # without a User, the history is one turn
    leading = _leading(history)
    limits = ((max_tokens, count_tokens), (max_messages, _one), (max_turns, _is_user))
    budgets = [
        _Budget(history, leading, limit, measure) for limit, measure in limits if limit is not None
    ]
    oldest = max([leading, *[budget.oldest for budget in budgets]])
    if oldest == leading < len(history):
        return Trimmed(history, (), (), 0)
    start, user = cut = _cut(history, leading, oldest, budgets)
    over = _over(budgets, cut)
    dropped = (*range(leading, user), *range(user + 1, start))
    if not dropped:
        return Trimmed(history, (), (), over)
    rest = range(max(start, user + 1), len(history))
    kept = [*history[:leading], history[user], *history[rest.start :]]
    behind = rest if user == leading else (user, *rest)
    return Trimmed(kept, dropped, tuple(_unbound(history, behind)), over)


def _one(_message: Message) -> int:
    return 1


def _is_user(message: Message) -> bool:
    return type(message) is User


def _leading(history: Sequence[Message]) -> int:
    """Count the System messages in front of everything else."""
    for at, message in enumerate(history):
        if type(message) is not System:
            return at
    return len(history)


# Where a history is cut: the index from which on all is kept, and that of the User of the turn
# there, which is kept too. Where no User stands in front, the second number is the first one again.
_Cut = tuple[int, int]


class _Budget:
    """One limit, and what the newest messages take up of it, as far back as it lasts.

    `oldest` is the index from which on it holds all. No message is measured twice.
    """

    def __init__(
        self,
        history: Sequence[Message],
        leading: int,
        limit: int,
        measure: Callable[[Message], int],
    ) -> None:
        self._history = history
        self._measure = measure
        self._left = left = limit - sum(map(measure, history[:leading]))
        self._newest = newest = [0]  # what the newest 0, 1, 2 … messages take up
        self._further: dict[int, int] = {}  # what messages further back take up
        amount = 0
        for message in reversed(history[leading:]):
            amount += measure(message)
            newest.append(amount)
            if amount > left:
                break
        held = bisect_right(newest, left) - 1
        self.oldest = len(history) - max(0, held)

    def excess(self, cut: _Cut) -> int:
        """By how much what is kept is over the limit; below 0: what is left of it."""
        start, user = cut
        return self._since(start) - self._left + (self._of(user) if user < start else 0)

    def _since(self, start: int) -> int:
        newest, count = self._newest, len(self._history)
        while len(newest) <= count - start:
            newest.append(newest[-1] + self._of(count - len(newest)))
        return newest[count - start]

    def _of(self, at: int) -> int:
        count = len(self._history) - at
        if count < len(self._newest):
            return self._newest[count] - self._newest[count - 1]
        if at not in self._further:
            self._further[at] = self._measure(self._history[at])
        return self._further[at]


def _over(budgets: Sequence[_Budget], cut: _Cut) -> int:
    """By how much what is kept is over the first budget that does not hold it; 0 if all do."""
    for budget in budgets:
        excess = budget.excess(cut)
        if excess > 0:
            return excess
    return 0


def _cut(history: Sequence[Message], leading: int, oldest: int, budgets: Sequence[_Budget]) -> _Cut:
    """Find the oldest place to cut at which all budgets hold what is kept, or else the newest."""
    cut = _oldest_cut(history, leading, oldest, budgets, frozenset())
    if _has_strays(history[cut[0] :]):
        cut = _oldest_cut(history, leading, oldest, budgets, _torn(history))
    return cut


def _oldest_cut(
    history: Sequence[Message],
    leading: int,
    oldest: int,
    budgets: Sequence[_Budget],
    torn: Set[int],
) -> _Cut:
    for cut in _cuts(history, leading, oldest):
        if cut[0] not in torn and _over(budgets, cut) == 0:
            return cut
    whole = _cuts(history, leading, leading)
    return max((cut for cut in whole if cut[0] not in torn), default=(len(history), len(history)))


def _cuts(history: Sequence[Message], leading: int, oldest: int) -> Iterator[_Cut]:
    """List the places where a history can be cut, in order: where turns and steps begin."""
    user = _last_user(history, leading, oldest)
    for at in range(oldest, len(history)):
        kind = type(history[at])
        if kind is User:
            user = at
            yield at, at
        elif at == leading or (kind is Assistant and type(history[at - 1]) is not Assistant):
            yield at, at if user is None else user


def _last_user(history: Sequence[Message], start: int, stop: int) -> int | None:
    for at in range(stop - 1, start - 1, -1):
        if type(history[at]) is User:
            return at
    return None


def _has_strays(messages: Sequence[Message]) -> bool:
    """Tell whether any result stands where its id is no call's: only then one can be misplaced.

    Mostly there are none, and this is faster than `pair`.
    """
    ids: set[str] = set()
    in_run = False
    for message in messages:
        if type(message) is ToolResult:
            if message.id not in ids:
                return True
            in_run = False
            continue
        if not in_run or type(message) is not Assistant:
            ids.clear()
        in_run = type(message) is Assistant
        if type(message) is Assistant:
            for call in message.tool_calls:
                ids.add(call.id)
    return False


def _torn(history: Sequence[Message]) -> Set[int]:
    """Find the places that have a misplaced result behind them and its call in front."""
    pairing = pair(history)
    misplaced = set(pairing.misplaced)
    torn = [0] * (len(history) + 1)
    for asked in pairing.pairs:
        if asked.result_at is not None and asked.result_at in misplaced:
            torn[asked.at + 1] += 1
            torn[asked.result_at + 1] -= 1
    return {at for at, pairs in enumerate(accumulate(torn)) if pairs}


# Dialects whose sealed data vouches for its own step alone. All else is taken to be bound to all
# that stands before it, as thinking blocks are:
# https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks,
# https://ai.google.dev/gemini-api/docs/thought-signatures (both read 2026-11). OpenAI's encrypted
# items are bound to the item behind them: https://github.com/openai/openai-dotnet/issues/1050.
_UNBOUND_DIALECTS = frozenset({"gemini", "openai_responses"})


def _unbound(history: Sequence[Message], kept: Iterable[int]) -> Iterator[int]:
    """List the kept messages whose sealed data was bound to what stood in front of them."""
    for at in kept:
        data = history[at].provider_data
        if data is not None and data.sealed and data.dialect not in _UNBOUND_DIALECTS:
            yield at


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
