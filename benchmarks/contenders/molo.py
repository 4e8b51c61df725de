"""molo: strict typed messages, errors that say what and where."""

import molo

PACKAGES = ("molo", "msgspec")

convert = restore = list[molo.Message]

decode_json = molo.json.decode
encode_json = molo.json.encode
decode_msgpack = molo.msgpack.decode
encode_msgpack = molo.msgpack.encode
