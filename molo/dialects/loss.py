"""What reading and writing a vendor's form gives: a history, a request, a reply, and the losses.

Lossless or loud: what a dialect cannot carry it names in a `Loss`, and it raises only where there
is no conversation to read. The results have the same fields for every dialect.

    read = openai_chat.from_request(body)             Read(history, losses, envelope)
    written = anthropic.to_request(read.history)      Written(request, losses)
    reply = anthropic.from_response(response)         Reply(message, stop, rest)
"""

from typing import Any, Literal

from msgspec import Struct

from molo.errors import DecodeError, StreamError
from molo.message import Assistant, Message, ProviderData

__all__ = [
    "BrokenStreamError",
    "Code",
    "Loss",
    "Read",
    "Reply",
    "Stop",
    "Written",
    "WrittenJson",
    "broken_at",
]

Code = Literal[
    "arguments",  # arguments that the vendor's form cannot carry as they are
    "block",  # a content block or attachment of a kind that has no place there
    "error_flag",  # `is_error`: the vendor has no such flag
    "field",  # a field of one vendor that another vendor of the same dialect refuses
    "foreign",  # provider_data of another dialect
    "id",  # the id of a call or result
    "media_type",  # a `mime_type` that the vendor does not take with this block
    "message",  # a whole message
    "moved",  # something stands in another place than in the history
    "name",  # a file's name
    "reasoning",  # the text of the reasoning
    "sealed",  # reasoning state that only its own vendor can read: signatures, encrypted blocks
    "stale",  # provider_data that does not fit its message, which was edited since, or is damaged
    "unread",  # what the vendor sent and the reader cannot keep
]
"""The kind of a loss: a closed set, for every dialect."""

Stop = Literal["end", "length", "tool_calls", "filter", "other"]
"""Why a reply ended; `other` is a reason that molo has no word for (it stands in `Reply.rest`)."""


class Loss(Struct, frozen=True, gc=False):
    """One thing that the written form does not say, or does not say where the history does.

    `at` is the index of the message in the history, `part` the index of the block, attachment or
    call in it; None where the loss is not about one. `text` is a sentence that quotes nothing.
    """

    code: Code
    at: int | None
    part: int | None
    text: str


class Read(Struct, frozen=True):
    """A request, read: its history, what was lost (as a rule nothing), and its envelope.

    `envelope` holds what belongs to no message; give it back to `to_request`. It is None where the
    conversation is nothing but its messages.
    """

    history: list[Message]
    losses: tuple[Loss, ...] = ()
    envelope: ProviderData | None = None


class Written(Struct, frozen=True):
    """A history, written: the fragment to splat into the vendor's call, and what it lacks."""

    request: dict[str, Any]
    losses: tuple[Loss, ...] = ()


class WrittenJson(Struct, frozen=True):
    """A history, written as JSON: the same fragment, numbers as they were spelled."""

    request: bytes
    losses: tuple[Loss, ...] = ()


class Reply(Struct, frozen=True):
    """An answer of a vendor: the message, why it ended, and the rest.

    `stop` is None where the vendor gave no reason. `rest` is JSON text: the response without the
    message (usage, ids, the reason in the vendor's words, further choices).
    """

    message: Assistant
    stop: Stop | None
    rest: str


class BrokenStreamError(StreamError):
    """A stream that broke off or ended in an error; `reply` is what was complete until then.

    `reply` is None where nothing had come. Its `tool_calls` may be cut short in the arguments of
    the last call, as those of an answer that ran into its length limit.
    """

    def __init__(
        self, text: str, *, path: str = "", offset: int | None = None, reply: Reply | None = None
    ) -> None:
        super().__init__(text, path=path, offset=offset)
        self.reply = reply


def broken_at(failure: DecodeError, reply: Reply | None) -> BrokenStreamError:
    """Give the error of a stream that broke off at a chunk with this failure."""
    return BrokenStreamError(failure.text, path=failure.path, offset=failure.offset, reply=reply)
