"""Logs of conversations: read line by line, written safely, worked on in parallel."""

from molo.ingest.chunks import BrokenLogError
from molo.ingest.formats import AUTO, FORMATS
from molo.ingest.guessing import Guess, guess
from molo.ingest.jobs import Job, run
from molo.ingest.lines import MAX_LINE
from molo.ingest.logs import STANDARD, Log, open_log
from molo.ingest.reading import read
from molo.ingest.records import Code, Fault, Layout, Origin, Record
from molo.ingest.salvage import salvage
from molo.ingest.transcripts import Loaded, append, load
from molo.ingest.writing import compressed, encode, losses_of, whole_file, write

__all__ = [
    "AUTO",
    "FORMATS",
    "MAX_LINE",
    "STANDARD",
    "BrokenLogError",
    "Code",
    "Fault",
    "Guess",
    "Job",
    "Layout",
    "Loaded",
    "Log",
    "Origin",
    "Record",
    "append",
    "compressed",
    "encode",
    "guess",
    "load",
    "losses_of",
    "open_log",
    "read",
    "run",
    "salvage",
    "whole_file",
    "write",
]
