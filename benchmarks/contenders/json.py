"""Python's own json: dicts and lists, nothing checked."""

import json
from typing import Any

import molo

PACKAGES = ()

convert = molo.json.to_builtins
restore = molo.json.from_builtins

decode_json = json.loads

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encode_json(history: list[dict[str, Any]]) -> bytes:
    """Write what the others write: UTF-8 without white space."""
    return _encode(history).encode()
