"""Conversations to measure with: made up, valid, and the same for the same seed.

Three sets of sizes: `REALISTIC` is what logs of coding and chat agents look like, `MEDIUM` is a few
hundred characters a text, `SMALL` is chatter of a few words, where the cost per message shows.
Lengths are drawn evenly from the ranges.

Every history is valid: calls are answered right behind the message that holds them and in its
order, ids are unique, arguments are JSON objects, no text is blank. A conversation stops where a
log may stop: behind a reply, behind results, or behind a user's message.

A text is a slice of a book, a long text put together once from the paragraphs at the end of this
module, so that 100,000 messages are made in a few seconds.
"""

import json
from collections.abc import Callable
from functools import cache
from random import Random
from typing import NamedTuple

from molo import Assistant, Message, System, ToolCall, ToolResult, user


class Sizes(NamedTuple):
    """The least and the greatest length of each kind of text, in characters."""

    system: tuple[int, int]
    user: tuple[int, int]
    assistant: tuple[int, int]
    reasoning: tuple[int, int]
    argument: tuple[int, int]  # the one long value among a call's arguments
    result: tuple[int, int]


REALISTIC = Sizes(
    system=(500, 700),
    user=(50, 2000),
    assistant=(100, 4000),
    reasoning=(500, 6000),
    argument=(20, 600),
    result=(100, 5000),
)
MEDIUM = Sizes(*[(100, 500)] * 6)
SMALL = Sizes(*[(5, 60)] * 6)

LENGTHS = (4, 30)  # messages in a conversation
WITH_REASONING = 0.4  # share of the replies
WITH_CALLS = 0.53  # drawn; one in two of all replies, since the last may have no room for results
MOST_CALLS = 3  # in one reply


def conversations(count: int, sizes: Sizes = REALISTIC, seed: int = 0) -> list[list[Message]]:
    """Make this many histories of 4 to 30 messages."""
    random = Random(seed)
    return [_history(random, random.randint(*LENGTHS), sizes) for _ in range(count)]


def history(length: int, sizes: Sizes = REALISTIC, seed: int = 0) -> list[Message]:
    """Make one history of this many messages, at least two."""
    return _history(Random(seed), length, sizes)


def _history(random: Random, length: int, sizes: Sizes) -> list[Message]:
    messages: list[Message] = [System(_text(random, "prose", sizes.system)), _user(random, sizes)]
    while (room := length - len(messages)) > 0:
        # A reply with calls needs room for their results.
        wanted = random.randint(1, MOST_CALLS) if random.random() < WITH_CALLS else 0
        reply = _assistant(random, min(wanted, room - 1), sizes)
        messages.append(reply)
        if reply.tool_calls:
            messages += [_result(random, call, sizes) for call in reply.tool_calls]
        elif room > 1:
            messages.append(_user(random, sizes))
    return messages


def _user(random: Random, sizes: Sizes) -> Message:
    return user(_text(random, random.choice(_SPOKEN), sizes.user))


def _assistant(random: Random, calls: int, sizes: Sizes) -> Assistant:
    thinks = random.random() < WITH_REASONING
    return Assistant(
        _text(random, random.choice(_SPOKEN), sizes.assistant),
        _text(random, random.choice(_THOUGHT), sizes.reasoning) if thinks else None,
        tuple(_call(random, sizes) for _ in range(calls)),
    )


def _call(random: Random, sizes: Sizes) -> ToolCall:
    name, arguments = random.choice(_TOOLS)
    value = _text(random, "code", sizes.argument)
    text = json.dumps(arguments(random, value), ensure_ascii=False)
    return ToolCall(f"call_{random.getrandbits(96):024x}", name, text)


def _result(random: Random, call: ToolCall, sizes: Sizes) -> ToolResult:
    return ToolResult(call.id, _text(random, random.choice(_RETURNED), sizes.result))


def _text(random: Random, book: str, size: tuple[int, int]) -> str:
    length = random.randint(*size) - 1
    start = random.randrange(_BOOK_LENGTH - length)
    return _book(book)[start : start + length] + "."  # never blank, no blank at the end


@cache
def _book(name: str) -> str:
    """Put paragraphs together at random, each with a number of its own."""
    random = Random(name)
    kinds = _BOOKS[name]
    paragraphs: list[str] = []
    length = 0
    while length < _BOOK_LENGTH:
        paragraph = random.choice(_PARAGRAPHS[random.choice(kinds)])
        paragraphs.append(paragraph.replace("{n}", str(random.randrange(10**6))))
        length += len(paragraphs[-1])
    return "\n\n".join(paragraphs)


# --- What the texts are made of -------------------------------------------------------------------

_BOOK_LENGTH = 200_000  # characters

# Which kinds of paragraph a book has. One emoji makes Python store the whole text in four bytes a
# character, so most books have none, as most texts in logs have none.
_BOOKS = {
    "prose": ("prose",),
    "markdown": ("prose", "markdown", "code"),
    "chinese": ("cjk", "cjk", "cjk", "markdown"),
    "emoji": ("prose", "markdown", "emoji"),
    "code": ("code",),
    "output": ("output", "code"),
    "listing": ("output", "cjk"),
}
_SPOKEN = ("markdown", "markdown", "markdown", "chinese", "emoji")  # each as likely as the next
_THOUGHT = ("prose", "prose", "markdown", "chinese")
_RETURNED = ("output", "output", "output", "listing")

_TOOLS: tuple[tuple[str, Callable[[Random, str], dict[str, object]]], ...] = (
    (
        "read_file",
        lambda random, _: {"path": f"src/app/view_{random.randrange(100)}.py", "limit": 200},
    ),
    ("search", lambda random, text: {"query": text[:60], "max_results": random.randrange(1, 50)}),
    ("run", lambda _, text: {"command": text[:120], "timeout": 1.5, "background": False}),
    (
        "write_file",
        lambda random, text: {"path": f"src/app/view_{random.randrange(100)}.py", "content": text},
    ),
    ("edit", lambda _, text: {"path": "README.md", "edits": [{"old": text[:40], "new": text}]}),
    ("weather", lambda _random, _text: {"city": "北京", "unit": "°C", "days": [1, 2, 3]}),
)

_PARAGRAPHS = {
    "prose": (
        "The failing test opens the file twice, and the second handle is never closed. On Linux "
        "nobody notices; on Windows the rename that follows is refused with error {n}.",
        'You asked whether "it is safe to retry". It is, as long as the request carries the same '
        "key, because the server stores the answer for 24 hours and hands it out again.",
        "Let me look at this from the other side. If the cache were stale, run {n} would show the "
        "old value as well. It does not, so the cache is not the cause, and the order must be.",
        "Three things could explain the latency: a cold connection pool, a lock that is held "
        "while the log is flushed, or a query without an index. The trace rules out the first.",
        "I'd rather not change the public function. Its callers don't pass the flag by name, so "
        "a new position in the middle would break them silently; a keyword at the end won't.",
        "Wait, the numbers do not add up. {n} rows went in, and four fewer came out. Either the "
        "filter drops them, or they share a key with earlier rows and were merged.",
    ),
    "markdown": (
        "## What changed\n\n- `parse()` returns **None** for an empty line\n- the *old* behaviour "
        'stays behind `strict=False`\n- see [the notes](https://example.org/n/{n} "notes")',
        "| run | before | after |\n|----:|-------:|------:|\n| {n} | 81.2 ms | 12.9 ms |\n"
        "| next | 80.7 ms | 13.1 ms |",
        "1. Stop the worker: `systemctl stop worker@{n}`\n2. Move the queue\n3. Start it again\n\n"
        '> "Never touch a running queue," says the runbook.',
        "```sql\nSELECT name, \"order\"\n  FROM parts\n WHERE id = {n}\n   AND path LIKE 'C:\\\\%';"
        "\n```\n\nThe index on `id` is used; the `LIKE` only filters what is left.",
    ),
    "code": (
        'def read(path: str) -> list[str]:\n    with open(path, encoding="utf-8") as file:\n'
        "        return [line.rstrip(\"\\n\") for line in file if not line.startswith('#')]",
        'if (rows.length > {n}) {\n\tthrow new Error("rows: \\"" + rows.length + "\\"");\n}',
        "grep -rn \"TOKEN_{n}\" --include='*.toml' . | sed 's/\\t/ /g' | sort -u > out.txt",
        'pattern = re.compile(r"^\\s*(\\w+)\\s*=\\s*\\"([^\\"]*)\\"$")\nassert pattern, {n}',
    ),
    "cjk": (
        "好的，我先看一下日志。第 {n} 行的错误是“连接被重置”，服务器提前关闭了连接。",
        "北京今天晴，气温二十三度，东北风三级。明天下午有小雨，建议带伞；后天转多云，早晚温差较大。",
        "設定を確認しました。「timeout」の値が {n} ミリ秒になっているため、応答を待てません。",
        "테스트 {n}개가 모두 통과했습니다. 남은 경고는 더 이상 쓰지 않는 함수에서 나온 것입니다.",
    ),
    "emoji": (
        "✅ Done! All {n} tests pass 🎉 and the build is *green* again.",
        "⚠️ Careful: this deletes the table 🗑️. Do you want to go on? 👍 / 👎",
        "🚀 Next steps:\n- 📦 publish the package\n- 📝 write the notes\n- 👩‍💻 tell the team",
    ),
    "output": (
        '{"id": {n}, "name": "Widget \\"XL\\"", "tags": ["a", "b\\\\c"], "price": 12.50, '
        '"stock": {"berlin": 3, "lyon": 0}, "note": null}',
        "2026-03-14T09:26:53.{n}Z INFO  worker[17]: took job in 31 ms\n2026-03-14T09:26:53.990Z "
        'WARN  worker[17]: retrying "GET /v1/items?page=2" after 503',
        "\x1b[32mPASSED\x1b[0m tests/test_read.py::test_{n}\n\x1b[31mFAILED\x1b[0m "
        "tests/test_write.py::test_rename - PermissionError: [WinError 32] 'C:\\Temp\\out'",
        "-rw-r--r--  1 build  staff   {n}  14 Mar 09:26  setup.cfg\ndrwxr-xr-x  8 build  staff"
        "      256  14 Mar 09:26  src",
    ),
}
