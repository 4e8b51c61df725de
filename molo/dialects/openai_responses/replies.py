"""Answers read into replies: the message, why it ended, and the rest of the body."""

from molo.dialects.loss import Reply, Stop
from molo.dialects.openai_responses.items import Members, objects_of
from molo.dialects.openai_responses.output import read_output
from molo.dialects.openai_responses.strict import read_open_run
from molo.dialects.wire import (
    Given,
    Json,
    Spell,
    as_json,
    expect_object,
    named_error,
    parse,
    spelling,
    text,
)
from molo.errors import DecodeError, EncodeError
from molo.message import Assistant

__all__ = ["from_response", "reply_of"]

# https://platform.openai.com/docs/api-reference/responses/object, read 2026-11: `status`, and the
# reason of one that is `incomplete`. `queued` and `in_progress` are no end.
_REASONS: dict[Json, Stop] = {"max_output_tokens": "length", "content_filter": "filter"}


def from_response(response: Given) -> Reply:
    """Read an answer that came in one piece: all items of its `output` are one message.

    The `rest` of the reply is the body without `output`. A refusal is the content of its message.
    An answer that is not ready (`background`) has a message that says nothing, and no `stop`.

    Raises:
        DecodeError: no JSON, no answer, or an error instead of one; `path` says where.

    >>> item = {"type": "message", "role": "assistant", "content": [
    ...     {"type": "output_text", "text": "Hi"}]}
    >>> reply = from_response({"status": "completed", "output": [item], "model": "gpt-5"})
    >>> reply.message.content, reply.stop, reply.rest
    ('Hi', 'end', '{"status":"completed","model":"gpt-5"}')
    """
    data = as_json(response)
    body = expect_object(parse(data), "$")
    if body.get("error"):
        raise DecodeError(f"Expected an answer, got {named_error(body)}", path="$.error")
    return reply_of(body, spelling(data, "output"))


def reply_of(body: Members, spell: Spell) -> Reply:
    """Make the reply of an answer's members; `spell` knows the JSON of its items."""
    if "output" not in body:
        raise DecodeError("Expected field `output`, got an object without it", path="$")
    items = objects_of(body["output"], "$.output")
    rest: Json = {key: value for key, value in body.items() if key != "output"}
    try:
        message = _read(items, spell)
        return Reply(message, _stop(body, message), text(rest))
    except (EncodeError, RecursionError):  # of JSON there is no other reason
        error = DecodeError("Expected an answer nested less deeply", path="$")
    raise error


def _read(items: list[Members], spell: Spell) -> Assistant:
    """Read the items of an answer as they will be read when they go back."""
    message = read_open_run(items)
    return message if isinstance(message, Assistant) else read_output(items, spell)


def _stop(body: Members, message: Assistant) -> Stop | None:
    match body:
        case {"status": "completed"}:
            return "tool_calls" if message.tool_calls else "end"
        case {"status": "incomplete", "incomplete_details": {"reason": str(reason)}}:
            return _REASONS.get(reason, "other")
        case {"status": "incomplete" | "failed" | "cancelled"}:
            return "other"
        case _:
            return None
