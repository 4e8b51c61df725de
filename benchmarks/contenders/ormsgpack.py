"""ormsgpack: dicts and lists, nothing checked; the limit of untyped MessagePack."""

import ormsgpack

import molo

PACKAGES = ("ormsgpack",)

convert = molo.json.to_builtins
restore = molo.json.from_builtins

decode_binary = ormsgpack.unpackb
encode_binary = ormsgpack.packb
