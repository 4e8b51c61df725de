"""molo: strict typed messages, errors that say what and where.

The history functions are named in `CALLS` with what they are given beside the history: `trim` has
to drop half of the messages, or half of the tokens by its own estimate.
"""

from functools import partial

import molo
from benchmarks.contenders import Call
from benchmarks.sent import as_chat, for_mistral
from molo import Message
from molo.dialects import openai_chat
from molo.history import COMMON, MISTRAL, Rules, check, estimate_tokens, repair, trim

PACKAGES = ("molo", "msgspec")

convert = restore = list[Message]

decode_json = molo.json.decode
encode_json = molo.json.encode
decode_binary = molo.msgpack.decode
encode_binary = molo.msgpack.encode


def _checked(history: list[Message], rules: Rules = COMMON) -> Call:
    if check(history, rules):
        raise ValueError("molo found problems in a valid history")
    return partial(check, history, rules)


def _checked_for_mistral(history: list[Message]) -> Call:
    return _checked(for_mistral(history), MISTRAL)


def _repaired(history: list[Message]) -> Call:
    if repair(history).changes:
        raise ValueError("molo repaired a valid history")
    return partial(repair, history)


def _checked_and_repaired(history: list[Message]) -> Call:
    check, repair = _checked(history), _repaired(history)
    return lambda: (check(), repair())


def _trimmed_by_messages(history: list[Message]) -> Call:
    return partial(trim, history, max_messages=len(history) // 2)


def _trimmed_by_tokens(history: list[Message]) -> Call:
    return partial(trim, history, max_tokens=sum(map(estimate_tokens, history)) // 2)


def _read(history: list[Message]) -> Call:
    dicts = as_chat(history)
    if openai_chat.from_request(dicts).history != history:
        raise ValueError("molo read something else")
    return partial(openai_chat.from_request, dicts)


CALLS = {
    "check for MISTRAL": _checked_for_mistral,
    "repair": _repaired,
    "check + repair": _checked_and_repaired,
    "trim by messages": _trimmed_by_messages,
    "trim by tokens": _trimmed_by_tokens,
    "openai_chat.from_request": _read,
}
