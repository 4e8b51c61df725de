"""The dialect of OpenAI's Chat Completions, and of all who speak it.

DeepSeek, Kimi, GLM, Qwen, MiniMax, Mistral, Groq, Cerebras, OpenRouter, xAI, Azure, Ollama, vLLM,
SGLang, llama.cpp and many gateways take and send this form, each with fields of its own. A
conversation that is read is written back as it was, key for key; what one vendor spells in
another way than the next is a `Spelling`.

>>> from molo.dialects import openai_chat
>>> body = '{"messages":[{"role":"user","content":"Hi","name":"Ann"}]}'
>>> read = openai_chat.from_request(body)
>>> openai_chat.to_request_json(read.history, envelope=read.envelope).decode() == body
True

The form is that of https://platform.openai.com/docs/api-reference/chat, read 2026-11.
"""

from molo.dialects.openai_chat.reading import from_request
from molo.dialects.openai_chat.replies import from_response
from molo.dialects.openai_chat.spelling import (
    CEREBRAS,
    DEEPSEEK,
    GLM,
    GROQ,
    KIMI,
    MINIMAX,
    MISTRAL,
    OPENAI_CHAT,
    OPENROUTER,
    QWEN,
    RECORDED,
    Spelling,
)
from molo.dialects.openai_chat.stream import Accumulator, accumulate
from molo.dialects.openai_chat.writing import to_request, to_request_json

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
    "Accumulator",
    "Spelling",
    "accumulate",
    "from_request",
    "from_response",
    "to_request",
    "to_request_json",
]
