"""All text of a history, to be rewritten (redaction), and the fingerprint of a history."""

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from molo import msgpack
from molo.errors import DECODE_FAILURES
from molo.message import (
    Assistant,
    Audio,
    ContentBlock,
    File,
    Image,
    Message,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
)

__all__ = ["digest", "map_text"]


def map_text(history: Sequence[Message], f: Callable[[str], str]) -> list[Message]:
    r"""Put each text of a history through a function, such as one that blackens names.

    `f` sees

    - System, Assistant and result text, reasoning, Text blocks, and names of Files;
    - each string, keys included, of the JSON text in `arguments`, `Wire.data` and
      `provider_data.delta`, without its escapes (`"\u0041"` is seen as `A`). Where `f` changed
      none, the JSON keeps its spelling; a string it changed is written anew, and only that:
      numbers, order, repeated keys and white space stay as they were. Text that is no JSON
      (arguments that were cut) is seen as plain text;
    - in plain text that holds escapes like `\u0041` (a result that is JSON, say), what is left of
      it after that, once more: what stands between quotation marks, without its escapes, and JSON
      within JSON so up to four times. An `f` that does nothing to what it returned does nothing
      there, unless an escape hid something from it.

    No text are ids, URLs, media bytes, names of tools, and numbers in JSON.

    A message whose text changed has no `provider_data`: the delta could bring the old text back,
    and a signature vouches for it. That holds too where `f` changed nothing but the delta.

    Raises:
        TypeError: `f` returns something that is no `str`.

    >>> from molo import user
    >>> map_text([user("I am Ada.")], lambda text: text.replace("Ada", "[name]"))
    [User(content=(Text(text='I am [name].'),))]
    """

    def checked(text: str) -> str:
        new = f(text)
        if type(new) is not str:
            raise TypeError(f"Expected `str` from the function, got {type(new).__name__}")
        return new

    return [_mapped(message, checked) for message in history]


def digest(history: Sequence[Message]) -> str:
    """Give the fingerprint of a history: 32 hex digits, of BLAKE2b with 128 bits.

    It is taken of the MessagePack form of `molo.msgpack`, so it is the same for equal histories,
    in every process and every release.

    Raises:
        EncodeError: as `molo.msgpack.encode`.

    >>> from molo import user
    >>> digest([user("Hi")])
    '95687b986c06b7fd5bb87a989496e18c'
    """
    return blake2b(msgpack.encode(history), digest_size=16).hexdigest()


_Map = Callable[[str], str]


def _mapped(message: Message, f: _Map) -> Message:
    new = _with_text(message, f)
    data = message.provider_data
    delta_kept = data is None or _json(data.delta, f) == data.delta
    if new == message and delta_kept:
        return message
    return replace(new, provider_data=None)


def _with_text(message: Message, f: _Map) -> Message:
    match message:
        case Assistant():
            reasoning = message.reasoning
            return replace(
                message,
                content=_plain(message.content, f),
                reasoning=None if reasoning is None else _plain(reasoning, f),
                tool_calls=tuple([_call(call, f) for call in message.tool_calls]),
                attachments=_blocks(message.attachments, f),
            )
        case ToolResult():
            content = _plain(message.content, f)
            return replace(message, content=content, attachments=_blocks(message.attachments, f))
        case User():
            return replace(message, content=_blocks(message.content, f))
        case System():
            return replace(message, content=_plain(message.content, f))


def _call(call: ToolCall, f: _Map) -> ToolCall:
    arguments = _json(call.arguments, f)
    return call if arguments == call.arguments else replace(call, arguments=arguments)


def _blocks(blocks: Sequence[ContentBlock], f: _Map) -> tuple[ContentBlock, ...]:
    return tuple([_block(block, f) for block in blocks])


def _block(block: ContentBlock, f: _Map) -> ContentBlock:
    match block:
        case Text():
            text = _plain(block.text, f)
            return block if text == block.text else replace(block, text=text)
        case Wire():
            data = _json(block.data, f)
            return block if data == block.data else replace(block, data=data)
        case File() if block.name:
            name = _plain(block.name, f)
            return block if name == block.name else replace(block, name=name)
        case File() | Image() | Audio():
            return block


# --- JSON in text ---------------------------------------------------------------------------------

_LEVELS = 4  # of JSON within JSON within …, each with one more round of escapes

_STRING = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
_BETWEEN_QUOTES = re.compile(r'(?:[^"\\]++|\\.)++', re.DOTALL)
_LETTER_ESCAPE = re.compile(r"\\u[0-9A-Fa-f]{4}")
_ANY_ESCAPE = re.compile(r"\\")


def _json(text: str, f: _Map) -> str:
    """Map the strings of JSON text."""
    if not text or text.isspace():
        return text
    if not _is_json(text):
        return _plain(text, f, _ANY_ESCAPE)
    return _STRING.sub(lambda string: f'"{_string(string[1], f)}"', text)


_decode = msgspec.json.Decoder(msgspec.Raw).decode  # looks at the syntax and builds nothing


def _is_json(text: str) -> bool:
    try:
        _decode(text)
    except DECODE_FAILURES:
        return False
    return True


def _plain(
    text: str, f: _Map, hiding: re.Pattern[str] = _LETTER_ESCAPE, levels: int = _LEVELS
) -> str:
    """Map a text, and then what escapes have hidden in it."""
    text = f(text)
    if not levels or not hiding.search(text):
        return text

    def revealed(piece: re.Match[str]) -> str:
        return _string(piece[0], f, levels - 1) if hiding.search(piece[0]) else piece[0]

    return _BETWEEN_QUOTES.sub(revealed, text)


def _string(body: str, f: _Map, levels: int = _LEVELS) -> str:
    """Map what stands between the quotation marks of a JSON string."""
    text = _unescaped(body)
    new = _plain(text, f, levels=levels)
    return body if new == text else _escaped(new)


_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|(["\\/bfnrt]))')
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_SHORT_OF = {meaning: f"\\{letter}" for letter, meaning in _SHORT.items()}
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSAFE = re.compile('["\\\\\x00-\x1f\ud800-\udfff]')


def _unescaped(body: str) -> str:
    if "\\" not in body:
        return body
    text = _ESCAPE.sub(_meaning, body)
    if _SURROGATE.search(text):  # a pair is two escapes
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def _meaning(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _SHORT.get(escape[2], escape[2])


def _escaped(text: str) -> str:
    return _UNSAFE.sub(_spelling, text)


def _spelling(unsafe: re.Match[str]) -> str:
    return _SHORT_OF.get(unsafe[0]) or f"\\u{ord(unsafe[0]):04x}"
