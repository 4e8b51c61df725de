"""Answers read into replies: the message, why it ended, and the rest of the body."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from molo.dialects.gemini.args import args_of
from molo.dialects.gemini.contents import Members, read_reply
from molo.dialects.gemini.ids import Ids
from molo.dialects.loss import Reply, Stop
from molo.dialects.wire import Json, as_json, expect_array, expect_object, named_error, parse, text
from molo.errors import DecodeError, EncodeError
from molo.errors.translation import Buffer
from molo.message import Assistant

__all__ = [
    "Response",
    "content_of",
    "from_response",
    "members_of",
    "reply_of",
    "reply_of_blocked",
]

Response: TypeAlias = Buffer | str | Mapping[str, Any]
"""An answer or a chunk of one: JSON as bytes or text, or what a parser makes of it."""

# https://ai.google.dev/api/generate-content#FinishReason and Vertex AI's enum of the same name,
# read 2026-11. Numbers are recorded from Vertex; those that the two number alike are listed.
_STOPS: Mapping[str | int, Stop | None] = {
    "FINISH_REASON_UNSPECIFIED": None,
    "STOP": "end",
    "MAX_TOKENS": "length",
    **dict.fromkeys(
        [
            *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
            *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR"),
        ],
        "filter",
    ),
    0: None,
    1: "end",
    2: "length",
    **dict.fromkeys([3, 4, 7, 8], "filter"),
}


def from_response(response: Response) -> Reply:
    """Read an answer that came in one piece: the content of its first candidate.

    The `rest` of the reply is the body without that content; it holds further candidates, and the
    reason in the vendor's words (`finishReason`). An answer whose prompt was blocked has no
    candidate: its reply has no text, and stops with `filter`.

    Raises:
        DecodeError: no JSON, no answer, or an error instead of one; `path` says where.

    >>> body = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]},
    ...                         "finishReason": "STOP"}], "modelVersion": "gemini-3-pro"}
    >>> reply = from_response(body)
    >>> reply.message, reply.stop
    (Assistant(content='Hi'), 'end')
    >>> reply.rest
    '{"candidates":[{"finishReason":"STOP"}],"modelVersion":"gemini-3-pro"}'
    """
    data = as_json(response)
    members = members_of(data)
    first, *others = expect_array(members.get("candidates") or [None], "$.candidates")
    if first is None:
        return reply_of_blocked(members)
    candidate = expect_object(first, "$.candidates[0]")
    content = content_of(candidate, "$.candidates[0]")
    args = args_of(content or {}, data, "candidates", 0, "content", "parts")
    return reply_of(members, candidate, content, args, others)


def members_of(data: Buffer | str) -> Members:
    """Parse an answer or a chunk of one, and give its members.

    Raises:
        DecodeError: no JSON, no object, or an error instead of an answer.
    """
    members = expect_object(parse(data), "$")
    if members.get("error") is not None:
        raise DecodeError(f"Expected an answer, got {named_error(members)}", path="$.error")
    return members


def content_of(candidate: Members, place: str) -> Members | None:
    """Give the content of a candidate, if it has any."""
    content = candidate.get("content")
    return None if content is None else expect_object(content, f"{place}.content")


def reply_of(
    members: Members,
    candidate: Members,
    content: Members | None,
    args: list[str | None],
    others: list[Json],
) -> Reply:
    """Make the reply of an answer, its first candidate, that one's content, and the others."""
    shell: Json = {key: value for key, value in candidate.items() if key != "content"}
    rest: Json = {**members, "candidates": [shell, *others]}
    try:
        message = _message(content, args)
        return Reply(message, _stop(candidate.get("finishReason"), message), text(rest))
    except (EncodeError, RecursionError):
        error = DecodeError("Expected an answer nested less deeply", path="$.candidates[0]")
    raise error


def _message(content: Members | None, args: list[str | None]) -> Assistant:
    if content is None:
        return Assistant("")
    return read_reply({**content, "role": "model"}, args, Ids())


def _stop(reason: Json, message: Assistant) -> Stop | None:
    """Name the reason; the vendor has none of its own for a reply that ends in calls."""
    if reason is None:
        return None
    stop = _STOPS.get(reason, "other") if isinstance(reason, str | int) else "other"
    return "tool_calls" if stop == "end" and message.tool_calls else stop


def reply_of_blocked(members: Members) -> Reply:
    """Make the reply of an answer that has no candidate, because the prompt was blocked."""
    match members.get("promptFeedback"):
        case {"blockReason": _}:
            return Reply(Assistant(""), "filter", text(members))
        case _:
            raise DecodeError("Expected field `candidates`, got an object without it", path="$")
