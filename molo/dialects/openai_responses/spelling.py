"""How one vendor, or one way to call it, wants items that all others take as they were read."""

from msgspec import Struct

__all__ = ["RECORDED", "STATELESS", "Spelling"]


class Spelling(Struct, frozen=True, kw_only=True):
    """How a vendor, or one way to call it, wants items; the defaults write what was read."""

    stored: bool = True
    """The vendor keeps its answers, so that it knows items by their ids."""


RECORDED = Spelling()
"""As it was read; what was not is in canonical form."""

STATELESS = Spelling(stored=False)
"""For requests with `"store": false`: no item points to what the vendor has kept.

References, and reasoning that came without its content, are left out; messages and calls have no
ids. Reasoning goes back if it is encrypted (`"include": ["reasoning.encrypted_content"]`).
https://platform.openai.com/docs/guides/reasoning, read 2026-11
"""
