"""What the typed shapes of all vendors have in common."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias, TypeVar

from msgspec import Meta, Struct

from molo.dialects.delta import Edit, added
from molo.dialects.wire import Json

__all__ = ["Empty", "NotUsualError", "Shape", "shell_edit"]

T = TypeVar("T")


class Shape(Struct, forbid_unknown_fields=True, gc=False):
    """The settings of all shapes; those that take other keys say so."""


Empty: TypeAlias = Annotated[list[None], Meta(max_length=0)]
"""An array that holds nothing."""


class NotUsualError(ValueError):
    """What the types accept and no small delta describes; it takes the careful path."""


def shell_edit(
    members: Mapping[str, list[T] | str | dict[str, Any] | int | bool | None],
) -> Edit | None:
    """Give the edit that adds these members to an object, None if there are none.

    Raises:
        NotUsualError: one is an array, which was read as what the object holds.
    """
    odd: dict[str, Json] = {}
    for key, value in members.items():
        if isinstance(value, list):
            raise NotUsualError
        odd[key] = value
    return added(odd) if odd else None
