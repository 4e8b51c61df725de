"""Messages read with care: any block is taken, and what is not canonical is kept as a delta.

Each function reads the unit of one message. A unit is its blocks on the wire; where an object has
no array for content, it is an object with its `content` as it is, and no other unit joins it.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Literal, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace

from molo.dialects.anthropic.blocks import DIALECT, read_block
from molo.dialects.anthropic.forms import (
    SHELLS,
    UNSIGNED,
    canonical,
    canonical_reply,
    is_whole,
    shell,
)
from molo.dialects.delta import Join, Unit, keep
from molo.dialects.wire import Json, expect_object, string, text
from molo.errors.translation import DECODE_FAILURES
from molo.message import (
    Assistant,
    ContentBlock,
    Message,
    System,
    Text,
    ToolCall,
    ToolResult,
    User,
    Wire,
)

__all__ = [
    "Members",
    "inputs_of",
    "read_assistant",
    "read_bare_user",
    "read_instruction",
    "read_run",
    "read_system",
    "runs",
    "shell_of",
]

Members = dict[str, Json]

M = TypeVar("M", bound=Message)


def shell_of(members: Members) -> Json:
    """Give the object of a message without its content."""
    if len(members) == 2 and "content" in members:
        return SHELLS[str(members["role"])]  # what most objects have, so that it is not compared
    return {key: value for key, value in members.items() if key != "content"}


def _unit(members: Members, join: Join | None = None) -> Unit:
    content = members.get("content")
    if isinstance(content, list):
        return Unit(content, shell_of(members), join)
    bare: Members = {"content": content} if "content" in members else {}
    return Unit(bare, shell_of(members), join)


def _kept(message: M, wire: Unit) -> M:
    data = keep(Unit(canonical(message), shell(message)), wire, DIALECT)
    return message if data is None else replace(message, provider_data=data)


def _paragraphs(content: Json) -> tuple[str, tuple[ContentBlock, ...]]:
    """Split the content of a System or a result into its text and what is no text."""
    if not isinstance(content, list):
        return string(content), ()
    blocks = _blocks(content)
    texts = [block.text for block in blocks if isinstance(block, Text)]
    return "\n".join(texts), tuple([block for block in blocks if not isinstance(block, Text)])


def _blocks(content: list[Json]) -> list[ContentBlock]:
    return [read_block(block) for block in content if block is not None]


# --- System, User and results ---------------------------------------------------------------------


def read_instruction(block: Json) -> System:
    """Read one block of the top-level `system`."""
    words, _ = _paragraphs([block])
    return _kept(System(words), Unit([block], SHELLS["system"]))


def read_system(members: Members, join: Join | None) -> System:
    """Read an object that holds a System alone."""
    words, _ = _paragraphs(members.get("content"))
    return _kept(System(words), _unit(members, join))


def read_bare_user(members: Members, join: Join | None) -> User:
    """Read the object of a user whose content is no array."""
    content = members.get("content")
    said = () if content is None else (Text(string(content)),)
    return _kept(User(said), _unit(members, join))


def runs(content: list[Json]) -> list[list[Json]]:
    """Split the blocks of a user: each result alone, and what stands between them; at least one."""
    found: list[list[Json]] = []
    spoken = False  # what stands last is no result
    for block in content:
        is_result = _is_result(block)
        if spoken and not is_result:
            found[-1].append(block)
        else:
            found.append([block])
        spoken = not is_result
    return found or [[]]


def _is_result(block: Json) -> bool:
    return (
        isinstance(block, dict)
        and block.get("type") == "tool_result"
        and isinstance(block.get("tool_use_id"), str)
    )


def read_run(run: list[Json], shell: Json, join: Join | None) -> User | ToolResult:
    """Read one of the `runs` of a user."""
    if run and _is_result(run[0]):
        return _kept(_result(expect_object(run[0], "")), Unit(run, shell, join))
    return _kept(User(tuple(_blocks(run))), Unit(run, shell, join))


def _result(block: Members) -> ToolResult:
    content, attachments = _paragraphs(block.get("content"))
    is_error = block.get("is_error") is True
    return ToolResult(
        string(block["tool_use_id"]), content, is_error=is_error, attachments=attachments
    )


# --- Assistants -----------------------------------------------------------------------------------


def read_assistant(members: Members, inputs: Sequence[str | None] = ()) -> Assistant:
    """Read the object of an assistant; `inputs` are the texts of its blocks' inputs, where known.

    Raises:
        EncodeError, RecursionError: it holds what JSON cannot, or is nested too deeply.
    """
    unit = _unit(members)
    if not isinstance(unit.value, list):
        return _kept(Assistant(string(members.get("content"))), unit)
    reply = _Reply()
    for block, given in zip_longest(unit.value, inputs):
        reply.take(block, given)
    message = reply.message()
    base = Unit(canonical_reply(message, reply.inputs), SHELLS["assistant"])
    data = keep(base, unit, DIALECT, sealed=reply.sealed, order=reply.order(message))
    return message if data is None else replace(message, provider_data=data)


_Part: TypeAlias = Literal["reasoning", "content", "attachments", "calls"]


class _Reply:
    """The blocks of an assistant, sorted by what they become."""

    def __init__(self) -> None:
        self.inputs: list[Json] = []  # what the arguments of the calls say
        self._seals = False
        self._is_cut = False  # a signature, so that nothing of the reasoning goes back
        self._thought: list[str] = []
        self._said: list[str] = []
        self._attachments: list[ContentBlock] = []
        self._calls: list[ToolCall] = []
        self._places: list[tuple[_Part, int] | None] = []

    @property
    def sealed(self) -> bool:
        return self._seals and not self._is_cut

    def take(self, block: Json, given: str | None) -> None:
        """Take the next block; `given` is the text of its input, where that is known."""
        self._places.append(self._place(block, given) if block is not None else None)

    def message(self) -> Assistant:
        """Make the message of all blocks."""
        return Assistant(
            "".join(self._said),
            "\n\n".join(filter(None, self._thought)) if self._thought else None,
            tuple(self._calls),
            attachments=tuple(self._attachments),
        )

    def order(self, message: Assistant) -> list[int | None]:
        """Tell which canonical block of the message stands at each place of the wire, if any."""
        content = 0 if message.reasoning is None else 1
        attachments = content + (1 if message.content else 0)
        calls = attachments + len(message.attachments)
        starts = {"reasoning": 0, "content": content, "attachments": attachments, "calls": calls}
        return [None if place is None else starts[place[0]] + place[1] for place in self._places]

    def _place(self, block: Json, given: str | None) -> tuple[_Part, int] | None:
        """Tell to which part of the message a block goes, and the number there."""
        if not isinstance(block, dict):
            return self._attach(block)
        kind = block.get("type")
        if kind == "text":
            words = block.get("text")
            if isinstance(words, str):
                self._said.append(words)
                return ("content", 0) if words else None
        elif kind == "tool_use":
            id, name = block.get("id"), block.get("name")
            if isinstance(id, str) and isinstance(name, str) and "input" in block:
                return self._call(id, name, block["input"], given)
        elif kind == "thinking":
            words, signature = block.get("thinking"), block.get("signature")
            if isinstance(words, str) and signature is not UNSIGNED:
                return self._think(words, signature)
        elif kind == "redacted_thinking":
            self._seals = True
            return None
        return self._attach(block)

    def _think(self, words: str, signature: Json) -> tuple[_Part, int]:
        self._thought.append(words)
        if signature:
            self._seals = True
            self._is_cut = self._is_cut or not is_whole(string(signature))
        return "reasoning", 0

    def _call(self, id: str, name: str, value: Json, given: str | None) -> tuple[_Part, int]:
        self.inputs.append(value)
        self._calls.append(ToolCall(id, name, text(value) if given is None else given))
        return "calls", len(self._calls) - 1

    def _attach(self, block: Json) -> tuple[_Part, int]:
        self._attachments.append(Wire(DIALECT, text(block)))
        return "attachments", len(self._attachments) - 1


class _Block(Struct):
    input: Raw | UnsetType = UNSET


_decode_inputs = msgspec.json.Decoder(list[_Block]).decode


def inputs_of(members: Members, raws: Mapping[str, Raw]) -> list[str | None]:
    """Give the texts of the inputs of an assistant's blocks, as they stand on the wire.

    Nothing where there are none, and where blocks cannot be read in this way.
    """
    content = members.get("content")
    if not (isinstance(content, list) and any(map(_has_input, content))):
        return []
    try:
        blocks = _decode_inputs(raws["content"])
    except DECODE_FAILURES:
        return []
    return [None if block.input is UNSET else bytes(block.input).decode() for block in blocks]


def _has_input(block: Json) -> bool:
    return isinstance(block, dict) and "input" in block
