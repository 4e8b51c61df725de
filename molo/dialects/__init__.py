"""The wire formats of others: one module each, with the same names; none knows another.

    openai_chat, openai_responses, anthropic, gemini    requests, answers and streams of vendors
    rust_molo                                           what the Rust crate molo 0.2.2 stores

What reading and writing gives is the same for every dialect: `Read`, `Written`, `Reply`, `Loss`.
"""

from molo.dialects.loss import (
    BrokenStreamError,
    Loss,
    Read,
    Reply,
    Stop,
    Written,
    WrittenJson,
)

__all__ = ["BrokenStreamError", "Loss", "Read", "Reply", "Stop", "Written", "WrittenJson"]
