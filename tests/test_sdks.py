"""What molo writes is what the vendors' own libraries take for a request.

The types that the SDKs declare for requests are checked with pydantic, unknown keys forbidden.
Histories are those of the recordings, repaired for the vendor, and made-up ones. What was recorded
from the vendor itself is written in canonical form, for a vendor takes more than its SDK has types
for: it comes back as it was recorded, which other tests see to. What only one vendor knows (Wire)
is left out.
"""

import importlib
import json
from functools import cache

import pytest
from msgspec.structs import replace
from recordings import DIALECTS, histories, needs_corpus

from benchmarks.generate import conversations
from molo import Image, System, Text, User, Wire
from molo.history import (
    ANTHROPIC,
    GEMINI,
    MISTRAL,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    repair,
    strip_reasoning,
)

pytestmark = pytest.mark.heavy

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

MADE_UP = conversations(100)


# By dialect: the module and the name of the type of a whole request, what such a request needs
# besides its conversation, and the rules.
SDKS = {
    "openai_chat": (
        "openai.types.chat.completion_create_params",
        "CompletionCreateParamsNonStreaming",
        {"model": "m"},
        OPENAI_CHAT,
    ),
    "openai_responses": (
        "openai.types.responses.response_create_params",
        "ResponseCreateParamsNonStreaming",
        {"model": "m"},
        OPENAI_RESPONSES,
    ),
    "anthropic": (
        "anthropic.types.message_create_params",
        "MessageCreateParamsNonStreaming",
        {"model": "m", "max_tokens": 1},
        ANTHROPIC,
    ),
    "gemini": ("google.genai.types", "CreateCachedContentConfig", {}, GEMINI),
}


@cache
def validator(dialect):
    """Give the function that checks a request as the SDK declares it."""
    module, name, _, _ = SDKS[dialect]
    declared = getattr(pytest.importorskip(module, reason=f"{module} is not installed"), name)
    is_model = issubclass(declared, pydantic.BaseModel)  # and forbids what it does not know itself
    config = None if is_model else pydantic.ConfigDict(extra="forbid")
    # As a list: pydantic takes no config for a type that could have one of its own.
    return pydantic.TypeAdapter(list[declared], config=config).validate_python


def exhaust(value):
    """Walk through a checked value: what is declared as Iterable is checked when it is read."""
    if isinstance(value, dict):
        value = value.values()
    if hasattr(value, "__next__") or isinstance(value, list | type({}.values())):
        for item in value:
            exhaust(item)


def faults(dialect, histories):
    """List what the SDK says of the requests of these histories."""
    _, _, needed, rules = SDKS[dialect]
    validate = validator(dialect)
    found = []
    for id, history in histories:
        mended = repair(history, rules).history
        for written in (
            DIALECTS[dialect].to_request(mended, rules=rules).request,
            json.loads(DIALECTS[dialect].to_request_json(mended, rules=rules)),
        ):
            try:
                exhaust(validate([{**needed, **written}]))
            except pydantic.ValidationError as failure:
                found.append((id, failure))
    return found


def blocks(history):
    return [
        block
        for message in history
        for block in getattr(message, "attachments", getattr(message, "content", ()))
    ]


def bare(history):
    return [replace(message, provider_data=None) for message in history]


@pytest.mark.parametrize("dialect", SDKS)
def test_made_up_histories_are_what_the_sdk_declares(dialect):
    assert faults(dialect, enumerate(MADE_UP)) == []


@needs_corpus
@pytest.mark.parametrize("dialect", SDKS)
@pytest.mark.parametrize("source", DIALECTS)
def test_recorded_histories_are_what_the_sdk_declares(source, dialect):
    recorded = [
        (id, bare(history) if source == dialect else history)
        for id, history in histories(source).items()
        if not any(isinstance(block, Wire) for block in blocks(history))
    ]
    assert len(recorded) > 500
    assert faults(dialect, recorded)[:3] == []


# --- Mistral --------------------------------------------------------------------------------------


def for_mistral():
    """Histories as far as mistral-common goes, which stands behind the API and knows less.

    The API takes reasoning in parts, and documents; both recorded. Of a history that begins with a
    reply the library does not count the calls; the API does, and takes it, also recorded.
    """
    recorded = [history for source in DIALECTS for history in histories(source).values()]
    for history in (*MADE_UP, *recorded):
        first = next((m for m in history if not isinstance(m, System)), None)
        plain = all(isinstance(block, Text | Image) for block in blocks(history))
        mended = repair(strip_reasoning(history), MISTRAL)
        if plain and isinstance(first, User) and not mended.remaining:
            yield mended.history


@needs_corpus
@pytest.mark.parametrize("version", ["v7", "v13", "v15"])
def test_mistral_common_accepts_what_the_rules_of_mistral_call_valid(version):
    common = "mistral_common.protocol.instruct"
    validators = pytest.importorskip(
        f"{common}.validator", reason="mistral-common is not installed"
    )
    request = importlib.import_module(f"{common}.request").ChatCompletionRequest
    of_version = importlib.import_module("mistral_common.tokens.tokenizers.base").TokenizerVersion
    validator = validators.get_validator(of_version(version), validators.ValidationMode.serving)
    accepted = 0
    for history in for_mistral():
        messages = DIALECTS["openai_chat"].to_request(history, rules=MISTRAL).request["messages"]
        validator.validate_messages(
            request.from_openai(messages).messages
        )  # raises what it refuses
        accepted += 1
    assert accepted > 2000


@pytest.mark.parametrize(
    ("dialect", "request_"),
    [
        ("openai_chat", {"messages": [{"role": "user", "content": [{"type": "text"}]}]}),
        ("openai_chat", {"messages": [{"role": "user", "content": "Hi", "odd": 1}]}),
        ("openai_responses", {"input": [{"role": "user", "content": "Hi", "odd": 1}]}),
        ("anthropic", {"messages": [{"role": "user", "content": [{"type": "text"}]}]}),
        ("anthropic", {"messages": [{"role": "user", "content": "Hi", "odd": 1}]}),
        ("gemini", {"contents": [{"role": "user", "parts": [{"text": "Hi", "odd": 1}]}]}),
    ],
)
def test_the_types_of_the_sdks_refuse_what_is_wrong(dialect, request_):
    with pytest.raises(pydantic.ValidationError):
        exhaust(validator(dialect)([{**SDKS[dialect][2], **request_}]))
