"""The two keys of a request that hold its conversation: `input` and `instructions`.

`instructions` that say something are a System in front of the items. It is told apart from the
Systems among the items by its unit, which is the object `{"instructions": …}` and no list of items;
wherever it is moved to, it is written there. Whatever belongs to no message stands in the envelope,
a JSON object with the keys

    "instructions"  null or "", where there are any
    "input"         "text", "null" or "absent", where it is no array
"""

from typing import NamedTuple, TypeAlias

from msgspec import UnsetType
from msgspec.structs import replace

from molo.dialects.delta import Base, Edit, copied, known
from molo.dialects.loss import Read
from molo.dialects.openai_responses.forms import DIALECT, canonical, with_delta
from molo.dialects.wire import Json, expect_object, parse, string, text
from molo.errors import DecodeError
from molo.message import Message, ProviderData, System, Text, User

__all__ = ["Body", "Envelope", "join", "opened", "parts_of"]


class Body(NamedTuple):
    """A request as far as it is read: `input` as messages, where it is an array of items."""

    input: list[Message] | str | UnsetType | None
    instructions: "Json | UnsetType"


Envelope: TypeAlias = dict[str, Json]
"""What an envelope says."""

_BETWEEN = "\n\n"  # the texts of several Systems in `instructions`


def opened(body: Body) -> Read:
    """Make a history of a request, and its envelope."""
    parts: Envelope = {}
    history: list[Message] = []
    instructions = body.instructions
    if isinstance(instructions, UnsetType):
        pass
    elif instructions is None or instructions == "":
        parts["instructions"] = instructions
    else:
        history.append(_system(instructions))
    if isinstance(body.input, list):
        history += body.input
    elif isinstance(body.input, str):
        parts["input"] = "text"
        history.append(User((Text(body.input),)))
    else:
        parts["input"] = "null" if body.input is None else "absent"
    envelope = ProviderData(dialect=DIALECT, delta=text(parts), digest="") if parts else None
    return Read(history, envelope=envelope)


def _system(instructions: Json) -> System:
    message = System(string(instructions))
    if not isinstance(instructions, str):
        return with_delta(message, {"instructions": instructions})
    edit: Edit = [{"instructions": copied(instructions, 0, "content")}]
    return replace(message, provider_data=known(Base(canonical(message)), edit, DIALECT))


def parts_of(envelope: ProviderData | None) -> Envelope | None:
    """Give what an envelope says; None where it is damaged or another dialect's."""
    if envelope is None:
        return {}
    if envelope.dialect != DIALECT:
        return None
    try:
        return expect_object(parse(envelope.delta), "")
    except DecodeError:
        return None


def join(envelope: Envelope, instructions: list[Json], items: list[Json]) -> dict[str, Json]:
    """Put a request together; the envelope counts where the messages leave room for it."""
    request: dict[str, Json] = {}
    match instructions:
        case [alone]:
            request["instructions"] = alone
        case [_, *_]:
            request["instructions"] = _BETWEEN.join(map(string, instructions))
        case _ if "instructions" in envelope:
            request["instructions"] = envelope["instructions"]
        case _:
            pass
    match envelope.get("input"), items:
        case "absent", []:
            pass
        case "null", []:
            request["input"] = None
        case "text", [{"role": "user", "content": str(words), **others}] if not others:
            request["input"] = words
        case _:
            request["input"] = items
    return request
