"""mistral-common: the validator of the messages of a request, for its newest tokenizers."""

from functools import partial

from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
from mistral_common.tokens.tokenizers.base import TokenizerVersion

from benchmarks.contenders import Call
from benchmarks.sent import as_chat, for_mistral
from molo import Message
from molo.history import MISTRAL

PACKAGES = ("mistral-common", "pydantic", "pydantic-core")

_validate = get_validator(TokenizerVersion.v15, ValidationMode.serving).validate_messages


def _validated(history: list[Message]) -> Call:
    request = ChatCompletionRequest.from_openai(as_chat(for_mistral(history), MISTRAL))
    _validate(request.messages)  # raises what it refuses
    return partial(_validate, request.messages)


CALLS = {"validate_messages": _validated}
