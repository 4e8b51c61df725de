"""What the dialects ask of content blocks, whatever the vendor."""

from molo.dialects import data_url
from molo.dialects.wire import parse
from molo.errors import DecodeError
from molo.history.contents import KINDS
from molo.history.rules import BlockKind
from molo.message import Audio, ContentBlock, File, Image, Wire

__all__ = ["is_verbatim", "refused", "url_of"]


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


def refused(blocks: tuple[ContentBlock, ...], kinds: tuple[BlockKind, ...]) -> list[int]:
    """List the indices of the blocks that are of none of these kinds."""
    return [index for index, block in enumerate(blocks) if KINDS[type(block)] not in kinds]
