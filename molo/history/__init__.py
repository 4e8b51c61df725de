"""Pure functions over histories: structure, check and repair, reasoning, size, text.

A history is any sequence of messages. No function touches its input; a history that comes out is
a new list of, where possible, the same objects. Everything takes time linear in the history, and
the same input gives the same output in every process.

A **turn** is a User message and all after it until the next User. A **step** is a run of adjacent
Assistants (one, as it should be) and the block of results right behind it. A call without a result
is **dangling**, a result without a call **orphaned**; one that does not stand in the block of its
call's step is **misplaced**, a second one for the same call is a **duplicate**, and one that
`repair` adds is **synthesized**.

>>> from molo import Assistant, ToolCall, tool_result, user
>>> call = ToolCall("call_1", "weather", '{"city":"Beijing"}')
>>> history = [
...     user("How is the weather?"),
...     Assistant("", tool_calls=(call,)),
...     user("Still there?"),
...     tool_result("call_1", "Sunny, 23°C"),
... ]
>>> [problem.code for problem in check(history)]
['misplaced_result']
>>> repaired = repair(history)
>>> [type(message).__name__ for message in repaired.history]
['User', 'Assistant', 'ToolResult', 'User']
"""

from molo.history.arguments import RAW_ARGUMENTS
from molo.history.problems import Code, Problem, check, ensure
from molo.history.reasoning import split_think_tags, strip_reasoning
from molo.history.repairs import (
    NO_CONTENT,
    SYNTHESIZED_RESULT,
    Change,
    ChangeCode,
    Repaired,
    repair,
)
from molo.history.rules import (
    ANTHROPIC,
    CEREBRAS,
    COMMON,
    DEEPSEEK,
    DEEPSEEK_NON_THINKING,
    GEMINI,
    GLM,
    GROQ,
    KIMI,
    MINIMAX,
    MISTRAL,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    OPENROUTER,
    QWEN,
    Rules,
)
from molo.history.structure import Pair, Pairing, Step, Turn, pair, steps, turns
from molo.history.text import digest, map_text
from molo.history.window import Trimmed, estimate_tokens, trim

__all__ = [
    "ANTHROPIC",
    "CEREBRAS",
    "COMMON",
    "DEEPSEEK",
    "DEEPSEEK_NON_THINKING",
    "GEMINI",
    "GLM",
    "GROQ",
    "KIMI",
    "MINIMAX",
    "MISTRAL",
    "NO_CONTENT",
    "OPENAI_CHAT",
    "OPENAI_RESPONSES",
    "OPENROUTER",
    "QWEN",
    "RAW_ARGUMENTS",
    "SYNTHESIZED_RESULT",
    "Change",
    "ChangeCode",
    "Code",
    "Pair",
    "Pairing",
    "Problem",
    "Repaired",
    "Rules",
    "Step",
    "Trimmed",
    "Turn",
    "check",
    "digest",
    "ensure",
    "estimate_tokens",
    "map_text",
    "pair",
    "repair",
    "split_think_tags",
    "steps",
    "strip_reasoning",
    "trim",
    "turns",
]
