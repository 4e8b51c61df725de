"""The data of a conversation: tool calls, content blocks and the four messages.

Every type is a frozen `msgspec.Struct`: values are immutable, compare by content, can be hashed,
pickled, and changed into new values with `msgspec.structs.replace` (or `copy.replace`). Sequences
are tuples. Construction checks nothing but "exactly one of data and url"; the type checker and the
decoders guard the rest.

The positional fields and their order are those of the Rust crate molo 0.2.2. The keyword-only
fields are this library's extension: a history that uses none of them is exactly what the crate can
hold (`molo.dialects.rust_molo`).

The wire form is the same in JSON and in MessagePack: `role` tags a message, `type` tags a block, a
field that has a default is left out while it has it (and accepted when written out), `content` is
always written.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar, overload

import msgspec
from msgspec import Struct

from molo.errors import DecodeError, EncodeError, MessageError
from molo.errors.translation import (
    DECODE_FAILURES,
    Form,
    decode_error,
    identified,
)

__all__ = [
    "Assistant",
    "Audio",
    "ContentBlock",
    "File",
    "Image",
    "Message",
    "ProviderData",
    "System",
    "Text",
    "ToolCall",
    "ToolResult",
    "User",
    "Wire",
    "assistant",
    "assistant_with_reasoning",
    "parse_arguments",
    "system",
    "tool_result",
    "user",
    "user_blocks",
]

T = TypeVar("T")


class _Value(
    Struct,
    frozen=True,
    gc=False,  # safe: fields are immutable, so no cycle can be built
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
):
    """The settings that every type of this module shares."""


class ToolCall(_Value, frozen=True):
    """One call of a tool that the model asks for, in `Assistant.tool_calls`.

    The result comes back as a `ToolResult` whose `id` is the call's `id`, right behind the
    Assistant that holds the call. Ids are unique within one reply at best: they restart in every
    turn in the wild (`call_0`, `functions.f:0`), so pair with `molo.history.pair`, never with a
    map over the whole history.

    `arguments` is JSON text as the model wrote it, kept to the letter (it may be empty or cut
    short); `parse_arguments` decodes it.

    >>> call = ToolCall("call_1", "weather", '{"city":"Beijing"}')
    >>> call.id == tool_result("call_1", "Sunny, 23°C").id
    True
    """

    id: str
    name: str
    arguments: str


class Text(_Value, frozen=True, tag_field="type", tag="text"):
    """A block of text."""

    text: str


class _Media(_Value, frozen=True, kw_only=True):
    """What the three kinds of media share: where the bytes are, and what they are."""

    data: bytes | None = None
    url: str | None = None
    mime_type: str = ""

    def __post_init__(self) -> None:
        if (self.data is None) == (self.url is None):
            got = "none" if self.data is None else "both"
            raise MessageError(f"Expected exactly one of `data` and `url`, got {got}")


class Image(_Media, frozen=True, kw_only=True, tag_field="type", tag="image"):
    """An image: its bytes in `data`, or a `url` (http, https, data or a vendor's own scheme).

    `mime_type` is empty where the wire does not say; every vendor requires it along with `data`.

    Raises:
        MessageError: both or neither of `data` and `url` are given.

    >>> Image(url="https://example.org/chart.png")
    Image(url='https://example.org/chart.png')
    """


class Audio(_Media, frozen=True, kw_only=True, tag_field="type", tag="audio"):
    """A piece of sound; the fields are those of `Image`."""


class File(_Media, frozen=True, kw_only=True, tag_field="type", tag="file"):
    """A document such as a PDF; the fields are those of `Image`, and `name` is its file name."""

    name: str = ""


class Wire(_Value, frozen=True, tag_field="type", tag="wire"):
    """A block in one vendor's own shape, carried verbatim: an unknown kind, a vendor's file id.

    `dialect` names the module of `molo.dialects` that understands it (`"anthropic"`); `data` is
    the block's JSON text. Other dialects name it as a loss.
    """

    dialect: str
    data: str


ContentBlock = Text | Image | Audio | File | Wire
"""What a User message, and the attachments of the others, are made of: a closed union."""


class ProviderData(_Value, frozen=True, kw_only=True):
    """What a vendor's JSON says beyond the message's fields; written and read by `molo.dialects`.

    `delta` is the difference, as JSON text, between the vendor's form and the form that `dialect`
    would write for the message alone. `digest` tells whether the message was changed since: then
    the delta is stale and is not applied. `sealed` says that the delta holds reasoning state
    (signatures, encrypted blocks) that the vendor wants back verbatim.
    """

    dialect: str
    delta: str
    digest: str
    sealed: bool = False


# msgspec's kw_only holds for a whole class, so the keyword-only fields sit in a base of their own.


class _SpokenExtras(_Value, frozen=True, kw_only=True):
    provider_data: ProviderData | None = None


class _AssistantExtras(_Value, frozen=True, kw_only=True):
    attachments: tuple[ContentBlock, ...] = ()
    provider_data: ProviderData | None = None


class _ToolResultExtras(_Value, frozen=True, kw_only=True):
    is_error: bool = False
    attachments: tuple[ContentBlock, ...] = ()
    provider_data: ProviderData | None = None


class System(_SpokenExtras, frozen=True, tag_field="role", tag="system"):
    """An instruction that sets the agent's role and limits; usually the first message."""

    content: str


class User(_SpokenExtras, frozen=True, tag_field="role", tag="user"):
    """What the user says, as content blocks in order."""

    content: tuple[ContentBlock, ...]


class Assistant(_AssistantExtras, frozen=True, tag_field="role", tag="assistant"):
    """One reply of the model: text, reasoning, and the tool calls it asks for.

    All calls of one reply stay in one Assistant. Vendors demand the results of a reply right
    behind the message that holds its calls; a reply split over several messages puts a message
    between a call and its result and is rejected.

    `reasoning` is what a thinking model thought. None, `""` and text are three different values:
    the vendor sent none, sent an empty one, sent this. Vendors that ask for it want it back
    verbatim with the history and answer 400 otherwise (DeepSeek: "The reasoning_content in the
    thinking mode must be passed back to the API." https://api-docs.deepseek.com/guides/thinking_mode,
    read 2026-11). `molo.history.strip_reasoning` removes it where a vendor refuses it.

    `attachments` are media that the model made.
    """

    content: str
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()


class ToolResult(_ToolResultExtras, frozen=True, tag_field="role", tag="tool"):
    """What a tool gave back: the answer to the `ToolCall` of the same `id`.

    It stands behind the Assistant that holds the call, in one block with the other results of
    that reply. `content` is the text for the model; of a failed call it is the error's text, and
    `is_error` is true. `attachments` are media that the tool returned.
    """

    id: str
    content: str


Message = System | User | Assistant | ToolResult
"""One entry of a history: a closed union, so that `match` is checked for exhaustiveness."""


def system(text: str) -> System:
    """Make a System message of one text."""
    return System(text)


def user(text: str) -> User:
    """Make a User message of one text block.

    >>> user("How is the weather in Beijing?") == User((Text("How is the weather in Beijing?"),))
    True
    """
    return User((Text(text),))


def user_blocks(blocks: Iterable[ContentBlock]) -> User:
    """Make a User message of content blocks, in their order."""
    return User(tuple(blocks))


def assistant(text: str) -> Assistant:
    """Make a reply of text alone: no reasoning, no tool calls."""
    return Assistant(text)


def assistant_with_reasoning(text: str, reasoning: str) -> Assistant:
    """Make a reply of text and the reasoning that led to it."""
    return Assistant(text, reasoning)


def tool_result(id: str, text: str) -> ToolResult:
    """Make the result of the call that has this id."""
    return ToolResult(id, text)


@overload
def parse_arguments(call: ToolCall) -> dict[str, object]: ...
@overload
def parse_arguments(call: ToolCall, type: type[T]) -> T: ...
@overload
def parse_arguments(call: ToolCall, type: object) -> object: ...


def parse_arguments(call: ToolCall, type: object = dict[str, object]) -> object:
    """Decode the arguments of a call into a typed value.

    `type` is any type that msgspec decodes: a Struct, dataclass, TypedDict, `dict[str, int]` …; a
    union of types gives `object` to the checker. Empty or blank arguments mean `{}`. Of a repeated
    key the last value counts.

    Raises:
        DecodeError: the arguments are no JSON or not of this type; `path` is the place inside
            them. The text names the call's id and never quotes the arguments.

    >>> parse_arguments(ToolCall("call_1", "weather", '{"city":"Beijing"}'))
    {'city': 'Beijing'}
    >>> parse_arguments(ToolCall("call_1", "add", '{"a":1,"b":null}'), dict[str, int])
    Traceback (most recent call last):
    molo.errors.DecodeError: Arguments of call `call_1`: Expected `int`, got `null` - at `$[...]`
    """
    text = call.arguments
    if not text or text.isspace():
        text = "{}"
    try:
        return msgspec.json.decode(text, type=type)
    except DECODE_FAILURES as failure:
        error = decode_error(failure, text, _ARGUMENTS)
    raise DecodeError(
        f"Arguments of call {shown_id(call.id)}: {error.text}",
        path=error.path,
        offset=error.offset,
    )


_ARGUMENTS = Form("JSON", msgspec.json.decode, msgspec.json.encode)
_VENDOR_ID = re.compile(r"[A-Za-z0-9_.:|-]{1,64}")


def shown_id(id: str) -> str:
    """Show the id of a call if vendors' ids look like it, else its type and length."""
    return f"`{id}`" if _VENDOR_ID.fullmatch(id) else identified(id)


# --- What the codecs ask of their input -----------------------------------------------------------
# Internal to molo.

_MESSAGE_TYPES = frozenset({System, User, Assistant, ToolResult})

# The values that each tag may have on the native wire, in the order of the unions.
TAGS: Mapping[str, tuple[str, ...]] = {
    "role": ("system", "user", "assistant", "tool"),
    "type": ("text", "image", "audio", "file", "wire"),
}


only_messages = _MESSAGE_TYPES.issuperset
"""Tell whether types, `map(type, history)`, are those of messages alone."""


def require_messages(history: Sequence[Message]) -> None:
    """Make sure that a history is a list or tuple, and every item exactly one of the messages."""
    if not (isinstance(history, (list, tuple)) and only_messages(map(type, history))):
        raise not_messages(history)


def not_messages(history: Sequence[Message]) -> TypeError | EncodeError:
    """Say why a value is no list or tuple of messages."""
    if not isinstance(history, (list, tuple)):
        return TypeError(f"Expected a list or tuple of messages, got {type(history).__name__}")
    index = next(at for at, item in enumerate(history) if type(item) not in _MESSAGE_TYPES)
    return _not_a_message(history[index], f"$[{index}]")


def require_message(message: Message) -> None:
    """Make sure that a value is exactly one of the four messages."""
    if type(message) not in _MESSAGE_TYPES:
        raise _not_a_message(message, "$")


def _not_a_message(item: object, path: str) -> EncodeError:
    return EncodeError(f"Expected a message, got {identified(type(item).__name__)}", path=path)
