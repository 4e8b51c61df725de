"""Answers read into replies: the message, why it ended, and the rest of the body."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw

from molo.dialects.anthropic.messages import Members, inputs_of, read_assistant
from molo.dialects.anthropic.strict import read_said
from molo.dialects.loss import Reply, Stop
from molo.dialects.wire import Json, as_json, expect_object, named_error, parse, text
from molo.errors import DecodeError, EncodeError
from molo.errors.translation import Buffer

__all__ = ["Response", "from_response", "reply_of"]

Response: TypeAlias = Buffer | str | Mapping[str, Any]
"""An answer, or an event of one: JSON as bytes or text, or what a parser makes of it."""

_decode_raws = msgspec.json.Decoder(dict[str, Raw]).decode

# https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons, read 2026-11
_STOPS: Mapping[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "filter",
}


def from_response(response: Response) -> Reply:
    """Read an answer that came in one piece.

    The `rest` of the reply is the body without `role` and `content`; it holds the reason in the
    vendor's words (`stop_reason`).

    Raises:
        DecodeError: no JSON, no answer, or an error instead of one; `path` says where.

    >>> body = {"role": "assistant", "content": [{"type": "text", "text": "Hi"}],
    ...         "stop_reason": "end_turn"}
    >>> from_response(body)
    Reply(message=Assistant(content='Hi'), stop='end', rest='{"stop_reason":"end_turn"}')
    """
    data = as_json(response)
    members = expect_object(parse(data), "$")
    if members.get("type") == "error":
        raise DecodeError(f"Expected an answer, got {named_error(members)}", path="$.error")
    if "content" not in members:
        raise DecodeError("Expected field `content`, got an object without it", path="$")
    raws = _decode_raws(data)
    return reply_of(members, inputs_of(members, raws), raws["content"])


def reply_of(members: Members, inputs: list[str | None], content: Raw | None = None) -> Reply:
    """Make the reply of an answer.

    `inputs` are the texts of its blocks' inputs, where known, `content` its JSON, if at hand.
    """
    said: Members = {"role": "assistant", "content": members["content"]}
    rest: Json = {key: value for key, value in members.items() if key not in ("role", "content")}
    try:
        # As it will be read when it goes back.
        message = None if content is None else read_said(content)
        if message is None:
            message = read_assistant(said, inputs)
        return Reply(message, _stop(members.get("stop_reason")), text(rest))
    except (EncodeError, RecursionError):
        error = DecodeError("Expected an answer nested less deeply", path="$")
    raise error


def _stop(reason: Json) -> Stop | None:
    if reason is None:
        return None
    return _STOPS.get(reason, "other") if isinstance(reason, str) else "other"
