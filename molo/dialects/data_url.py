"""Data URLs: bytes written as a URL (RFC 2397), as vendors carry media in JSON.

A block may hold its bytes in `data` or as such a URL in `url`; `split` and `join` turn one into
the other.
"""

import base64
import re
import urllib.parse

__all__ = ["join", "split"]

_DATA_URL = re.compile(r"data:([^,;]*)((?:;[^,;]*)*),", re.IGNORECASE)


def join(mime_type: str, data: bytes) -> str:
    """Write bytes as a data URL in Base64.

    >>> join("image/png", b"PNG")
    'data:image/png;base64,UE5H'
    """
    return f"data:{mime_type};base64,{base64.b64encode(data).decode()}"


def split(url: str) -> tuple[str, bytes] | None:
    """Take a data URL apart into its type (without parameters) and its bytes; None for others.

    None also where the Base64 is malformed.

    >>> split("data:image/png;base64,UE5H"), split("https://example.org/chart.png")
    (('image/png', b'PNG'), None)
    """
    match = _DATA_URL.match(url)
    if match is None:
        return None
    mime_type, payload = match[1], url[match.end() :]
    if not match[2].lower().endswith(";base64"):
        return mime_type, urllib.parse.unquote_to_bytes(payload)
    try:
        return mime_type, base64.b64decode(payload, validate=True)
    except ValueError:  # no Base64, or not even ASCII
        return None
