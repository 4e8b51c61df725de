"""What a model thought: taken out of a history, or moved to where it belongs.

Both functions give a new list of, where nothing changed, the same messages. A message that changed
has no `provider_data`: what a vendor said beyond the message no longer fits it. Which reasoning a
vendor wants back, and what it does otherwise, is in `molo.history.rules`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec.structs import replace

from molo.history.structure import Turn, turns
from molo.message import Assistant, Message, ProviderData

__all__ = ["Keep", "split_think_tags", "strip_reasoning"]

Keep = Literal["none", "current_turn", "tool_turns"]
"""The turns that keep their reasoning: none, the newest one, those in which a tool is called."""


def strip_reasoning(history: Sequence[Message], keep: Keep = "none") -> list[Message]:
    """Take the reasoning out of every reply, except in the turns that `keep` names.

    - `"none"`: no turn keeps it. For vendors that refuse reasoning.
    - `"current_turn"`: what stands behind the last User keeps it, as in the templates of Qwen 3
      and gpt-oss; without a User, everything does. Not for Anthropic's models with preserved
      thinking: they refuse thinking behind a place where other thinking was left out
      (https://platform.claude.com/docs/en/build-with-claude/preserved-thinking, read 2026-11).
    - `"tool_turns"`: turns that hold a tool call keep it, finished ones too: DeepSeek's rule
      (https://api-docs.deepseek.com/guides/thinking_mode, read 2026-11). What stands before the
      first User counts as a turn.

    Elsewhere `reasoning` is None, whether it was text or `""`, and `provider_data` goes if it is
    sealed or holds a key for reasoning (`"reasoning_content":null`), so that no trace is left for
    a vendor that refuses the key.

    Raises:
        ValueError: `keep` is none of the three.

    >>> from molo import assistant_with_reasoning
    >>> strip_reasoning([assistant_with_reasoning("Sunny.", "The tool said so.")])
    [Assistant(content='Sunny.')]
    """
    if keep not in _LOSING:
        raise ValueError("Expected `none`, `current_turn` or `tool_turns` as `keep`")
    stripped = list(history)
    for turn in _LOSING[keep](history):
        for at in range(turn.start, turn.stop):
            message = stripped[at]
            data = message.provider_data
            if data is not None:
                stripped[at] = _without_data(message, data)
            elif type(message) is Assistant and message.reasoning is not None:
                stripped[at] = replace(message, reasoning=None)
    return stripped


def _whole(history: Sequence[Message]) -> Sequence[Turn]:
    return (Turn(0, len(history)),)


def _earlier_turns(history: Sequence[Message]) -> Sequence[Turn]:
    return _all_turns(history)[:-1]


def _turns_without_calls(history: Sequence[Message]) -> Sequence[Turn]:
    return [turn for turn in _all_turns(history) if not _calls_tool(history, turn)]


_LOSING: Mapping[Keep, Callable[[Sequence[Message]], Sequence[Turn]]] = {
    "none": _whole,
    "current_turn": _earlier_turns,
    "tool_turns": _turns_without_calls,
}


def _all_turns(history: Sequence[Message]) -> tuple[Turn, ...]:
    """List the turns, with what stands before the first User as one more in front."""
    spoken = turns(history)
    start = spoken[0].start if spoken else len(history)
    return (Turn(0, start), *spoken)


def _calls_tool(history: Sequence[Message], turn: Turn) -> bool:
    for at in range(turn.start, turn.stop):
        message = history[at]
        if type(message) is Assistant and message.tool_calls:
            return True
    return False


# The spellings of the OpenAI dialects; other vendors' reasoning without text is always sealed.
_REASONING_KEY = re.compile(r'"reasoning\w*"\s*:')


def _without_data(message: Message, data: ProviderData) -> Message:
    """Take the reasoning out of a message that has a vendor's data."""
    if type(message) is Assistant:
        if message.reasoning is not None:
            return replace(message, reasoning=None, provider_data=None)
        if _REASONING_KEY.search(data.delta):
            return replace(message, provider_data=None)
    return replace(message, provider_data=None) if data.sealed else message


def split_think_tags(history: Sequence[Message]) -> list[Message]:
    r"""Move what replies hold in `<think>…</think>` from their content to their reasoning.

    For servers that leave the tags of a model's template in the text. Where a vendor wants the
    tags back in the content (MiniMax without `reasoning_split`, GLM on Cerebras), leave them there.

    What counts as reasoning, in this order, again and again until nothing does:

    1. Content that begins with `<think>`: all up to the first `</think>` that stands in no code;
       up to the first one if all of them stand in code; all of it if there is none (a reply that
       was cut while it thought).
    2. Content that begins with `</think>`: the tag goes.
    3. While there is no reasoning yet, an orphan, `</think>` without `<think>` (the template had
       put that into the prompt): all up to the first `</think>` that neither stands in code nor in
       the middle of a sentence, if no `<think>` stands before it outside of code.

    White space in front does not count in 1 and 2. Code is what stands between two equal runs of
    backticks, on one line if they are shorter than three, or of three and more tildes. A tag is in
    the middle of a sentence if a blank, an opening quote or a bracket stands right before it, and
    neither a line's beginning nor the end of a sentence before that; also between two letters of
    Han or kana, which need no blanks. Tags that do not count are text that mentions them.

    Pieces of reasoning are joined by a blank line, behind what was there already. No other text is
    lost: only the tags go, the white space around what is moved and in front of what stays. A
    reply of whose content something was moved has reasoning, if only `""`.

    >>> from molo import assistant
    >>> split_think_tags([assistant("<think>\nIt is 340 + 68.\n</think>\n\n408")])
    [Assistant(content='408', reasoning='It is 340 + 68.')]
    >>> split_think_tags([assistant("Close it with `</think>`.")])
    [Assistant(content='Close it with `</think>`.')]
    """
    return [
        _split(message) if type(message) is Assistant and "think>" in message.content else message
        for message in history
    ]


_OPENING, _CLOSING = "<think>", "</think>"
_LEADING = re.compile(r"\s*(</?think>)")

_LETTER = r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"  # kana and Han
_ORPHAN = re.compile(
    _OPENING
    + rf"|(?!(?<={_LETTER}){_CLOSING}{_LETTER})"
    + r"(?:^[ \t]*|(?<![\s\"'“‘«‹「『(\[{<])|(?<=[.!?…。！？][ \t]))"
    + _CLOSING,
    re.MULTILINE,
)


def _split(message: Assistant) -> Assistant:
    moved, content = _moved(message.content, reasoned=bool(message.reasoning))
    if not moved:
        return message
    pieces = [piece for piece in (message.reasoning, *moved) if piece]
    return replace(message, content=content, reasoning="\n\n".join(pieces), provider_data=None)


def _moved(content: str, *, reasoned: bool) -> tuple[list[str], str]:
    """Give the pieces of a content that are reasoning, and what is left of it."""
    plain = _without_code(content)
    closings = plain if _CLOSING in plain else content
    moved: list[str] = []
    at = 0
    while (thought := _next_thought(content, plain, closings, at, reasoned)) is not None:
        start, stop = thought
        moved.append(content[start:stop].strip())
        reasoned = reasoned or moved[-1] != ""
        at = stop + len(_CLOSING)
    return moved, content[at:].lstrip()


def _next_thought(
    content: str, plain: str, closings: str, at: int, reasoned: bool
) -> tuple[int, int] | None:
    """Find the next piece of reasoning: where it starts, and where its closing tag stands.

    `plain` and `closings` are the content with some of its tags painted over.
    """
    if tag := _LEADING.match(content, at):
        if tag[1] == _CLOSING:
            return tag.start(1), tag.start(1)
        stop = closings.find(_CLOSING, tag.end())
        return tag.end(), stop if stop >= 0 else len(content)
    if reasoned:
        return None
    orphan = _ORPHAN.search(plain, at)
    if orphan is None or orphan[0] == _OPENING:
        return None
    return at, orphan.end() - len(_CLOSING)


_CODE_MARK = re.compile(r"`+|~{3,}")
_FENCE = 3  # characters; a shorter mark closes on the line where it opened


def _without_code(text: str) -> str:
    """Paint over what stands in code; every other character keeps its place."""
    marks = list(_CODE_MARK.finditer(text))
    painted: list[str] = []
    at = 0
    for mark, close in zip(marks, _next_equals(marks), strict=True):
        if close is None or mark.start() < at:
            continue
        if len(mark[0]) < _FENCE and text.find("\n", mark.end(), close.start()) >= 0:
            continue
        painted += text[at : mark.start()], "`" * (close.end() - mark.start())
        at = close.end()
    return "".join(painted) + text[at:]


def _next_equals(marks: Sequence[re.Match[str]]) -> list[re.Match[str] | None]:
    """Find for each mark the next one that is equal."""
    later: dict[str, re.Match[str]] = {}
    found: list[re.Match[str] | None] = []
    for mark in reversed(marks):
        found.append(later.get(mark[0]))
        later[mark[0]] = mark
    return found[::-1]
