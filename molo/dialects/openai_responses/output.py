"""Runs of output items read into replies, with care.

Decisions:

- The content is the text (and refusals) of the messages: parts are joined by nothing, messages by
  a blank line, for commentary and answer are paragraphs of one reply.
- The reasoning is what the reasoning items say: their `content`, or else their `summary`, joined
  by blank lines; `""` where they say nothing, as those do that are encrypted. It is sealed, unless
  the run ends in it: no vendor takes it back then.
- Calls that the client has to answer are calls, whatever their kind. The input of a custom tool,
  free text, becomes the arguments `{"input": "…"}`; of other kinds what they hold becomes its JSON
  text, and the kind the name: `local_shell`, `computer`. A call whose output stands in the same
  run was answered by the vendor, and is none.
- Images that the model made are attachments.
- All else stands in the delta. So what the model did with the vendor's own tools goes back with its
  reasoning items or, in a message that was edited, not at all; the vendor refuses one without the
  other.
"""

from collections.abc import Iterator
from itertools import count
from typing import Literal, TypeAlias

from molo.dialects.openai_responses.forms import BETWEEN, with_delta
from molo.dialects.openai_responses.items import (
    ARGUMENTS,
    OUTPUTS,
    Members,
    is_call,
    texts_of,
    type_of,
)
from molo.dialects.wire import Spell, string, text
from molo.message import Assistant, Image, ToolCall

__all__ = ["read_output"]

_Slot: TypeAlias = Literal["reasoning", "image", "message", "call", "other"]


def read_output(items: list[Members], spell: Spell, start: int = 0) -> Assistant:
    """Read a run of output items as one reply.

    `spell` knows the JSON of an array in which they begin at the index `start`.
    """
    slots = _slots(items)
    thoughts: list[str] = []
    texts: list[str] = []
    calls: list[ToolCall] = []
    images: list[Image] = []
    for at, slot in enumerate(slots):
        item = items[at]
        if slot == "message":
            texts.append("".join(texts_of(item.get("content"))))
        elif slot == "call":
            calls.append(_call(item, start + at, spell))
        elif slot == "reasoning":
            thoughts.append(_thought(item))
        elif slot == "image":
            images.append(_image(item))
    message = Assistant(
        _paragraphs(texts),
        _paragraphs(thoughts) if thoughts else None,
        tuple(calls),
        attachments=tuple(images),
    )
    # The vendor refuses reasoning "without its required following item".
    sealed = bool(thoughts) and slots[-1] != "reasoning"
    return with_delta(message, [*items], sealed=sealed, order=_order(message, slots))


def _slots(items: list[Members]) -> list[_Slot]:
    """Tell what each item of a run becomes."""
    slots: list[_Slot] = [_slot(item) for item in items]
    answered = [item.get("call_id") for item in items if type_of(item) in OUTPUTS]
    for at, item in enumerate(items if answered else ()):
        if slots[at] == "call" and item.get("call_id") in answered:
            slots[at] = "other"
    return slots


def _slot(item: Members) -> _Slot:
    if item.get("role") == "assistant":
        return "message"
    type = type_of(item)
    if type == "reasoning":
        return "reasoning"
    if type == "image_generation_call":
        return "image" if isinstance(item.get("result"), str) else "other"
    return "call" if is_call(item) else "other"


def _order(message: Assistant, slots: list[_Slot]) -> list[int | None]:
    """Give the index of each item in the canonical form, None where it has none there."""
    images_at = int(message.reasoning is not None)
    text_at = images_at + len(message.attachments)
    calls_at = text_at + int(bool(message.content or not message.tool_calls))
    places: dict[_Slot, Iterator[int]] = {
        "reasoning": iter(range(images_at)),
        "image": iter(range(images_at, text_at)),
        "message": iter(range(text_at, calls_at)),
        "call": count(calls_at),
        "other": iter(()),
    }
    return [next(places[slot], None) for slot in slots]


def _paragraphs(texts: list[str]) -> str:
    return BETWEEN.join(filter(None, texts))


def _thought(item: Members) -> str:
    return _paragraphs(texts_of(item.get("content"))) or _paragraphs(texts_of(item.get("summary")))


def _image(item: Members) -> Image:
    format = item.get("output_format")
    subtype = format if isinstance(format, str) else "png"
    return Image(url=f"data:image/{subtype};base64,{string(item.get('result'))}")


def _call(item: Members, index: int, spell: Spell) -> ToolCall:
    name = item.get("name") if "name" in item else type_of(item).removesuffix("_call")
    return ToolCall(string(item.get("call_id")), string(name), _arguments(item, index, spell))


def _arguments(item: Members, index: int, spell: Spell) -> str:
    key = next(filter(item.__contains__, ARGUMENTS[type_of(item)]), "")
    value = item.get(key)
    if isinstance(value, str):
        return text({key: value}) if key == "input" else value
    return "" if value is None else spell(index, key)
