"""Items of the vendor's form, asked what they are to the conversation.

- Messages say it by their role; one whose role is not known is a User.
- Calls that the client has to answer, and its answers, are calls and results, whatever their kind.
- `compaction` and `additional_tools` set what the model knows: they are Systems without text.
- An `mcp_approval_response` is a User's.
- All else is part of a reply: what the vendor ran itself, references, and kinds not known.

A tool search that the vendor ran has `"execution": "server"` or no `call_id`.

https://platform.openai.com/docs/api-reference/responses/create, read 2026-11
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from molo.dialects.wire import Json, expect_array, expect_object, expect_text, string
from molo.errors import DecodeError

__all__ = [
    "ARGUMENTS",
    "OUTPUTS",
    "Kind",
    "Members",
    "is_call",
    "is_reference",
    "is_sealed_elsewhere",
    "kind_of",
    "objects_of",
    "texts_of",
    "type_of",
    "without_id",
]

Members: TypeAlias = dict[str, Json]
"""An item as an object of JSON."""

Kind: TypeAlias = Literal["system", "user", "result", "reply"]
"""What an item is to the conversation."""

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "function_call": ("arguments",),
    "custom_tool_call": ("input",),
    "local_shell_call": ("action",),
    "shell_call": ("action",),
    "computer_call": ("action", "actions"),
    "apply_patch_call": ("operation",),
    "tool_search_call": ("arguments",),
}
"""The calls that a client answers: the keys under which their arguments may stand."""

OUTPUTS: Mapping[str, str] = {
    "function_call_output": "output",
    "custom_tool_call_output": "output",
    "local_shell_call_output": "output",
    "shell_call_output": "output",
    "computer_call_output": "output",
    "apply_patch_call_output": "output",
    "tool_search_output": "tools",
}
"""The answers of a client: the key under which what the tool gave stands."""

_ROLES: Mapping[str, Kind] = {"system": "system", "developer": "system", "assistant": "reply"}
_TYPES: Mapping[str, Kind] = {
    "compaction": "system",
    "mcp_approval_response": "user",
    **dict.fromkeys(OUTPUTS, "result"),
}


def objects_of(values: Json, place: str) -> list[Members]:
    """Give the items of an array that stands at this place.

    Raises:
        DecodeError: no array, or not of objects.
    """
    items = expect_array(values, place)
    objects = [item for item in items if isinstance(item, dict)]
    if len(objects) < len(items):
        at = next(at for at, item in enumerate(items) if not isinstance(item, dict))
        expect_object(items[at], f"{place}[{at}]")
    return objects


def kind_of(item: Members) -> Kind:
    """Tell what an item is to the conversation.

    Raises:
        DecodeError: it has neither a role nor a type nor an id; `path` begins at the item.
    """
    role = item.get("role")
    if role is not None:
        return _ROLES.get(expect_text(role, ".role"), "user")
    type = item.get("type")
    if type is not None:
        kind = _TYPES.get(expect_text(type, ".type"), "reply")
        return "reply" if kind == "result" and _is_hosted(item) else kind
    if is_reference(item):
        return "reply"
    raise DecodeError("Expected field `role` or `type`, got an object without them")


def is_call(item: Members) -> bool:
    """Tell whether an item of a reply is a call that the client has to answer."""
    return type_of(item) in ARGUMENTS and not _is_hosted(item)


def is_reference(item: Members) -> bool:
    """Tell whether an item only points to one that the vendor keeps; it may leave its type out."""
    type = item.get("type")
    return type == "item_reference" or (type is None and "role" not in item and "id" in item)


def is_sealed_elsewhere(item: Members) -> bool:
    """Tell whether an item is reasoning whose content the vendor keeps, known by its id alone."""
    if item.get("type") != "reasoning":
        return False
    return not (item.get("encrypted_content") or item.get("content"))


def without_id(item: Members) -> Members:
    """Take the id off a message or call: an item that means the same without it."""
    if "role" in item or item.get("type") in ("function_call", "custom_tool_call"):
        return {key: value for key, value in item.items() if key != "id"}
    return item


def _is_hosted(item: Members) -> bool:
    if item.get("type") not in ("tool_search_call", "tool_search_output"):
        return False
    return item.get("execution") == "server" or item.get("call_id") is None


def type_of(item: Members) -> str:
    """Give the type of an item, `""` where it has none that is a string."""
    type = item.get("type")
    return type if isinstance(type, str) else ""


def texts_of(content: Json) -> list[str]:
    """List the texts of a content: a string, or an array whose parts may be texts or refusals."""
    if isinstance(content, list):
        return [words for part in content if (words := _words(part)) is not None]
    return [string(content)]


def _words(part: Json) -> str | None:
    match part:
        case {"text": str(words)} | {"refusal": str(words)}:
            return words
        case _:
            return None
