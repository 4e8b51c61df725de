"""A small reader of the handed cases: vendor JSON to molo's messages, with what the cases need.

It is no dialect: what molo's messages have no field for (signatures, annotations, audio) is left
out. The cases live next to the repository; tests skip where they are absent.
"""

import json
from pathlib import Path

from molo import Assistant, Image, Message, System, Text, ToolCall, ToolResult, User, Wire

CASES = Path(__file__).parents[2] / "shared" / "cases"


def case_rows(*operations):
    """List the rows of the index that have one of these operations."""
    index = CASES / "index.jsonl"
    if not index.exists():
        return []
    rows = map(json.loads, index.read_text().splitlines())
    return [row for row in rows if row["operation"] in operations]


def read_case(row) -> list[Message]:
    """Read the history of a case in one of the four vendor formats."""
    body = json.loads((CASES / row["file"]).read_text())
    return READERS[row["format"]](body)


# OpenAI chat


def openai_chat(body) -> list[Message]:
    return [CHAT_ROLES[message["role"]](message) for message in body["messages"]]


def chat_text(content) -> str:
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    return "\n".join(part["text"] for part in parts if part["type"] == "text")


def chat_block(part):
    if part["type"] == "text":
        return Text(part["text"])
    if part["type"] == "image_url":
        image = part["image_url"]
        return Image(url=image if isinstance(image, str) else image["url"])
    return Wire("openai_chat", json.dumps(part))


def chat_user(message) -> User:
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return User(tuple(map(chat_block, parts)))


def chat_call(call) -> ToolCall:
    function = call.get("function") or call.get("custom") or {}
    arguments = function.get("arguments", function.get("input"))
    if not isinstance(arguments, str | None):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return ToolCall(call.get("id") or "", function.get("name") or "", arguments or "")


def chat_reasoning(message) -> str | None:
    given = [message.get(key) for key in ("reasoning_content", "reasoning")]
    details = message.get("reasoning_details") or []
    given += [detail.get("text") for detail in details]
    return next((text for text in given if text is not None), None)


def chat_assistant(message) -> Assistant:
    calls = list(message.get("tool_calls") or [])
    if message.get("function_call"):
        calls.append({"function": message["function_call"]})
    return Assistant(
        chat_text(message.get("content")),
        chat_reasoning(message),
        tuple(map(chat_call, calls)),
    )


def chat_result(message) -> ToolResult:
    return ToolResult(message.get("tool_call_id") or "", chat_text(message["content"]))


CHAT_ROLES = {
    "system": lambda message: System(chat_text(message["content"])),
    "developer": lambda message: System(chat_text(message["content"])),
    "user": chat_user,
    "assistant": chat_assistant,
    "tool": chat_result,
    "function": chat_result,
}


# Anthropic


def anthropic(body) -> list[Message]:
    system = body.get("system") or []
    texts = [system] if isinstance(system, str) else [block["text"] for block in system]
    history: list[Message] = [System(text) for text in texts]
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        history += ANTHROPIC_ROLES[message["role"]](blocks)
    return history


def of_type(blocks, *types):
    return [block for block in blocks if block["type"] in types]


def joined_text(blocks) -> str:
    return "\n".join(block["text"] for block in of_type(blocks, "text"))


def anthropic_user(blocks) -> list[Message]:
    results = of_type(blocks, "tool_result")
    spoken = [block for block in blocks if block["type"] != "tool_result"]
    messages: list[Message] = [
        ToolResult(
            result["tool_use_id"],
            anthropic_text(result.get("content", "")),
            is_error=bool(result.get("is_error")),
        )
        for result in results
    ]
    if spoken or not results:
        messages.append(User(tuple(map(anthropic_block, spoken))))
    return messages


def anthropic_text(content) -> str:
    return content if isinstance(content, str) else joined_text(content)


def anthropic_block(block):
    if block["type"] == "text":
        return Text(block["text"])
    if block["type"] == "image" and block["source"]["type"] == "url":
        return Image(url=block["source"]["url"])
    return Wire("anthropic", json.dumps(block))


def anthropic_assistant(blocks) -> list[Message]:
    thoughts = [block["thinking"] for block in of_type(blocks, "thinking")]
    calls = of_type(blocks, "tool_use")
    others = [b for b in blocks if b["type"] not in {"text", "thinking", "tool_use"}]
    return [
        Assistant(
            joined_text(blocks),
            "\n".join(thoughts) if thoughts else None,
            tuple(ToolCall(c["id"], c["name"], json.dumps(c["input"])) for c in calls),
            attachments=tuple(Wire("anthropic", json.dumps(block)) for block in others),
        )
    ]


ANTHROPIC_ROLES = {
    "system": lambda blocks: [System(joined_text(blocks))],
    "user": anthropic_user,
    "assistant": anthropic_assistant,
}


# OpenAI Responses: function calls and their outputs, and messages; adjacent calls are one reply.


def responses(body) -> list[Message]:
    history: list[Message] = []
    for item in body["input"]:
        history += RESPONSE_ITEMS[item.get("type", "message")](item)
    return history


def response_message(item) -> list[Message]:
    content = item["content"]
    parts = [{"text": content}] if isinstance(content, str) else content
    text = "\n".join(part.get("text", "") for part in parts)
    by_role = {"user": User((Text(text),)), "assistant": Assistant(text)}
    return [by_role.get(item["role"], System(text))]


def response_call(item) -> list[Message]:
    call = ToolCall(item["call_id"], item["name"], item["arguments"])
    return [Assistant("", tool_calls=(call,))]


def response_output(item) -> list[Message]:
    return [ToolResult(item["call_id"], str(item["output"]))]


RESPONSE_ITEMS = {
    "message": response_message,
    "function_call": response_call,
    "function_call_output": response_output,
    "reasoning": lambda item: [],
}

READERS = {"openai_chat": openai_chat, "anthropic": anthropic, "responses": responses}
