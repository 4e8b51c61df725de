"""The dialect of OpenAI's Responses, and of all who speak it: Azure, xAI, DeepSeek, Codex …

A conversation is an array of items. Messages of users and instructions, calls and their outputs
are items, and so is each thing that the model did on the way to its reply; a run of the latter is
one Assistant. A conversation that is read is written back as it was, key for key, with the
encrypted reasoning between the calls where it stood.

>>> from molo.dialects import openai_responses
>>> body = '{"input":[{"role":"user","content":"Hi","type":"message"}]}'
>>> read = openai_responses.from_request(body)
>>> openai_responses.to_request_json(read.history, envelope=read.envelope).decode() == body
True

Requests that continue an answer which the vendor has kept (`previous_response_id`, `conversation`)
hold only what is new; their history is that part.

The form is that of https://platform.openai.com/docs/api-reference/responses, read 2026-11.
"""

from molo.dialects.openai_responses.reading import from_request
from molo.dialects.openai_responses.replies import from_response
from molo.dialects.openai_responses.spelling import RECORDED, STATELESS, Spelling
from molo.dialects.openai_responses.stream import Accumulator, accumulate
from molo.dialects.openai_responses.writing import to_request, to_request_json

__all__ = [
    "RECORDED",
    "STATELESS",
    "Accumulator",
    "Spelling",
    "accumulate",
    "from_request",
    "from_response",
    "to_request",
    "to_request_json",
]
