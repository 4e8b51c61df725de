"""What vendors accept in a history, as data: one `Rules` value a vendor.

`check` and `repair` read these facts and know no vendor. Where nothing is known, a field keeps its
default, the lenient value; the defaults are what every vendor asks for (`COMMON`). Rules of your
own are made from a constant:

>>> import msgspec
>>> short_ids = msgspec.structs.replace(COMMON, id_max=12)

To add a rule: a field here, a checker in `problems`, and what mends it in `repairs` if anything
does.

Sources stand beside the values; all were read in 2026-11. "The error" is a vendor's own text,
quoted in a public issue. "Recorded" is what a recorded request held and the vendor accepted (or
refused, where it says 400); no rule contradicts that.
"""

from typing import Literal

import msgspec
from msgspec import Struct

from molo.history.alphabets import Alphabet

__all__ = [
    "ANTHROPIC",
    "BLOCK_KINDS",
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
    "OPENAI_CHAT",
    "OPENAI_RESPONSES",
    "OPENROUTER",
    "QWEN",
    "BlockKind",
    "Role",
    "Rules",
]

Role = Literal["system", "user", "assistant", "tool"]
BlockKind = Literal["text", "image", "audio", "file", "wire"]

_ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")
BLOCK_KINDS: tuple[BlockKind, ...] = ("text", "image", "audio", "file", "wire")


class Rules(
    Struct,
    frozen=True,
    kw_only=True,
    gc=False,
    cache_hash=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
):
    """What one vendor accepts in a history. The defaults are what every vendor accepts.

    Always asked for, whatever the fields say: at least one message, a result for every call, a
    call for every result and no second one, ids that are not empty and not repeated within a step,
    arguments that are JSON (empty or blank ones mean `{}`), text that can be written as UTF-8.
    """

    vendor: str = ""
    """Whose rules these are; a dialect finds its spelling by it. No rule depends on it."""
    dialect: str = ""
    """Wire blocks and vendor data of other dialects do not count; empty: those of any do."""

    # Results
    results: Literal["block", "anywhere"] = "block"
    """Where results stand: in the block right behind their step's replies, or anywhere later.

    Where they may stand anywhere, only their ids tell whose they are: then ids are unique in the
    whole history, whatever `id_scope` says.
    """
    results_in_call_order: bool = False
    """Within a block, results come in the order of their calls."""

    # Replies
    split_replies: bool = True
    """A reply that holds calls may go on in the next Assistant, in front of the results."""
    alternation: bool = False
    """No User follows a User, and no Assistant an Assistant."""

    # Ids of calls
    id_chars: Alphabet = "any"
    id_min: int = 1  # characters
    id_max: int | None = None  # characters
    id_scope: Literal["step", "history"] = "step"

    # Names of tools
    name_chars: Alphabet = "any"
    """An alphabet other than "any" also refuses the empty name."""
    name_max: int | None = None  # characters

    # Arguments
    arguments: Literal["json", "object", "parsed"] = "json"
    """Any JSON; the text of a JSON object; or an object that is no text on this vendor's wire.

    The last has no place for repeated keys, NaN and Infinity, which text may hold.
    """
    arguments_max: int | None = None  # characters

    # Roles
    system: Literal["anywhere", "leading", "refused"] = "anywhere"
    needs_user: bool = False
    first_roles: tuple[Role, ...] = _ROLES
    """Roles of the first message that is no System."""
    last_roles: tuple[Role, ...] = _ROLES

    # Text
    text: Literal["any", "not_empty", "not_blank"] = "any"
    """Of a User's Text blocks and of replies; unless "any", no message is without content."""
    result_text: Literal["any", "not_empty", "not_blank"] = "any"
    final_trailing_blank: bool = True
    """A reply that ends the history, to be continued, may end in white space."""

    # Reasoning
    reasoning: Literal["optional", "required", "refused"] = "optional"
    reasoning_in: Literal["all", "tool_turns", "current_turn", "calls"] = "all"
    """The replies of which the above is said: of turns with calls, with calls themselves …"""
    empty_reasoning: bool = True
    """Where reasoning is required, `""` will do."""
    sealed_reasoning: bool = False
    """Reasoning is taken only along with the vendor's sealed data (signatures)."""
    reads_sealed: bool = True
    """Sealed data of the dialect is this vendor's and counts as reasoning; else it is another's.

    The dialect leaves it out of what such a vendor gets, as its sources say (`Spelling.sealed`).
    """

    # Kinds of blocks
    user_blocks: tuple[BlockKind, ...] = BLOCK_KINDS
    assistant_blocks: tuple[BlockKind, ...] = BLOCK_KINDS
    result_blocks: tuple[BlockKind, ...] = BLOCK_KINDS


COMMON = Rules()
"""What every vendor asks for."""

OPENAI_CHAT = Rules(
    vendor="openai",
    dialect="openai_chat",
    reads_sealed=False,
    # The error "An assistant message with 'tool_calls' must be followed by tool messages responding
    # to each 'tool_call_id'". Recorded: two replies in a row, the first one without calls.
    split_replies=False,
    # The error "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with
    # maximum length 40", https://github.com/microsoft/autogen/issues/6377
    id_max=40,
    # The error "Invalid 'messages[9].tool_calls[0].function.name': string does not match pattern.
    # Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'",
    # https://github.com/mcp-use/mcp-use/issues/90; of 64 characters as the documentation of the
    # parameter says, https://platform.openai.com/docs/api-reference/chat/create
    name_chars="word",
    name_max=64,
    # Servers of this wire form parse the text and give it to templates that want an object:
    # https://github.com/vllm-project/vllm/pull/48922
    arguments="object",
    # Results are text: https://github.com/vllm-project/vllm/issues/18729
    result_blocks=("text", "wire"),
)
"""OpenAI's Chat Completions. It has no place for reasoning; the dialect leaves that out."""

OPENAI_RESPONSES = Rules(
    vendor="openai",
    dialect="openai_responses",
    # Outputs are found by their call_id, whatever stands between: the errors "No tool call found
    # for function call output with call_id …" and "No tool output found for function call …",
    # https://github.com/deepseek-ai/awesome-deepseek-integration/issues/740
    results="anywhere",
    id_scope="history",
    # The error "Invalid 'input[95].call_id': string too long. Expected a string with maximum length
    # 64", https://github.com/AnswerDotAI/fastllm/issues/45
    id_max=64,
    # Recorded: arguments that are no object.
    arguments="json",
    # The error "Invalid 'input[1].arguments': string too long. Expected a string with maximum
    # length 1048576", https://github.com/UKGovernmentBEIS/inspect_ai/issues/4682
    arguments_max=1_048_576,
    # Reasoning goes back as items, which the dialect keeps in sealed data. It is not sealed where
    # the error is "Item 'rs_…' of type 'reasoning' was provided without its required following
    # item.", https://github.com/vercel/ai/issues/7099
    sealed_reasoning=True,
)
"""OpenAI's Responses."""

ANTHROPIC = Rules(
    vendor="anthropic",
    dialect="anthropic",
    # Recorded: two assistant messages with tool_use in a row, answered together.
    split_replies=True,
    # The error "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    # https://github.com/maximhq/bifrost/issues/5097
    id_chars="word",
    # The error "`tool_use` ids must be unique", https://github.com/anomalyco/opencode/issues/1279
    id_scope="history",
    # The error "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    # https://github.com/home-assistant/core/issues/147760
    name_chars="word",
    name_max=128,
    # `input` is an object: https://platform.claude.com/docs/en/api/messages
    arguments="parsed",
    # The error "text content blocks must contain non-whitespace text",
    # https://github.com/home-assistant/core/issues/175637. Recorded: empty results.
    text="not_blank",
    # The error "final assistant content cannot end with trailing whitespace".
    final_trailing_blank=False,
    # A thinking block goes back unchanged, with its signature:
    # https://platform.claude.com/docs/en/build-with-claude/extended-thinking
    sealed_reasoning=True,
    # No sound; a reply is made of text and of the vendor's own kinds of blocks:
    # https://platform.claude.com/docs/en/api/messages
    user_blocks=("text", "image", "file", "wire"),
    assistant_blocks=("text", "wire"),
    result_blocks=("text", "image", "file", "wire"),
)
"""Anthropic's Messages. Recorded: System messages in the middle, also as the last message."""

GEMINI = Rules(
    vendor="gemini",
    dialect="gemini",
    # Recorded: two `model` contents in a row, their calls answered together.
    split_replies=True,
    # The error "Invalid function name. Must start with a letter or an underscore. Must be a-z, A-Z,
    # 0-9, or contain underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of
    # 64", https://github.com/kaitranntt/ccs/issues/25 (the first character is not checked here)
    name_chars="dotted",
    name_max=64,
    # `args` is an object and `systemInstruction` stands outside of `contents`:
    # https://ai.google.dev/api/generate-content
    arguments="parsed",
    system="leading",
)
"""Google's Gemini. Recorded: empty text. The signature that a call lacks is the dialect's business,
which has a stand-in: https://ai.google.dev/gemini-api/docs/thought-signatures."""

DEEPSEEK_NON_THINKING = Rules(
    vendor="deepseek",
    dialect="openai_chat",
    reads_sealed=False,
    # The error of OPENAI_CHAT, with "(insufficient tool messages following tool_calls message)".
    split_replies=False,
    # Recorded 400: "unknown variant 'input_audio', expected 'text'", for parts of all other kinds.
    user_blocks=("text",),
)
"""DeepSeek with thinking off. Recorded: calls without reasoning."""

DEEPSEEK = msgspec.structs.replace(
    DEEPSEEK_NON_THINKING,
    # In a turn with calls the reasoning must be passed back in all later requests; elsewhere it is
    # ignored: https://api-docs.deepseek.com/guides/thinking_mode. Recorded: replies of turns
    # without calls that have none. Others saw every reply asked for,
    # https://github.com/NousResearch/hermes-agent/pull/15228; then `reasoning_in` is "all".
    reasoning="required",
    reasoning_in="tool_turns",
    # Recorded: `""`.
    empty_reasoning=True,
)
"""DeepSeek in thinking mode, its default."""

KIMI = Rules(
    vendor="kimi",
    dialect="openai_chat",
    reads_sealed=False,
    # The error of OPENAI_CHAT.
    split_replies=False,
    # The error "thinking is enabled but reasoning_content is missing in assistant tool call message
    # at index 7", https://github.com/QuantumNous/new-api/issues/3121
    reasoning="required",
    reasoning_in="calls",
    # https://github.com/Lapis0x0/obsidian-yolo/pull/243
    empty_reasoning=True,
)
"""Moonshot's Kimi while it thinks. Its own ids look like `functions.f:0` and restart."""

GLM = Rules(vendor="glm", dialect="openai_chat", reads_sealed=False)
"""Z.ai's GLM. Reasoning that is left out costs quality and is no error:
https://docs.z.ai/guides/capabilities/thinking-mode."""

QWEN = Rules(
    vendor="qwen",
    dialect="openai_chat",
    reads_sealed=False,
    # DashScope gives the errors of OPENAI_CHAT about calls and results.
    split_replies=False,
)
"""Alibaba's Qwen. Its template drops the reasoning of earlier turns by itself:
https://github.com/QwenLM/Qwen3.8/issues/131."""

MINIMAX = Rules(vendor="minimax", dialect="openai_chat")
"""MiniMax M2 and later. Reasoning that is left out costs quality and is no error:
https://github.com/vellum-ai/vellum-assistant/pull/34556."""

MISTRAL = Rules(
    vendor="mistral",
    dialect="openai_chat",
    reads_sealed=False,
    # As many results as calls, right behind them: https://github.com/mistralai/mistral-common,
    # the request validator.
    split_replies=False,
    # The error "Tool call id was turn1_0 but must be a-z, A-Z, 0-9, with a length of 9.",
    # https://github.com/nearai/ironclaw/issues/1241; tokenizers of version 13 and later take others
    id_chars="alnum",
    id_min=9,
    id_max=9,
    # The error "Expected last role User or Tool (or Assistant with prefix True) for serving but got
    # assistant", https://github.com/langchain-ai/langchain/issues/23703
    last_roles=("user", "tool"),
    # "Unexpected role 'system' after role 'assistant'", the request validator.
    system="leading",
    # "Unexpected content chunk types in tool message", the same, for tokenizers before version 15.
    result_blocks=("text", "wire"),
)
"""Mistral. A reply to be continued (`prefix`) needs "assistant" in `last_roles`."""

GROQ = Rules(
    vendor="groq",
    dialect="openai_chat",
    reads_sealed=False,
    # The error of OPENAI_CHAT.
    split_replies=False,
    # Recorded: "null" as arguments.
    arguments="json",
    # The error "property 'reasoning_content' is unsupported",
    # https://github.com/janhq/jan/issues/8136; whether another spelling is taken is not known.
    reasoning="refused",
)
"""Groq."""

CEREBRAS = Rules(vendor="cerebras", dialect="openai_chat", reads_sealed=False)
"""Cerebras. It takes reasoning under one key only, which is the dialect's business:
https://github.com/pydantic/pydantic-ai, `providers/cerebras.py`."""

OPENROUTER = Rules(
    vendor="openrouter",
    dialect="openai_chat",
    # It routes to vendors with the error of OPENAI_CHAT.
    split_replies=False,
)
"""OpenRouter. What it takes depends on where it routes to. Recorded: ids of over 40 characters,
empty replies, images in results."""
