"""The dialect of Google's generateContent, in the Gemini API and in Vertex AI.

A conversation that is read is written back as it was, key for key: in both spellings of the keys,
with every signature on its part.

>>> from molo.dialects import gemini
>>> body = '{"contents":[{"parts":[{"text":"Hi"}]}]}'
>>> read = gemini.from_request(body)
>>> gemini.to_request_json(read.history, envelope=read.envelope).decode() == body
True

The form is that of https://ai.google.dev/api/generate-content, read 2026-11.
"""

from molo.dialects.gemini.reading import from_request
from molo.dialects.gemini.replies import from_response
from molo.dialects.gemini.stream import Accumulator, accumulate
from molo.dialects.gemini.writing import STAND_IN_SIGNATURE, to_request, to_request_json

__all__ = [
    "STAND_IN_SIGNATURE",
    "Accumulator",
    "accumulate",
    "from_request",
    "from_response",
    "to_request",
    "to_request_json",
]
