"""What vendors accept in a history, as data: one `Rules` value a vendor.

`check` and `repair` read these facts and know no vendor. Where nothing is known, a field keeps its
default, the lenient value; the defaults are what every vendor asks for (`COMMON`). Rules of your
own are made from a constant:

>>> import msgspec
>>> short_ids = msgspec.structs.replace(COMMON, id_max=12)

To add a rule: a field here, a checker in `problems`, and what mends it in `repairs` if anything
does.

Sources stand beside the values. A rule never contradicts a request that a vendor was recorded to
accept. "quoted" marks a vendor's error that was read in a public issue, not on the vendor's pages.
All were read in 2026-11.
"""

from typing import Literal

import msgspec
from msgspec import Struct

from molo.history.alphabets import Alphabet

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
_KINDS: tuple[BlockKind, ...] = ("text", "image", "audio", "file", "wire")


class Rules(
    Struct,
    frozen=True,
    kw_only=True,
    gc=False,
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
):
    """What one vendor accepts in a history. The defaults are what every vendor accepts.

    Always asked for, whatever the fields say: at least one message, a result for every call, a
    call for every result and no second one, ids that are not empty and not repeated within a step,
    arguments that are JSON (empty or blank ones mean `{}`), text that can be written as UTF-8.
    """

    dialect: str = ""
    """Wire blocks and sealed data of other dialects do not count; empty: those of any do."""

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

    # Kinds of blocks
    user_blocks: tuple[BlockKind, ...] = _KINDS
    assistant_blocks: tuple[BlockKind, ...] = _KINDS
    result_blocks: tuple[BlockKind, ...] = _KINDS


COMMON = Rules()
"""What every vendor asks for."""

OPENAI_CHAT = Rules(
    dialect="openai_chat",
    # quoted: "An assistant message with 'tool_calls' must be followed by tool messages
    # responding to each 'tool_call_id'"; recorded: two replies in a row, the first without calls
    split_replies=False,
    # quoted: "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with
    # maximum length 40", https://github.com/Portkey-AI/gateway/issues/1062
    id_max=40,
    # quoted: "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'" and length 64,
    # https://github.com/microsoft/semantic-kernel/issues/9340
    name_chars="word",
    name_max=64,
    # Servers of this wire form parse the text: vLLM answers 400 where that fails,
    # https://github.com/langchain-ai/langchain/issues/35997
    arguments="object",
    # "text only": quoted "Content blocks are expected to be either text or image_url type" and
    # https://github.com/vllm-project/vllm/issues/18729
    result_blocks=("text", "wire"),
)
"""OpenAI's Chat Completions. It has no place for reasoning; the dialect leaves that out."""

OPENAI_RESPONSES = Rules(
    dialect="openai_responses",
    # Outputs are found by call_id, whatever stands between; quoted: "No tool call found for
    # function call output with call_id …" and "No tool output found for function call …"
    results="anywhere",
    id_scope="history",
    # quoted: "Invalid 'input[95].call_id': string too long. Expected a string with maximum length
    # 64", https://github.com/AnswerDotAI/fastllm/issues/45
    id_max=64,
    # recorded: arguments that are no object
    arguments="json",
    # 1,048,576: the limit of `arguments` that clients of this API quote
    arguments_max=2**20,
)
"""OpenAI's Responses. Reasoning goes back as items, which the dialect keeps in sealed data."""

ANTHROPIC = Rules(
    dialect="anthropic",
    # recorded: two assistant messages with tool_use, answered together
    split_replies=True,
    # quoted: "String should match pattern '^[a-zA-Z0-9_-]+$'" and "`tool_use` ids must be unique",
    # https://github.com/RooCodeInc/Roo-Code (Zoo-Code#1716 quotes handle-tool-calls)
    id_chars="word",
    id_scope="history",
    # https://docs.claude.com/en/docs/agents-and-tools/tool-use: ^[a-zA-Z0-9_-]{1,128}$
    name_chars="word",
    name_max=128,
    arguments="parsed",  # `input` is an object
    # quoted: "text content blocks must be non-empty", "must contain non-whitespace text";
    # recorded: empty results
    text="not_blank",
    # quoted: "final assistant content cannot end with trailing whitespace"
    final_trailing_blank=False,
    # https://platform.claude.com/docs/en/build-with-claude/extended-thinking: thinking goes back
    # with its signature; a block without one is refused
    sealed_reasoning=True,
    # The block kinds of the Messages API: no sound; a reply holds text and the vendor's own kinds
    user_blocks=("text", "image", "file", "wire"),
    assistant_blocks=("text", "wire"),
    result_blocks=("text", "image", "file", "wire"),
)
"""Anthropic's Messages. recorded: System messages in the middle, also as the last message."""

GEMINI = Rules(
    dialect="gemini",
    # recorded: two `model` contents in a row, their calls answered together
    split_replies=True,
    # quoted: "Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain
    # underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64",
    # https://github.com/kaitranntt/ccs/issues/25 (the first character is not checked)
    name_chars="dotted",
    name_max=64,
    arguments="parsed",  # `args` is an object
    # https://ai.google.dev/api/generate-content: `systemInstruction` stands outside of `contents`
    system="leading",
)
"""Google's Gemini. A call without its signature is the dialect's business, which has a stand-in:
https://ai.google.dev/gemini-api/docs/thought-signatures. recorded: empty text."""

DEEPSEEK_NON_THINKING = Rules(
    dialect="openai_chat",
    # quoted: "(insufficient tool messages following tool_calls message)"
    split_replies=False,
    # recorded 400: "unknown variant 'input_audio', expected 'text'", for parts of every other kind
    user_blocks=("text",),
)
"""DeepSeek with thinking off. recorded: calls without reasoning."""

DEEPSEEK = msgspec.structs.replace(
    DEEPSEEK_NON_THINKING,
    # https://api-docs.deepseek.com/guides/thinking_mode: in a turn with calls the reasoning must
    # be passed back in all later requests, and may be empty; in others it is ignored.
    # Sources differ on which replies are looked at; sending it with all of the turn is safe.
    reasoning="required",
    reasoning_in="tool_turns",
    empty_reasoning=True,
)
"""DeepSeek in thinking mode, its default."""

KIMI = Rules(
    dialect="openai_chat",
    # quoted: "An assistant message with 'tool_calls' must be followed by tool messages …"
    split_replies=False,
    # quoted: "thinking is enabled but reasoning_content is missing in assistant tool call message
    # at index N"; `""` is taken, https://github.com/obsidian-yolo/yolo/issues/243
    reasoning="required",
    reasoning_in="calls",
    empty_reasoning=True,
)
"""Moonshot's Kimi while it thinks. Its own ids look like `functions.f:0` and restart."""

GLM = Rules(dialect="openai_chat")
"""Z.ai's GLM. Reasoning that is left out costs quality, no error:
https://docs.z.ai/guides/capabilities/thinking-mode."""

QWEN = Rules(
    dialect="openai_chat",
    # quoted, DashScope: "messages with role 'tool' must be a response to a preceeding message
    # with 'tool_calls'"
    split_replies=False,
)
"""Alibaba's Qwen. Its template drops reasoning of earlier turns by itself:
https://github.com/QwenLM/Qwen3 issues 112 and 131."""

MINIMAX = Rules(dialect="openai_chat")
"""MiniMax M2 and later. Reasoning that is left out costs quality, no error."""

MISTRAL = Rules(
    dialect="openai_chat",
    # https://github.com/mistralai/mistral-common, validator: as many results as calls, in front of
    # anything else
    split_replies=False,
    # quoted: "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9." (code 3280; newer
    # tokenizers take others)
    id_chars="alnum",
    id_min=9,
    id_max=9,
    # quoted: "Expected last role User or Tool (or Assistant with prefix True) for serving but got
    # assistant" (code 3230)
    last_roles=("user", "tool"),
)
"""Mistral. A reply to be continued (`prefix`) needs `last_roles` with "assistant"."""

GROQ = Rules(
    dialect="openai_chat",
    split_replies=False,  # as OPENAI_CHAT
    arguments="json",  # recorded: "null"
    # 400 for `reasoning_content`, https://github.com/agentjido/req_llm/issues/772; whether any
    # other spelling is taken is not known
    reasoning="refused",
)
"""Groq."""

CEREBRAS = Rules(dialect="openai_chat")
"""Cerebras. It takes reasoning under one key only, which is the dialect's business:
https://github.com/pydantic/pydantic-ai, providers/cerebras.py."""

OPENROUTER = Rules(dialect="openai_chat")
"""OpenRouter. What it takes depends on where it routes to; recorded: ids of over 40 characters,
empty replies, images in results."""
