"""The recorded conversations that lie next to the repository, as requests and as histories.

They are data of third parties and no part of the project; tests skip where they are absent.
"""

import json
from functools import cache
from pathlib import Path

import pytest

from molo.dialects import anthropic, gemini, openai_chat, openai_responses

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the recordings are not here")

DIALECTS = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
}

# The keys of a request that hold its conversation; the last one is there in every request.
CONVERSATION = {
    "openai_chat": ("messages",),
    "openai_responses": ("instructions", "input"),
    "anthropic": ("system", "messages"),
    "gemini": ("systemInstruction", "contents"),
}

NO_CONVERSATION = {"77531046-0"}  # `"messages": ["Invalid content"]`, which was refused


@cache
def all_records(dialect):
    """List the recordings of a dialect; nothing where they are not here."""
    if not CORPUS.is_dir():
        return []
    return [json.loads(line) for line in (CORPUS / f"{dialect}.jsonl").read_bytes().splitlines()]


@cache
def records(dialect):
    """List the recordings that have a request with a conversation."""
    return [
        record
        for record in all_records(dialect)
        if CONVERSATION[dialect][-1] in record and record["id"] not in NO_CONVERSATION
    ]


def body(dialect, record):
    """Give the conversation of a recorded request."""
    return {key: record[key] for key in CONVERSATION[dialect] if key in record}


@cache
def histories(dialect):
    """Give the history of each recorded request, by the id of the recording."""
    read = DIALECTS[dialect].from_request
    return {
        record["id"]: read(json.dumps(body(dialect, record))).history for record in records(dialect)
    }
