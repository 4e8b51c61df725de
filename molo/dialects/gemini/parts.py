"""Content parts: what a User says, and what a result holds, as the vendor's parts and back.

    Text                  {"text": "…"}
    Image, Audio, File    {"inlineData": {"mimeType": "…", "data": "…"}} where there are bytes,
                          {"fileData": {"fileUri": "…", "mimeType": "…"}} where there is a URL
    Wire                  the part itself

The type of media tells which of the three they are: `image/…`, `audio/…`, or a File. Data URLs are
written as bytes. Keys are read in both spellings that the vendor takes, `inlineData` and
`inline_data`, and Base64 in both alphabets; written are the first ones, of the reference.

A part of any other kind is Wire: code that the vendor ran and its outcome, calls of the vendor's
own tools, kinds that are yet to come. Its signature is no part of it, but of the message's delta.

https://ai.google.dev/api/caching#Part, read 2026-11
"""

import base64
from collections.abc import Iterable
from typing import TypeAlias

from molo.dialects import data_url
from molo.dialects.blocks import is_verbatim
from molo.dialects.loss import Code
from molo.dialects.wire import Json, parse, text
from molo.message import Audio, ContentBlock, File, Image, Text, Wire

__all__ = ["DIALECT", "SIGNATURES", "read_part", "unplaced", "write_part", "write_parts"]

DIALECT = "gemini"

SIGNATURES = frozenset(("thoughtSignature", "thought_signature"))
"""The keys of a part that hold the vendor's sealed reasoning."""

_Media: TypeAlias = Image | Audio | File


def write_part(block: ContentBlock) -> Json:
    """Write a block as a part; None where it has no place."""
    match block:
        case Text(text=words):
            return {"text": words}
        case Wire():
            return parse(block.data) if is_verbatim(block, DIALECT) else None
        case Image() | Audio() | File():
            return _media(block)


def write_parts(blocks: Iterable[ContentBlock]) -> list[Json]:
    """Write the blocks that have a place as parts."""
    return [part for part in map(write_part, blocks) if part is not None]


def unplaced(block: ContentBlock) -> Code | None:
    """Name what of a block is lost as a part, if anything is."""
    match block:
        case Text():
            return None
        case Wire():
            return "block" if write_part(block) is None else None
        case File(name=name) if name:
            return "name"  # `displayName` is refused by the Gemini API
        case Image() | Audio() | File():
            return None if isinstance(block, _class(_type_and_data(block)[0])) else "media_type"


def _media(media: _Media) -> Json:
    mime_type, data = _type_and_data(media)
    if data is None:
        typed: dict[str, Json] = {"mimeType": mime_type} if mime_type else {}
        return {"fileData": {**typed, "fileUri": media.url}}
    return {"inlineData": {"mimeType": mime_type, "data": base64.b64encode(data).decode()}}


def _type_and_data(media: _Media) -> tuple[str, bytes | None]:
    """Give the type of a medium and its bytes, where they are at hand."""
    if media.data is not None:
        return media.mime_type, media.data
    inline = data_url.split(media.url or "")
    return (media.mime_type or inline[0], inline[1]) if inline else (media.mime_type, None)


def read_part(part: Json) -> ContentBlock:
    """Read any part; Wire where molo has no words for it."""
    if isinstance(part, str):
        return Text(part)
    if not isinstance(part, dict):
        return Wire(DIALECT, text(part))
    words = part.get("text")
    if isinstance(words, str) and _MEDIA.isdisjoint(part):  # most are; spares the match
        return Text(words)
    match part:
        case {"inlineData": dict(blob)} | {"inline_data": dict(blob)}:
            read = _inline(blob)
        case {"fileData": dict(file)} | {"file_data": dict(file)}:
            read = _file(file)
        case _:
            read = None
    return read or Wire(DIALECT, text(_unsigned(part)))


_MEDIA = frozenset(("inlineData", "inline_data", "fileData", "file_data"))


def _unsigned(part: dict[str, Json]) -> Json:
    return {key: value for key, value in part.items() if key not in SIGNATURES}


_KINDS: dict[str, type[Image] | type[Audio]] = {"image": Image, "audio": Audio}


def _inline(blob: dict[str, Json]) -> _Media | None:
    mime_type, data = _type(blob), blob.get("data")
    decoded = _bytes(data) if isinstance(data, str) else None
    return None if decoded is None else _class(mime_type)(data=decoded, mime_type=mime_type)


def _file(file: dict[str, Json]) -> _Media | None:
    mime_type = _type(file)
    match file:
        case {"fileUri": str(url)} | {"file_uri": str(url)}:
            return _class(mime_type)(url=url, mime_type=mime_type)
        case _:
            return None


def _class(mime_type: str) -> type[Image] | type[Audio] | type[File]:
    return _KINDS.get(mime_type.partition("/")[0], File)


def _type(holder: dict[str, Json]) -> str:
    match holder:
        case {"mimeType": str(mime_type)} | {"mime_type": str(mime_type)}:
            return mime_type
        case _:
            return ""


def _bytes(text: str) -> bytes | None:
    """Decode Base64 of either alphabet; None where it is none, or not as it would be written."""
    standard = text.translate(_STANDARD)
    try:
        data = base64.b64decode(standard, validate=True)
    except ValueError:  # characters that are no Base64, or no ASCII
        return None
    return data if base64.b64encode(data).decode() == standard else None


_STANDARD = str.maketrans("-_", "+/")
