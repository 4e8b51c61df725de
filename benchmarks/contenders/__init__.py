"""Those who do the same work: one module each, with the same few names.

- `PACKAGES`: the distributions whose versions belong to its figures.
- `convert(history)`: a molo history in the contender's own form; `restore(own)`: and back, to show
  that it read and wrote the same content.
- `decode_json(data)`, `encode_json(own)`, `decode_msgpack(data)`, `encode_msgpack(own)`: what is
  timed. Who has no MessagePack lacks the last two.

A module imports what it measures at its top, so that one that is not installed is noticed there.
The names of the modules are those of the packages; `import json` in them is Python's own.
"""

CONTENDERS = ("molo", "msgspec", "orjson", "json", "pydantic")
