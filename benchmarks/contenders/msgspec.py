"""Bare msgspec with molo's types: the floor that molo stands on."""

import msgspec

from molo import Message

PACKAGES = ("msgspec",)

convert = restore = list[Message]

decode_json = msgspec.json.Decoder(list[Message]).decode
encode_json = msgspec.json.Encoder().encode
decode_binary = msgspec.msgpack.Decoder(list[Message]).decode
encode_binary = msgspec.msgpack.Encoder().encode
