"""The ids of calls: which ones rules take, and new ones for those that cannot stay.

An id is judged within its scope (a step, or the history), from left to right: what stands further
on never changes the answer.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from molo.history.alphabets import ALPHABETS, Alphabet, are_written_in, is_written_in
from molo.history.rules import Rules
from molo.history.structure import Pair
from molo.message import Assistant, Message

__all__ = ["IdFault", "IdSpace", "Scope", "are_ids", "id_space", "scopes"]

IdFault = Literal["id_empty", "id_length", "id_chars", "id_repeated", "id_space"]

MAX_ENUMERABLE = 5  # characters; of longer ids there are more than a history can use up
MAX_TRIES = 8  # numbers tried behind an id that is taken, before the next free id is taken instead


class IdSpace(Struct, frozen=True):
    """The ids that rules take."""

    alphabet: Alphabet
    chars: str  # what new ids are made of
    shortest: int
    longest: int | None
    size: int | None  # how many can be made; None: more than a history can use up


def id_space(rules: Rules) -> IdSpace:
    """Work out which ids rules take."""
    chars = ALPHABETS[rules.id_chars]
    shortest = max(1, rules.id_min)
    size = _size(len(chars), shortest, rules.id_max)
    return IdSpace(rules.id_chars, chars, shortest, rules.id_max, size)


def are_ids(ids: Collection[str], rules: Rules) -> bool:
    """Tell whether each of these could be an id, if it were the only one."""
    return are_written_in(ids, rules.id_chars, max(1, rules.id_min), rules.id_max)


def _form_fault(id: str, space: IdSpace) -> IdFault | None:
    if not id:
        return "id_empty"
    if len(id) < space.shortest or (space.longest is not None and len(id) > space.longest):
        return "id_length"
    if space.alphabet != "any" and not is_written_in(id, space.alphabet):
        return "id_chars"
    return None


class Scope:
    """The ids given out so far in one step, or in one history."""

    def __init__(self, space: IdSpace) -> None:
        self._space = space
        self._given: set[str] = set()
        self._made = 0  # how many of these are of the alphabet; counted only where size is known
        self._numbers: dict[str, int] = {}  # the next number to try behind a stem
        self._next = 0  # the next id to try, in the order of all ids

    def take(self, id: str) -> IdFault | None:
        """Give out an id, or say why it cannot be."""
        fault = _form_fault(id, self._space) or ("id_repeated" if id in self._given else None)
        if fault is None:
            self._give(id)
        elif self._made == self._space.size:
            return "id_space"
        return fault

    def fresh(self, id: str) -> str:
        """Give out a new id in the place of one that `take` refused for another reason than space.

        It is made of the legal characters of the old one, with the number of the clash behind.
        """
        new = self._numbered(id) or self._next_free()
        self._give(new)
        return new

    def _give(self, id: str) -> None:
        self._given.add(id)
        if self._space.size is not None:
            self._made += all(char in self._space.chars for char in id)

    def _numbered(self, id: str) -> str | None:
        stem = _stem(id, self._space.chars)
        first = self._numbers.get(stem, 1)
        for number in range(first, first + MAX_TRIES):
            new = _fitted(stem, number, self._space)
            self._numbers[stem] = number + 1
            if new is None or new not in self._given:
                return new
        return None

    def _next_free(self) -> str:
        while (new := _nth(self._next, self._space)) in self._given:
            self._next += 1
        return new


def scopes(history: Sequence[Message], pairs: Sequence[Pair], rules: Rules) -> Iterator[list[Pair]]:
    """Split the pairs of a history into the scopes in which their ids have to be unique."""
    whole = rules.id_scope == "history" or rules.results == "anywhere"
    scope: list[Pair] = []
    at = 0
    for pair in pairs:
        if scope and not whole and not _in_one_run(history, at, pair.at):
            yield scope
            scope = []
        scope.append(pair)
        at = pair.at
    if scope:
        yield scope


def _in_one_run(history: Sequence[Message], start: int, stop: int) -> bool:
    return all(type(history[at]) is Assistant for at in range(start, stop))


def _size(chars: int, shortest: int, longest: int | None) -> int | None:
    if longest is None or (longest > MAX_ENUMERABLE and shortest <= longest):
        return None
    size: int = sum(chars**length for length in range(shortest, longest + 1))
    return size


def _stem(id: str, chars: str) -> str:
    return "".join(filter(chars.__contains__, id)) or "call"


def _fitted(stem: str, number: int, space: IdSpace) -> str | None:
    """Put a number behind a stem, cut or filled up to a legal length; None if it has no room."""
    separator = "_" if "_" in space.chars else ""
    suffix = "" if number == 1 else f"{separator}{number}"
    if space.longest is not None:
        room = space.longest - len(suffix)
        if room < 0:
            return None
        stem = stem[max(0, len(stem) - room) :]  # the ends of ids differ more than their beginnings
    return stem.ljust(space.shortest - len(suffix), "0") + suffix


def _nth(number: int, space: IdSpace) -> str:
    """Write a number as an id: the shortest first, then in the order of the alphabet."""
    base, length = len(space.chars), space.shortest
    while number >= base**length:
        number -= base**length
        length += 1
    places = reversed(range(length))
    return "".join(space.chars[number // base**place % base] for place in places)
