"""How the vendors of this dialect spell what molo says in one way: one `Spelling` a vendor.

The constants have the names of the vendor's Rules. What a vendor *accepts* in a history is in the
Rules; what stands here changes no meaning. Sources stand beside the values, read in 2026-11; where
nothing is known a field keeps its default.
"""

from typing import Literal

from msgspec import Struct

from molo.history import rules

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
    """Whether sealed reasoning goes back (`reasoning_details` and the like, see `forms.SEALED`)."""

    system_role: Literal["system", "developer", "recorded"] = "recorded"
    """The role of a System."""

    empty_content: Literal["null", "empty", "absent", "recorded"] = "recorded"
    """The content of an assistant that calls tools and says nothing."""

    keys: tuple[str, ...] = ()
    """The only keys that a message may have, where the vendor refuses others."""


RECORDED = Spelling()
"""As it was read; what was not is in canonical form."""

OPENAI_CHAT = Spelling(
    # No key for reasoning: https://platform.openai.com/docs/api-reference/chat/create
    reasoning_key="none",
    sealed=False,
)

DEEPSEEK = Spelling(
    # https://api-docs.deepseek.com/guides/thinking_mode; recorded: `content` "" beside calls
    reasoning_key="reasoning_content",
    sealed=False,
    # recorded 400: roles are those of a closed enum, which has no `developer`
    system_role="system",
    empty_content="empty",
)

KIMI = Spelling(
    # https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model
    reasoning_key="reasoning_content",
    sealed=False,
    system_role="system",
)

GLM = Spelling(
    # https://docs.z.ai/guides/capabilities/thinking-mode
    reasoning_key="reasoning_content",
    sealed=False,
    system_role="system",
)

QWEN = Spelling(
    # https://help.aliyun.com/zh/model-studio/deep-thinking
    reasoning_key="reasoning_content",
    sealed=False,
    system_role="system",
    empty_content="empty",
)

MINIMAX = Spelling(
    # https://platform.minimax.io/docs/guides/text-m2-function-call: with `reasoning_split` the
    # whole message goes back, `reasoning_details` included
    reasoning_key="reasoning_content",
    system_role="system",
)

MISTRAL = Spelling(
    # https://docs.mistral.ai/capabilities/reasoning: chunks of type `thinking` in the content
    reasoning_key="thinking",
    sealed=False,
    system_role="system",
    # recorded: "" in every answer with calls
    empty_content="empty",
    # mistral-common forbids other keys in its request models
    keys=("role", "content", "tool_calls", "tool_call_id", "name", "prefix"),
)

GROQ = Spelling(
    # 400 for `reasoning_content`, https://github.com/agentjido/req_llm/issues/772
    reasoning_key="none",
    sealed=False,
)

CEREBRAS = Spelling(
    # `reasoning`; 400 for `reasoning_content`: https://github.com/pydantic/pydantic-ai,
    # providers/cerebras.py
    reasoning_key="reasoning",
    sealed=False,
    keys=("role", "content", "reasoning", "tool_calls", "tool_call_id", "name"),
)

OPENROUTER = Spelling(
    # https://openrouter.ai/docs/guides/best-practices/reasoning-tokens: `reasoning` as text, or
    # `reasoning_details` unchanged
    reasoning_key="reasoning",
)

SPELLINGS: tuple[tuple[rules.Rules, Spelling], ...] = (
    (rules.CEREBRAS, CEREBRAS),
    (rules.DEEPSEEK, DEEPSEEK),
    (rules.DEEPSEEK_NON_THINKING, DEEPSEEK),
    (rules.GLM, GLM),
    (rules.GROQ, GROQ),
    (rules.KIMI, KIMI),
    (rules.MINIMAX, MINIMAX),
    (rules.MISTRAL, MISTRAL),
    (rules.OPENAI_CHAT, OPENAI_CHAT),
    (rules.OPENROUTER, OPENROUTER),
    (rules.QWEN, QWEN),
)
"""Which Rules go with which Spelling; several vendors have equal Rules, so it is no mapping."""
