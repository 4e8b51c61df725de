"""Answers read into replies: the message, why it ended, and the rest of the body."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from molo.dialects.loss import Reply, Stop
from molo.dialects.openai_chat.reading import read_reply
from molo.dialects.wire import (
    Json,
    Spell,
    expect_array,
    expect_object,
    named_error,
    parse,
    spelling,
    text,
)
from molo.errors import DecodeError, EncodeError
from molo.errors.translation import Buffer

__all__ = ["Response", "from_response", "members_of", "reply_of"]

Response: TypeAlias = Buffer | str | Mapping[str, Any]
"""An answer or a chunk of one: JSON as bytes or text, or what a parser makes of it."""

# https://platform.openai.com/docs/api-reference/chat/object, read 2026-11; recorded: `eos`
# (Together). https://docs.mistral.ai/api names `model_length`, and `error`, which is no end.
_STOPS: Mapping[Json, Stop] = {
    "stop": "end",
    "eos": "end",
    "length": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "filter",
}


def from_response(response: Response) -> Reply:
    """Read an answer that came in one piece: the message of its first choice.

    The `rest` of the reply is the body without that message; it holds further choices, and the
    reason in the vendor's words (`finish_reason`). A refusal is the content of its message.

    Raises:
        DecodeError: no JSON, no answer, or an error instead of one; `path` says where.

    >>> body = {"choices": [{"message": {"role": "assistant", "content": "Hi"},
    ...                      "finish_reason": "stop"}], "model": "gpt-5"}
    >>> reply = from_response(body)
    >>> reply.message, reply.stop
    (Assistant(content='Hi'), 'end')
    >>> reply.rest
    '{"choices":[{"finish_reason":"stop"}],"model":"gpt-5"}'
    """
    members = members_of(response)
    if isinstance(response, bytes | bytearray | memoryview | str):
        return reply_of(members, spelling(response, "choices", 0, "message"))
    return reply_of(members)


def members_of(response: Response) -> dict[str, Json]:
    """Give the members of an answer or a chunk.

    Raises:
        DecodeError: no JSON, or no object.
    """
    if isinstance(response, bytes | bytearray | memoryview | str):
        return expect_object(parse(response), "$")
    return expect_object(_json(response), "$")


def _json(value: Mapping[str, Any] | list[Any]) -> Json:
    return dict(value) if isinstance(value, Mapping) else value


def reply_of(body: dict[str, Json], spell: Spell | None = None) -> Reply:
    """Make the reply of an answer's members; `spell` knows the JSON of its message, if at hand."""
    choices = body.get("choices")
    if body.get("error") and not (isinstance(choices, list) and choices):
        raise DecodeError(f"Expected an answer, got {named_error(body)}", path="$.error")
    if "choices" not in body:
        raise DecodeError("Expected field `choices`, got an object without it", path="$")
    found = expect_array(choices, "$.choices")
    if not found:
        raise DecodeError("Expected a choice, got none", path="$.choices")
    first, *others = found
    choice = expect_object(first, "$.choices[0]")
    message = expect_object(choice.get("message"), "$.choices[0].message")
    shell: Json = {key: value for key, value in choice.items() if key != "message"}
    rest: Json = {**body, "choices": [shell, *others]}
    try:
        return Reply(read_reply(message, spell), _stop(choice.get("finish_reason")), text(rest))
    except EncodeError as failure:
        error = DecodeError(failure.text, path="$")
    except RecursionError:
        error = DecodeError("Expected an answer nested less deeply", path="$")
    raise error


def _stop(reason: Json) -> Stop | None:
    if reason is None or reason == "":
        return None
    return _STOPS.get(reason, "other") if isinstance(reason, str) else "other"
