"""What the typed shapes of all vendors have in common."""

from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

__all__ = ["Empty", "NotUsualError", "Shape"]


class Shape(Struct, forbid_unknown_fields=True, gc=False):
    """The settings of all shapes; those that take other keys say so."""


Empty: TypeAlias = Annotated[list[None], Meta(max_length=0)]
"""An array that holds nothing."""


class NotUsualError(ValueError):
    """What the types accept and no small delta describes; it takes the careful path."""
