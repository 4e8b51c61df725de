"""What the dialects ask of content blocks, whatever the vendor."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from molo.dialects import data_url
from molo.dialects.loss import Loss
from molo.dialects.wire import Json, parse
from molo.errors import DecodeError
from molo.history.contents import KINDS
from molo.history.rules import BlockKind
from molo.message import Audio, ContentBlock, File, Image, ToolResult, Wire

__all__ = ["Parted", "has_untold_type", "is_verbatim", "part_result", "url_of"]


def url_of(block: Image | Audio | File) -> str:
    """Give the URL of a medium; of bytes, their data URL.

    >>> url_of(Image(data=b"PNG", mime_type="image/png"))
    'data:image/png;base64,UE5H'
    """
    if block.data is not None:
        return data_url.join(block.mime_type, block.data)
    return block.url or ""


def is_verbatim(block: Wire, dialect: str) -> bool:
    """Tell whether a block carries JSON of this dialect.

    >>> is_verbatim(Wire("gemini", "{}"), "anthropic")
    False
    """
    if block.dialect != dialect:
        return False
    try:
        parse(block.data)
    except DecodeError:
        return False
    return True


def has_untold_type(block: ContentBlock) -> bool:
    """Tell whether a block is a medium at a URL and says its type, which the URL alone does not.

    >>> has_untold_type(Image(url="https://example.org/chart", mime_type="image/png"))
    True
    """
    return (
        isinstance(block, Image | Audio | File) and block.url is not None and bool(block.mime_type)
    )


class Parted(NamedTuple):
    """A result without the blocks that it may not hold."""

    result: ToolResult
    following: list[Json]
    """The parts of a user message that has to follow the results of the step."""
    losses: list[Loss]
    """The blocks that moved there, and those that users may not send either."""


def part_result(
    at: int,
    result: ToolResult,
    *,
    held: Collection[BlockKind],
    sent: Collection[BlockKind],
    parts: Callable[[Sequence[ContentBlock]], list[Json]],
) -> Parted:
    """Take the blocks out of a result that it may not hold, for users to send them.

    `held` are the kinds that results may hold, `sent` those of users. `parts` writes blocks; those
    of which it makes nothing have no place in the dialect, which is no loss of this move.
    """
    kept: list[ContentBlock] = []
    following: list[Json] = []
    losses: list[Loss] = []
    for index, block in enumerate(result.attachments):
        if KINDS[type(block)] in held:
            kept.append(block)
        elif KINDS[type(block)] not in sent:
            losses.append(Loss("block", at, index, _REFUSED))
        elif moved := parts((block,)):
            following += moved
            losses.append(Loss("moved", at, index, _MOVED))
    if len(kept) == len(result.attachments):
        return Parted(result, [], [])
    return Parted(replace(result, attachments=tuple(kept)), following, losses)


_MOVED = "Expected a block that results may hold, got one that follows them"
_REFUSED = "Expected a block that this vendor takes, got another"
