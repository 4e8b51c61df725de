"""What the dialects ask of content blocks, whatever the vendor."""

from collections.abc import Callable, Collection, Sequence

from msgspec.structs import replace

from molo.dialects import data_url
from molo.dialects.loss import Loss
from molo.dialects.wire import Json, parse
from molo.errors import DecodeError
from molo.history.contents import KINDS
from molo.history.rules import BlockKind
from molo.message import Audio, ContentBlock, File, Image, ToolResult, Wire

__all__ = ["Step", "has_untold_type", "is_verbatim", "url_of"]


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


class Step:
    """The results of one step as they are written, and the blocks that they may not hold.

    `held` are the kinds that results may hold; of the others, users send those that are `sent`, in
    a message that follows the results. `parts` writes blocks; those of which it makes nothing have
    no place in the dialect, which is no loss of this move. The others are named in `losses`.
    """

    def __init__(
        self,
        held: Collection[BlockKind],
        sent: Collection[BlockKind],
        parts: Callable[[Sequence[ContentBlock]], list[Json]],
        losses: list[Loss],
    ) -> None:
        self._held = held
        self._sent = sent
        self._parts = parts
        self._losses = losses
        self._following: list[Json] = []

    def result(self, at: int, result: ToolResult) -> ToolResult:
        """Give a result, which stands at this index, without the blocks that it may not hold."""
        kept: list[ContentBlock] = []
        for index, block in enumerate(result.attachments):
            if KINDS[type(block)] in self._held:
                kept.append(block)
            elif KINDS[type(block)] not in self._sent:
                self._losses.append(Loss("block", at, index, _REFUSED))
            elif moved := self._parts((block,)):
                self._following += moved
                self._losses.append(Loss("moved", at, index, _MOVED))
        if len(kept) == len(result.attachments):
            return result
        return replace(result, attachments=tuple(kept))

    def end(self) -> list[Json]:
        """End the step: give the parts of the message of a user that has to follow its results."""
        following, self._following = self._following, []
        return following


_MOVED = "Expected a block that results may hold, got one that follows them"
_REFUSED = "Expected a block that this vendor takes, got another"
