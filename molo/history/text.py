"""All text of a history, to be rewritten (redaction), and the fingerprint of a history."""

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from molo import msgpack
from molo.errors.translation import DECODE_FAILURES
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
    r"""Put every text through a function, such as one that blackens names.

    `f` sees

    - System, Assistant and result text, reasoning, Text blocks, names of Files, and their bytes
      where the type is `text/…` and they are UTF-8;
    - every string, keys too, of the JSON in `arguments`, `Wire.data` and `provider_data.delta`,
      without its escapes (`"\u0041"` is seen as `A`). A string that `f` changed is written anew;
      all else keeps its spelling: other strings, numbers, order, repeated keys, white space.
      Where it is no JSON (arguments that were cut), it is a text like those above;
    - of each of these texts as `f` returned it, once more, what stands between two quotation marks
      and holds escapes of JSON, without these: a tool's result is often JSON, in which `\nAda` and
      `\u0041da` hide a word. So four times, for JSON within JSON. Let `f` be one that leaves alone
      what it returned, as redaction is.

    Not text are ids, URLs, bytes of other media, names of tools, and numbers in JSON; nor is a
    dialect's `envelope`, which is no part of the history.

    A message that changed has no `provider_data`, also where nothing but the delta had: a delta
    could bring the old text back, and a signature vouches for it. Sealed data of later messages may
    be bound to the old text too (see `Trimmed.unbound`).

    Raises:
        TypeError: `f` returns something that is no `str`, or a subclass.

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
        case File():
            name = _plain(block.name, f) if block.name else ""
            content = _document(block, f)
            same = name == block.name and content == block.data
            return block if same else replace(block, name=name, data=content)
        case Image() | Audio():
            return block


def _document(file: File, f: _Map) -> bytes | None:
    """Map the bytes of a file that is text."""
    if file.data is None or not file.mime_type.startswith("text/"):
        return file.data
    try:
        text = file.data.decode()
    except UnicodeDecodeError:
        return file.data
    new = _plain(text, f)
    return file.data if new == text else new.encode(errors="replace")


# --- JSON in text ---------------------------------------------------------------------------------

_LEVELS = 4  # of JSON within JSON within …

_STRING = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|(["\\/bfnrt]))')
_FROM_ESCAPE = re.compile(_ESCAPE.pattern + r'(?:[^"\\]++|\\.)*+', re.DOTALL)


def _json(text: str, f: _Map) -> str:
    """Map the strings of JSON text."""
    if not text or text.isspace():
        return text
    if not _is_json(text):
        return _plain(text, f)
    return _STRING.sub(lambda string: f'"{_string(string[1], f)}"', text)


_decode = msgspec.json.Decoder(msgspec.Raw).decode  # looks at the syntax and builds nothing


def _is_json(text: str) -> bool:
    try:
        _decode(text)
    except DECODE_FAILURES:
        return False
    return True


def _plain(text: str, f: _Map, levels: int = _LEVELS) -> str:
    """Map a text, and then each stretch between quotation marks in which escapes hide some."""
    text = f(text)
    if not levels:
        return text
    parts: list[str] = []
    done = 0
    while stretch := _FROM_ESCAPE.search(text, done):
        start = text.rfind('"', done, stretch.start()) + 1 or done
        parts += text[done:start], _string(text[start : stretch.end()], f, levels - 1)
        done = stretch.end()
    return "".join(parts) + text[done:]


def _string(body: str, f: _Map, levels: int = _LEVELS) -> str:
    """Map what stands between the quotation marks of a JSON string."""
    text = _unescaped(body)
    new = _plain(text, f, levels)
    return body if new == text else _escaped(new)


_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_SHORT_OF = {meaning: f"\\{letter}" for letter, meaning in _SHORT.items()}
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSAFE = re.compile('["\\\\\x00-\x1f\ud800-\udfff]')


def _unescaped(body: str) -> str:
    if "\\" not in body:
        return body
    try:
        return _decode_string(f'"{body}"')
    except DECODE_FAILURES:  # a raw line end, an unknown escape, half a pair, a cut
        text = _ESCAPE.sub(_meaning, body)
    if _SURROGATE.search(text):  # a pair is two escapes
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


_decode_string = msgspec.json.Decoder(str).decode


def _meaning(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _SHORT.get(escape[2], escape[2])


def _escaped(text: str) -> str:
    return _UNSAFE.sub(_spelling, text)


def _spelling(unsafe: re.Match[str]) -> str:
    return _SHORT_OF.get(unsafe[0]) or f"\\u{ord(unsafe[0]):04x}"
