"""orjson: dicts and lists, nothing checked; the limit of untyped JSON."""

import orjson

import molo

PACKAGES = ("orjson",)

convert = molo.json.to_builtins
restore = molo.json.from_builtins

decode_json = orjson.loads
encode_json = orjson.dumps
