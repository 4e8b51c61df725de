"""What the typed shapes of all vendors have in common."""

from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

__all__ = ["Empty", "NotUsualError", "Shape"]


class Shape(Struct, forbid_unknown_fields=True, gc=False):
    """The settings of all shapes: what has another key is no such shape."""


Empty: TypeAlias = Annotated[list[None], Meta(max_length=0)]
"""An array that holds nothing."""


class NotUsualError(ValueError):
    """A shape that the types accept and that departs from the canonical form in another way."""
