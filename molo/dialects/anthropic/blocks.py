"""Content blocks: what a User says, and what a result holds, as the vendor's blocks and back.

    Text    {"type": "text", "text": "…"}
    Image   {"type": "image", "source": source}
    File    {"type": "document", "source": source, "title": "…"}, the title only if there is a name
    Wire    the block itself

A source tells the bytes ("base64"), the URL ("url") or, in a document, the text ("text"). Data URLs
are written as bytes, for the vendor fetches none, and documents of text as text. Of bytes it takes
four types of images, and PDF; others have no place. A block whose source is of another kind (a
vendor's file), or would be written in another way than it came, is read as Wire.

https://platform.claude.com/docs/en/build-with-claude/vision and …/pdf-support, read 2026-11
"""

import base64
from collections.abc import Mapping

from molo.dialects import data_url
from molo.dialects.blocks import is_verbatim
from molo.dialects.loss import Code
from molo.dialects.wire import Json, parse, text
from molo.message import Audio, ContentBlock, File, Image, Text, Wire

__all__ = ["DIALECT", "read_block", "unplaced", "write_block"]

DIALECT = "anthropic"


def write_block(block: ContentBlock) -> Json:
    """Write a block of a User or a result; None where it has no place."""
    match block:
        case Text(text=words):
            return {"type": "text", "text": words}
        case Image() | File():
            return _media(block)
        case Wire():
            return parse(block.data) if is_verbatim(block, DIALECT) else None
        case Audio():
            return None


def _media(media: Image | File) -> Json:
    source = _source(media)
    if source is None:
        return None
    if isinstance(media, Image):
        return {"type": "image", "source": source}
    titled: dict[str, Json] = {"title": media.name} if media.name else {}
    return {"type": "document", "source": source, **titled}


def unplaced(block: ContentBlock) -> Code | None:
    """Name what of a block has no place in this dialect: all of it, its type, or nothing."""
    match block:
        case Text():
            return None
        case Wire():
            return None if is_verbatim(block, DIALECT) else "block"
        case Image() | File():
            return _unplaced_media(block)
        case Audio():
            return "block"


def _unplaced_media(media: Image | File) -> Code | None:
    inline = _inline(media)
    if inline is None:
        return "media_type" if media.mime_type else None
    mime_type, data = inline
    if isinstance(media, File) and _is_text(mime_type, data):
        return None if mime_type == "text/plain" else "media_type"
    return None if mime_type in _TYPES[type(media)] else "block"


_TYPES: Mapping[type[Image | File], frozenset[str]] = {
    Image: frozenset(["image/jpeg", "image/png", "image/gif", "image/webp"]),
    File: frozenset(["application/pdf"]),
}


def _source(media: Image | File) -> dict[str, Json] | None:
    inline = _inline(media)
    if inline is None:
        return {"type": "url", "url": media.url}
    mime_type, data = inline
    if isinstance(media, File) and _is_text(mime_type, data):
        return {"type": "text", "media_type": "text/plain", "data": data.decode()}
    if mime_type not in _TYPES[type(media)]:
        return None
    return {"type": "base64", "media_type": mime_type, "data": base64.b64encode(data).decode()}


def _inline(media: Image | File) -> tuple[str, bytes] | None:
    """Give the type and the bytes of media; None where a URL tells where they are."""
    if media.data is not None:
        return media.mime_type, media.data
    inline = data_url.split(media.url or "")
    return (media.mime_type or inline[0], inline[1]) if inline else None


def _is_text(mime_type: str, data: bytes) -> bool:
    if not mime_type.startswith("text/"):
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def read_block(block: Json) -> ContentBlock:
    """Read any block; Wire where molo has no words for it."""
    if isinstance(block, dict) and block.get("type") == "text":  # most are; spares the match
        words = block.get("text")
        return Text(words) if isinstance(words, str) else Wire(DIALECT, text(block))
    match block:
        case {"type": "image", "source": dict(source)}:
            media: Image | File | None = _image(source)
        case {"type": "document", "source": dict(source), "title": str(title)}:
            media = _file(source, title)
        case {"type": "document", "source": dict(source)}:
            media = _file(source, "")
        case _:
            return Wire(DIALECT, text(block))
    written = None if media is None else _source(media)
    if media is None or written is None or not written.items() <= source.items():
        return Wire(DIALECT, text(block))
    return media


def _image(source: dict[str, Json]) -> Image | None:
    match source:
        case {"type": "url", "url": str(url)}:
            return Image(url=url)
        case {"type": "base64", "media_type": str(mime_type), "data": str(data)}:
            return Image(data=_bytes(data), mime_type=mime_type)
        case _:
            return None


def _file(source: dict[str, Json], name: str) -> File | None:
    match source:
        case {"type": "url", "url": str(url)}:
            return File(url=url, name=name)
        case {"type": "text", "media_type": str(mime_type), "data": str(data)}:
            return File(data=data.encode(), mime_type=mime_type, name=name)
        case {"type": "base64", "media_type": str(mime_type), "data": str(data)}:
            return File(data=_bytes(data), mime_type=mime_type, name=name)
        case _:
            return None


def _bytes(data: str) -> bytes:
    """Decode Base64; nothing of what is none."""
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        return b""
