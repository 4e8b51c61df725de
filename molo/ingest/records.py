"""What reading a log gives, line by line: a Record, or a Fault where there is none."""

from typing import Literal, TypeAlias

from msgspec import Struct

from molo.dialects.loss import Loss
from molo.message import Message, ProviderData

__all__ = ["Code", "Fault", "Layout", "Origin", "Record"]

Layout: TypeAlias = Literal["lines", "frames", "document"]
"""How records lie in a log: one a line, one a frame, or the whole log is one."""

Code = Literal[
    "json",  # no JSON, or no MessagePack
    "record",  # JSON that is no record of the format
    "extra",  # a record with more behind it
    "multiline",  # JSON over several lines
    "nul",  # a block of NUL bytes, as a crash of the machine leaves it
    "too_long",  # over the limit; a line in several Faults if need be
    "torn",  # the last line or frame broke off
    "frame",  # no frame: boundaries are lost
    "compressed",  # the compressed stream broke off or is damaged
]
"""The kind of a Fault: a closed set."""


class Origin(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where in a vendor's line the messages stood, if not simply in its conversation.

    With it the line is written again as it was. `dialect` is the name of the format; `envelope` is
    the one that the dialect gave. `within` is the key of the object that held the conversation,
    empty for the line itself, None if there was an answer only. `reply` is the key that held the
    answer, empty if there was none; its message is the last, and what was around it stays in
    `Record.rest`. `single` says that the line was one message of the vendor.
    """

    dialect: str
    envelope: ProviderData | None = None
    within: str | None = ""
    reply: str = ""
    single: bool = False


class Record(Struct, frozen=True):
    """One line of a log that was read: its messages, and all else that the line held.

    `line` counts from 1, blank lines too (of frames: their number). `offset` is where the line
    starts, in bytes of the log as it is decompressed. `rest` is the JSON text of the other members
    of an object, each as it stood; it is empty where the line was an array of messages, or one
    message alone, which `single` tells. `losses` are those of reading, as a rule none. `raw` are
    the bytes of the line, if `read` was to keep them.
    """

    messages: list[Message]
    line: int = 0
    offset: int = 0
    rest: str = ""
    single: bool = False
    origin: Origin | None = None
    losses: tuple[Loss, ...] = ()
    raw: bytes = b""

    @property
    def has_answer(self) -> bool:
        """Whether the last message is an answer as it was logged: nobody has replied to it yet.

        Then `check_record` and `repair_record` judge the messages, where `molo.history` would miss
        the results of its calls.
        """
        return self.origin is not None and self.origin.reply != ""


class Fault(Struct, frozen=True):
    """A stretch of a log that is no record, and why.

    `source` names the log, `line` and `offset` are those of a Record, `length` is in bytes. `raw`
    are these bytes, line end and all, so that the raw of all Faults in a file is every bad line
    byte for byte. `reason` is a sentence that quotes nothing of the conversation.
    """

    source: str
    line: int
    offset: int
    length: int
    reason: str
    raw: bytes
    code: Code
