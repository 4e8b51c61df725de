"""How the vendors of this dialect spell what molo says in one way: one `Spelling` a vendor.

The constants have the names of the vendor's Rules, whose `vendor` tells which one to take. What a
vendor *accepts* in a history is in the Rules; what stands here changes no meaning. Sources stand
beside the values, read in 2026-11; "quoted" marks a vendor's error that was read in a public issue.
Where nothing is known a field keeps its default.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from molo.history.alphabets import Alphabet

__all__ = [
    "CEREBRAS",
    "DEEPSEEK",
    "GLM",
    "GROQ",
    "KIMI",
    "MINIMAX",
    "MISTRAL",
    "OPENAI_CHAT",
    "OPENROUTER",
    "QWEN",
    "RECORDED",
    "SPELLINGS",
    "Spelling",
]


class Spelling(Struct, frozen=True, kw_only=True):
    """How one vendor writes messages; the defaults write what was read as it was read."""

    reasoning_key: Literal["reasoning_content", "reasoning", "thinking", "none", "recorded"] = (
        "recorded"
    )
    """The key of the reasoning's text; `thinking`: parts of the content; `none`: it is not sent."""

    sealed: bool = True
    """Sealed reasoning goes back (`forms.SEALED`); else it is another vendor's, and is left out."""

    system_role: Literal["system", "developer", "recorded"] = "recorded"
    """The role of a System."""

    empty_content: Literal["null", "empty", "absent", "recorded"] = "recorded"
    """The content of an assistant that calls tools and says nothing."""

    file_part: Literal["file", "document_url"] = "file"
    """The kind of part that files are; `document_url` holds the URL itself and `document_name`."""

    keys: Mapping[str, frozenset[str]] = {}
    """By role, the only keys that a message may have, where the vendor refuses others."""

    name_chars: Alphabet = "any"
    """The alphabet of `name`, which says who speaks; a name with others is left out."""


RECORDED = Spelling()
"""As it was read; what was not is in canonical form."""

OPENAI_CHAT = Spelling(
    # The reference has no key for reasoning: https://platform.openai.com/docs/api-reference/chat
    reasoning_key="none",
    sealed=False,
    # The keys of the reference. Recorded: `annotations`, and `name` of a tool.
    keys={
        "system": frozenset(["role", "content", "name"]),
        "developer": frozenset(["role", "content", "name"]),
        "user": frozenset(["role", "content", "name"]),
        "assistant": frozenset(
            (
                *("role", "content", "name", "tool_calls", "function_call"),
                *("refusal", "audio", "annotations"),
            )
        ),
        "tool": frozenset(["role", "content", "tool_call_id", "name"]),
        "function": frozenset(["role", "content", "name"]),
    },
    # quoted: "Invalid 'messages[0].name': string does not match pattern. Expected a string that
    # matches the pattern '^[a-zA-Z0-9_-]+$'.", https://github.com/microsoft/semantic-kernel/issues/9340
    name_chars="word",
)

DEEPSEEK = Spelling(
    # https://api-docs.deepseek.com/guides/thinking_mode
    reasoning_key="reasoning_content",
    sealed=False,
    # quoted: "unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`",
    # https://github.com/eclipse-theia/theia/issues/15144
    system_role="system",
    # recorded: "" in every answer with calls
    empty_content="empty",
)

KIMI = Spelling(
    # https://platform.moonshot.cn/docs/guide/use-kimi-k2-thinking-model
    reasoning_key="reasoning_content",
    sealed=False,
)

GLM = Spelling(
    # https://docs.z.ai/guides/capabilities/thinking-mode; recorded: accepted in requests
    reasoning_key="reasoning_content",
    sealed=False,
)

QWEN = Spelling(
    # recorded: `reasoning_content` in answers, and "" in those with calls
    reasoning_key="reasoning_content",
    sealed=False,
    empty_content="empty",
)

MINIMAX = Spelling()
"""As it was read: https://platform.minimax.io/docs/api-reference/text-openai-api wants answers back
whole, with `reasoning_details`, or with `<think>` in the content."""

MISTRAL = Spelling(
    # https://github.com/mistralai/mistral-common: `thinking` chunks in the content
    reasoning_key="thinking",
    sealed=False,
    # recorded: "" in every answer with calls
    empty_content="empty",
    # https://docs.mistral.ai/capabilities/document_ai; recorded, also with a data URL
    file_part="document_url",
    # quoted: "extra_forbidden", for `reasoning_content` and for `name` and `tool_calls` of a user:
    # https://github.com/charmbracelet/crush/issues/1590,
    # https://github.com/Gage-Technologies/mistral-go/issues/3; recorded: `prefix`
    keys={
        "system": frozenset(["role", "content"]),
        "user": frozenset(["role", "content"]),
        "assistant": frozenset(["role", "content", "tool_calls", "prefix"]),
        "tool": frozenset(["role", "content", "tool_call_id", "name"]),
    },
)

GROQ = Spelling(
    # 400 for `reasoning_content`, https://github.com/agentjido/req_llm/issues/772
    reasoning_key="none",
    sealed=False,
)

CEREBRAS = Spelling(
    # `reasoning`; 400 for `reasoning_content` and whatever is not known:
    # https://github.com/pydantic/pydantic-ai, providers/cerebras.py
    reasoning_key="reasoning",
    sealed=False,
    keys={
        "system": frozenset(["role", "content", "name"]),
        "user": frozenset(["role", "content", "name"]),
        "assistant": frozenset(["role", "content", "reasoning", "tool_calls", "name"]),
        "tool": frozenset(["role", "content", "tool_call_id", "name"]),
    },
)

OPENROUTER = Spelling(
    # https://openrouter.ai/docs/use-cases/reasoning-tokens: `reasoning_details` unchanged, or
    # `reasoning` as text
    reasoning_key="reasoning",
)

SPELLINGS: Mapping[str, Spelling] = {
    "cerebras": CEREBRAS,
    "deepseek": DEEPSEEK,
    "glm": GLM,
    "groq": GROQ,
    "kimi": KIMI,
    "minimax": MINIMAX,
    "mistral": MISTRAL,
    "openai": OPENAI_CHAT,
    "openrouter": OPENROUTER,
    "qwen": QWEN,
}
"""By `Rules.vendor`; whose name is not here gets messages as they were read."""
