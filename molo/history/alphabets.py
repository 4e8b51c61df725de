"""The closed set of alphabets that ids of calls and names of tools are written in."""

import re
from collections.abc import Collection, Mapping
from typing import Literal

__all__ = ["ALPHABETS", "Alphabet", "are_written_in", "is_written_in"]

Alphabet = Literal["any", "alnum", "word", "dotted"]

_ALNUM = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_WORD = _ALNUM + "-_"

ALPHABETS: Mapping[Alphabet, str] = {
    "any": _WORD,  # every character is taken; what is newly made is made of these
    "alnum": _ALNUM,
    "word": _WORD,
    "dotted": _WORD + ".:",
}

_MATCH = {
    alphabet: re.compile(".*" if alphabet == "any" else f"[{re.escape(chars)}]*", re.DOTALL)
    for alphabet, chars in ALPHABETS.items()
}


def is_written_in(text: str, alphabet: Alphabet) -> bool:
    """Tell whether a text has characters of this alphabet only.

    >>> is_written_in("call_1", "word"), is_written_in("functions.f:0", "word")
    (True, False)
    """
    return _MATCH[alphabet].fullmatch(text) is not None


def are_written_in(
    texts: Collection[str], alphabet: Alphabet, shortest: int, longest: int | None
) -> bool:
    """Tell whether all texts have characters of this alphabet only, and such a length.

    >>> are_written_in(["call_1", "call_2"], "word", 1, 6), are_written_in([""], "any", 1, None)
    (True, False)
    """
    if shortest > 0 and "" in texts:
        return False
    if shortest > 1 or longest is not None:
        for text in texts:
            if len(text) < shortest or (longest is not None and len(text) > longest):
                return False
    return alphabet == "any" or is_written_in("".join(texts), alphabet)
