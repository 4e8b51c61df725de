"""Answers as the vendors give them, of which an agent's log is full: with ids, seals, signatures.

Canonical requests lack what only an answer has: the vendor's ids and states of items, reasoning
that is sealed, signatures, keys that say nothing. A client passes all of it back, so it stands in
every later request.
"""

import base64
import json
from collections.abc import Callable, Mapping
from hashlib import shake_128
from typing import Any

from molo import Assistant

__all__ = ["ANSWERS"]

_Answer = dict[str, Any]
_SEAL = 450  # bytes, of what a vendor encrypts or signs


def _openai_chat(reply: Assistant, _: str) -> _Answer:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in reply.tool_calls
    ]
    message = {
        "role": "assistant",
        "content": reply.content,
        **({} if reply.reasoning is None else {"reasoning_content": reply.reasoning}),
        **({"tool_calls": calls} if calls else {}),
        "refusal": None,
        "annotations": [],
    }
    reason = "tool_calls" if calls else "stop"
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def _openai_responses(reply: Assistant, seed: str) -> _Answer:
    output: list[_Answer] = []
    if reply.reasoning is not None:
        summary = [{"type": "summary_text", "text": reply.reasoning}]
        seal = _sealed(seed)
        output.append({"type": "reasoning", "summary": summary, "encrypted_content": seal})
    if reply.content or not reply.tool_calls:
        part = {"type": "output_text", "annotations": [], "logprobs": [], "text": reply.content}
        output.append(
            {"type": "message", "status": "completed", "content": [part], "role": "assistant"}
        )
    output += [
        {
            "type": "function_call",
            "status": "completed",
            "arguments": call.arguments,
            "call_id": call.id,
            "name": call.name,
        }
        for call in reply.tool_calls
    ]
    numbered = [{"id": f"item_{seed}_{number}", **item} for number, item in enumerate(output)]
    return {"status": "completed", "output": numbered}


def _anthropic(reply: Assistant, seed: str) -> _Answer:
    content: list[_Answer] = []
    if reply.reasoning is not None:
        signature = _sealed(seed)
        content.append({"type": "thinking", "thinking": reply.reasoning, "signature": signature})
    if reply.content:
        content.append({"type": "text", "text": reply.content})
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)}
        for call in reply.tool_calls
    ]
    reason = "tool_use" if reply.tool_calls else "end_turn"
    return {"type": "message", "role": "assistant", "content": content, "stop_reason": reason}


def _gemini(reply: Assistant, seed: str) -> _Answer:
    parts: list[_Answer] = []
    if reply.reasoning is not None:
        parts.append({"text": reply.reasoning, "thought": True})
    if reply.content:
        parts.append({"text": reply.content})
    parts += [
        {"functionCall": {"name": call.name, "args": json.loads(call.arguments)}}
        for call in reply.tool_calls
    ]
    if reply.reasoning is not None:
        # On the first call, or else on the last part:
        # https://ai.google.dev/gemini-api/docs/thought-signatures, read 2026-11
        calls = [part for part in parts if "functionCall" in part]
        (calls or parts[-1:])[0]["thoughtSignature"] = _sealed(seed)
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}


def _sealed(seed: str) -> str:
    """Make what looks like encrypted data, the same for the same seed."""
    return base64.b64encode(shake_128(seed.encode()).digest(_SEAL)).decode()


ANSWERS: Mapping[str, Callable[[Assistant, str], _Answer]] = {
    "openai_chat": _openai_chat,
    "openai_responses": _openai_responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
}
"""By dialect: the body of the answer that gave a reply. The seed tells answers apart."""
