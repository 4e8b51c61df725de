"""Those who do the same work: one module each, with the same few names.

- `PACKAGES`: the distributions whose versions belong to its figures.
- `convert(history)`: a molo history in the contender's own form; `restore(own)`: and back, to show
  that it read and wrote the same content.
- `decode_json(data)`, `encode_json(own)`, `decode_binary(data)`, `encode_binary(own)`: what is
  timed. Who has no such form lacks those.
- `CALLS`: its functions over histories, by name. Each is given a history and gives a `Call`, sure
  that it does what it should.

A module imports what it measures at its top, so that one that is not installed is noticed there.
The names of the modules are those of the packages; `import json` in them is Python's own.
"""

from collections.abc import Callable

# Those that read and write.
CONTENDERS = (
    "molo",
    "msgspec",
    "orjson",
    "json",
    "pydantic",
    "pydantic_ai",
    "langchain_core",
    "ormsgpack",
    "pickle",
)

Call = Callable[[], object]
"""A function with its arguments, to be timed."""
