r"""Logs of conversations: read line by line, written safely, worked on in parallel.

>>> from molo.ingest import Fault, read
>>> log = [b'[{"role":"system","content":"Be brief."}]\n', b'{"role":"system"\n']
>>> for item in read(log, "molo"):
...     print(item.line, item.reason if isinstance(item, Fault) else item.messages)
1 [System(content='Be brief.')]
2 Expected more JSON, got the end of the line - at byte 17

`open_log` opens a file, a pipe or standard input, compressed or not; `read` makes a Record or a
Fault of every line, frame or document, with its place, and goes on behind a Fault. `write` writes
Records, `encode` one of them; `run` works on a large file in several processes; `append` and `load`
keep the transcript of a session.

Many lines hold a request and its answer. Nobody has replied to that answer yet, so its calls lack
their results: `check_record` and `repair_record` know that, where `molo.history.check` and `repair`
take the messages for a request.

A line is a history (an array of messages, or an object that holds a conversation among other
things), or one message. What becomes of a line that is not simply that:

    The log has                             it gives
    --------------------------------------  --------------------------------------------------------
    line ends CR LF                         Records; a line ends at byte 0x0A, and nowhere else
    blank lines                             nothing; they count
    a UTF-8 byte order mark, in front       nothing; anywhere else the line is a Fault `json`
    no line end behind the last record      a Record
    a last line that breaks off             a Fault `torn`, whose offset is where to go on writing
    the same, with a line end               a Fault `json`, as for any line that is cut short
    a block of NUL bytes                    a Fault `nul`, with the rest of its line
    several values on a line                a Fault `extra`; `salvage` gives the records
    a record glued to a torn one            a Fault `json`; `salvage` gives the record
    bytes that are no UTF-8, NaN, a lone    a Fault `json`
    surrogate, a NUL within a string
    JSON over several lines                 a Fault `multiline` for each value
    JSON that is no record of the format    a Fault `record`
    a line longer than the limit            Faults `too_long`, each of a part within the limit
    a frame that breaks off                 a Fault `torn`
    no frame where one should begin         Faults `frame` for all that follows, as no boundary is
                                            known
    a compressed stream that breaks off     a Fault `compressed`, with what there is of the last
    or is damaged                           line

The raw bytes of the Faults of a log are, one behind the other, all that was not read, to the byte.
"""

from molo.ingest.chunks import BrokenLogError
from molo.ingest.files import STANDARD, whole_file
from molo.ingest.formats import AUTO, FORMATS
from molo.ingest.guessing import Guess, guess
from molo.ingest.jobs import Job, run
from molo.ingest.judging import check_record, dangling_calls, repair_record
from molo.ingest.lines import MAX_LINE
from molo.ingest.logs import Log, open_log
from molo.ingest.objects import Written
from molo.ingest.reading import read
from molo.ingest.records import Code, Fault, Layout, Origin, Record
from molo.ingest.salvage import salvage
from molo.ingest.transcripts import Loaded, append, load
from molo.ingest.writing import compressed, encode, encode_with_losses, format_of, write

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
    "Written",
    "append",
    "check_record",
    "compressed",
    "dangling_calls",
    "encode",
    "encode_with_losses",
    "format_of",
    "guess",
    "load",
    "open_log",
    "read",
    "repair_record",
    "run",
    "salvage",
    "whole_file",
    "write",
]
