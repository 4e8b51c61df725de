"""The args of calls as they stand on the wire: their JSON text, white space and numbers and all.

They are looked up apart from what was parsed, in a decode that passes over everything else.
"""

from typing import TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from molo.dialects.gemini.contents import Members, call_in, parts_of
from molo.dialects.wire import spelled
from molo.errors.translation import Buffer

__all__ = ["args_of"]

# What may stand where an object should; such args are read from what was parsed.
_Other: TypeAlias = list[Raw] | str | int | float | bool | None


class _Call(Struct):
    args: Raw | UnsetType = UNSET


class _Part(Struct):
    functionCall: _Call | _Other = None  # noqa: N815
    function_call: _Call | _Other = None


_decode = msgspec.json.Decoder(list[_Part | _Other] | _Part).decode


def args_of(content: Members, data: Buffer | str, *path: str | int) -> list[str | None]:
    """Give the text of the args of each part of a content; None for parts that have none.

    The parts stand at `path` of the JSON `data`. Where no part is a call the list is empty.
    """
    if not any(map(call_in, parts_of(content))):
        return []
    parts = _decode(spelled(data, *path) if path else data)
    return [_text(part) for part in (parts if isinstance(parts, list) else [parts])]


def _text(part: _Part | _Other) -> str | None:
    if not isinstance(part, _Part):
        return None
    call = part.functionCall or part.function_call
    if isinstance(call, _Call) and call.args is not UNSET:
        return bytes(call.args).decode()
    return None
