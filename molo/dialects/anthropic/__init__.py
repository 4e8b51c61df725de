"""The dialect of Anthropic's Messages, also as Bedrock and other gateways speak it.

A conversation that is read is written back as it was, key for key: signatures and their order,
citations, cache_control, server tools and blocks that nobody knows yet.

>>> from molo.dialects import anthropic
>>> body = '{"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}'
>>> read = anthropic.from_request(body)
>>> anthropic.to_request_json(read.history, envelope=read.envelope).decode() == body
True

The form is that of https://platform.claude.com/docs/en/api/messages, read 2026-11.
"""

from molo.dialects.anthropic.reading import from_request
from molo.dialects.anthropic.replies import from_response
from molo.dialects.anthropic.stream import Accumulator, accumulate
from molo.dialects.anthropic.writing import to_request, to_request_json

__all__ = [
    "Accumulator",
    "accumulate",
    "from_request",
    "from_response",
    "to_request",
    "to_request_json",
]
