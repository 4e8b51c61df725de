"""Streamed answers put together: chunk by chunk into what the vendor would have sent at once.

Each chunk is an answer of its own shape, whether it came as an event or as an item of an array.
Decisions:

- Texts that follow one another are one part, and so are thoughts. A part that holds a signature
  stays as it is, and nothing is joined to it: the vendor wants it back on its part.
- Every other part is whole in its chunk. Empty texts without a signature, with which streams end,
  are no parts.
- Of all that is no part (`finishReason`, `groundingMetadata`, `usageMetadata`) the last value
  counts that is not null.

Each piece is looked at once: the cost is linear in the length of the stream.
"""

from collections.abc import Iterable
from itertools import zip_longest
from typing import NamedTuple

from molo.dialects.gemini.args import args_of
from molo.dialects.gemini.contents import Members, parts_of
from molo.dialects.gemini.replies import (
    Response,
    content_of,
    members_of,
    reply_of,
    reply_of_blocked,
)
from molo.dialects.loss import BrokenStreamError, Reply, broken_at
from molo.dialects.wire import Json, as_json, expect_array, expect_object
from molo.errors import DecodeError
from molo.errors.translation import Buffer

__all__ = ["Accumulator", "accumulate"]


class Accumulator:
    """An answer that is being streamed: feed it every chunk, then ask for the reply.

    >>> accumulator = Accumulator()
    >>> accumulator.feed({"candidates": [{"content": {"parts": [{"text": "Hel"}]}}]})
    >>> accumulator.feed({"candidates": [{"content": {"parts": [{"text": "lo"}]},
    ...                                   "finishReason": "STOP"}]})
    >>> accumulator.reply().message
    Assistant(content='Hello')
    """

    def __init__(self) -> None:
        self._rest: Members = {}
        self._candidates: dict[int, _Candidate] = {}

    def feed(self, chunk: Response) -> None:
        """Take one chunk: the JSON of a `data:` line, or what a parser makes of it.

        Raises:
            BrokenStreamError: the chunk is an error, or is none; its `reply` is what had come.
        """
        try:
            data = as_json(chunk)
            self._take(members_of(data), data)
        except DecodeError as failure:
            broken = failure
        else:
            return
        raise broken_at(broken, self._so_far())

    def reply(self) -> Reply:
        """Give the reply that the chunks make; `stop` is None where no chunk gave a reason.

        Raises:
            BrokenStreamError: no candidate has come, and no word that the prompt was blocked.
        """
        try:
            return self._reply()
        except DecodeError as failure:
            error = BrokenStreamError(failure.text, path=failure.path)
        raise error

    def _take(self, members: Members, data: Buffer | str) -> None:
        candidates = expect_array(members.pop("candidates", None) or [], "$.candidates")
        self._rest |= _given(members)
        for at, item in enumerate(candidates):
            candidate = expect_object(item, f"$.candidates[{at}]")
            index = candidate.get("index")
            number = index if isinstance(index, int) else at
            content = content_of(candidate, f"$.candidates[{at}]")
            args = args_of(content or {}, data, "candidates", at, "content", "parts")
            self._candidates.setdefault(number, _Candidate()).take(candidate, content, args)

    def _so_far(self) -> Reply | None:
        try:
            return self._reply()
        except DecodeError:
            return None

    def _reply(self) -> Reply:
        if not self._candidates:
            return reply_of_blocked(self._rest)
        (_, first), *others = sorted(self._candidates.items())
        wholes: list[Json] = [candidate.whole() for _, candidate in others]
        return reply_of(self._rest, first.rest, first.content(), first.args(), wholes)


def accumulate(chunks: Iterable[Response]) -> Reply:
    """Put a streamed answer together.

    Raises:
        BrokenStreamError: a chunk is an error or none, or no candidate came.
    """
    accumulator = Accumulator()
    for chunk in chunks:
        accumulator.feed(chunk)
    return accumulator.reply()


def _given(members: Members) -> Members:
    return {key: value for key, value in members.items() if value is not None}


class _Candidate:
    """One candidate of a streamed answer: its parts, and its other keys."""

    def __init__(self) -> None:
        self.rest: Members = {}
        self._content: Members = {}  # without its parts
        self._parts: list[_Part] = []
        self._is_silent = False  # whether an empty text has come

    def take(self, candidate: Members, content: Members | None, args: list[str | None]) -> None:
        self.rest |= _given({**candidate, "content": None})
        if content is not None:
            self._content |= _given({**content, "parts": None})
            for part, given in zip_longest(parts_of(content), args):
                self._add(part, given)

    def _add(self, part: Json, args: str | None) -> None:
        piece = _piece(part)
        last = self._parts[-1] if self._parts else None
        if piece is None:
            self._parts.append(_Part(part, [], args))
        elif last is not None and last.texts and last.value == piece.value:
            last.texts.extend(piece.texts)
        elif piece.texts != [""] or piece.value == {"thought": True}:
            self._parts.append(piece)
        else:
            self._is_silent = True

    def content(self) -> Members | None:
        """Give the content, if anything of it has come."""
        parts = [part.whole() for part in self._parts]
        if not parts and self._is_silent:
            parts.append({"text": ""})
        return {**self._content, "parts": parts} if parts else self._content or None

    def args(self) -> list[str | None]:
        """Give the texts of the args of each part."""
        return [part.args for part in self._parts]

    def whole(self) -> Json:
        """Give the candidate as it would have come at once."""
        return {"content": self.content(), **self.rest}


class _Part(NamedTuple):
    value: Json  # without its text, if that may grow
    texts: list[str]
    args: str | None

    def whole(self) -> Json:
        if not self.texts:
            return self.value
        return {"text": "".join(self.texts), **expect_object(self.value, "")}


def _piece(part: Json) -> _Part | None:
    """Take a part for a piece of text, or of a thought; None if it is more than that."""
    if not isinstance(part, dict) or part.keys() - {"text", "thought"}:
        return None
    words = part.get("text")
    if not isinstance(words, str):
        return None
    return _Part({key: value for key, value in part.items() if key != "text"}, [words], None)
