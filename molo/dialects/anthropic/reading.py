"""Requests read into histories: the strict way where it goes, else message by message, with care.

The careful path takes any object with a role of this dialect for a message, and any block. What it
understands becomes a field; the difference between the message's canonical form and the wire is
kept as a delta, so nothing is refused for being unknown. Decisions:

- Every block of the top-level `system` is a System. So is every `system` object in `messages`,
  which stays where it stands. A `system` that says nothing (null, `[]`, `""`) is the envelope.
- A `user` object is its results, each a ToolResult, and a User for what stands between them.
- The texts of an assistant are joined by nothing, those of results and of a System by line ends,
  thinking by an empty line.
- Redacted thinking stands in the delta, which is sealed. Other blocks of an assistant (server tools
  and their results, compaction, what is yet to come) are Wire attachments.
- Media whose bytes or URL the wire tells are Image and File; others are Wire.
- Content that should be text or blocks and is neither becomes its JSON text.
"""

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from molo.dialects.anthropic.blocks import DIALECT
from molo.dialects.anthropic.forms import SHELLS
from molo.dialects.anthropic.messages import (
    Members,
    inputs_of,
    read_assistant,
    read_bare_user,
    read_instruction,
    read_run,
    read_system,
    runs,
    shell_of,
)
from molo.dialects.anthropic.strict import read_json, read_open_json, read_open_object
from molo.dialects.delta import Join, Unit, keep, would_join
from molo.dialects.loss import Read
from molo.dialects.wire import Given, Json, as_json, decoded, expect_object, expect_text, parse
from molo.errors import DecodeError, EncodeError
from molo.errors.translation import (
    Buffer,
    alternatives,
    identified,
)
from molo.message import Message, ProviderData

__all__ = ["from_request", "read_carefully"]


def from_request(request: Given) -> Read:
    """Read a request body, its `system` and `messages`, or `messages` alone.

    It is given as JSON bytes or text, or as dicts and lists. What else the body holds (`model`,
    `tools`, parameters) is no part of the conversation and stays with the caller. Of a repeated key
    the last value counts. Of bytes, the input of a call keeps its text to the letter, and all
    numbers their spelling.

    Raises:
        DecodeError: no JSON, or no conversation; `path` says where.

    >>> body = {"system": [{"type": "text", "text": "Be brief."}],
    ...         "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}
    >>> from_request(body).history
    [System(content='Be brief.'), User(content=(Text(text='Hi'),))]
    """
    data = as_json(request)
    history = read_json(data)
    if history is None:
        history = read_open_json(data)
    return read_carefully(data) if history is None else Read(history)


# --- Requests -------------------------------------------------------------------------------------


class _Body(Struct):
    messages: list[Raw]
    system: Raw | UnsetType = UNSET


_decode_raw = msgspec.json.Decoder(_Body | list[Raw]).decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode


def read_carefully(data: Buffer | str) -> Read:
    """Read a request whatever it holds; raises as `from_request`."""
    body = decoded(_decode_raw, data)
    reading = Reading()
    if isinstance(body, list):
        reading.read_messages("$", body, data)
    else:
        reading.read_system(body.system, data)
        reading.read_messages("$.messages", body.messages, data)
    return Read(reading.history, envelope=reading.envelope)


class Reading:
    """A request as it is read: its messages so far, and what belongs to none."""

    def __init__(self) -> None:
        self.history: list[Message] = []
        self.envelope: ProviderData | None = None

    def read_system(self, raw: Raw | UnsetType, data: Buffer | str) -> None:
        if raw is UNSET:
            return
        system = _parsed(raw, data)
        if not system:
            self.envelope = keep(Unit({}), Unit({"system": system}), DIALECT)
        elif isinstance(system, list):
            self.history += map(read_instruction, system)
        else:
            self.history.append(read_system({"role": "system", "content": system}, None))

    def read_messages(self, place: str, objects: list[Raw], data: Buffer | str) -> None:
        for index, raw in enumerate(objects):
            messages = read_open_object(raw, joins=would_join(self.history))
            if messages is None:
                members = expect_object(_parsed(raw, data), f"{place}[{index}]")
                self._read_at(f"{place}[{index}]", members, _decode_members(raw))
            else:
                self.history += messages

    def _read_at(self, place: str, members: Members, raws: dict[str, Raw]) -> None:
        try:
            self.read(members, raws)
        except DecodeError as failure:
            error = DecodeError(failure.text, path=place + failure.path)
        except (EncodeError, RecursionError):
            error = DecodeError("Expected a message nested less deeply", path=place)
        else:
            return
        raise error

    def read(self, members: Members, raws: dict[str, Raw]) -> None:
        """Read one object of `messages`, whatever it holds; `raws` are its members as JSON."""
        if "role" not in members:
            raise DecodeError("Expected field `role`, got an object without it")
        match expect_text(members["role"], ".role"):
            case "user":
                self._read_user(members)
            case "assistant":
                self.history.append(read_assistant(members, inputs_of(members, raws)))
            case "system":
                self.history.append(read_system(members, "new"))
            case other:
                got = identified(other)
                raise DecodeError(f"Expected {alternatives(_ROLES)}, got {got}", path=".role")

    def _read_user(self, members: Members) -> None:
        content = members.get("content")
        shell = shell_of(members)
        join: Join | None = "new" if would_join(self.history) else None
        if not isinstance(content, list):
            self.history.append(read_bare_user(members, join))
            return
        for run in runs(content):
            self.history.append(read_run(run, shell, join))
            shell = SHELLS["user"]
            join = None if would_join(self.history) else "same"


_ROLES = ("user", "assistant", "system")


def _parsed(raw: Raw, data: Buffer | str) -> Json:
    try:
        return parse(raw)
    except DecodeError:
        pass
    return parse(data)  # does not come back: its error has the place in the whole
