"""Content blocks: what a User says, and what a result holds, as the vendor's blocks and back.

    Text    {"type": "text", "text": "…"}
    Image   {"type": "image", "source": source}
    File    {"type": "document", "source": source, "title": "…"}, the title only if there is a name
    Wire    the block itself

A source tells the bytes ("base64"), the URL ("url") or, in a document, the text ("text"). Data URLs
are written as bytes, for the vendor fetches none, and documents of text as text, for it takes no
other bytes than PDF. A block whose source is of another kind (a vendor's file), or would be written
in another way than it came, is read as Wire.

https://platform.claude.com/docs/en/build-with-claude/vision and …/pdf-support, read 2026-11
"""

import base64

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
        case Image():
            return {"type": "image", "source": _source(block)}
        case File(name=name):
            titled: dict[str, Json] = {"title": name} if name else {}
            return {"type": "document", "source": _source(block), **titled}
        case Wire():
            return parse(block.data) if is_verbatim(block, DIALECT) else None
        case Audio():
            return None


def unplaced(block: ContentBlock) -> Code | None:
    """Name what of a block has no place in this dialect: all of it, its type, or nothing."""
    match block:
        case Text():
            return None
        case Wire():
            return None if is_verbatim(block, DIALECT) else "block"
        case Image() | File():
            return None if _is_typed(block) else "media_type"
        case Audio():
            return "block"


def _source(media: Image | File) -> dict[str, Json]:
    inline = _inline(media)
    if inline is None:
        return {"type": "url", "url": media.url}
    mime_type, data = inline
    if isinstance(media, File) and _is_text(mime_type, data):
        return {"type": "text", "media_type": "text/plain", "data": data.decode()}
    return {"type": "base64", "media_type": mime_type, "data": base64.b64encode(data).decode()}


def _is_typed(media: Image | File) -> bool:
    """Tell whether the source says the type that the media have, if they have one."""
    inline = _inline(media)
    if inline is None:
        return media.mime_type == ""
    return isinstance(media, Image) or inline[0] == "text/plain" or not _is_text(*inline)


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
    if media is not None and _source(media).items() <= source.items():
        return media
    return Wire(DIALECT, text(block))


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
