"""litellm: what it does to OpenAI's messages with `modify_params`, before it writes Anthropic's.

It adds results that are missing, drops those that are orphaned or doubled, and fills empty text.
"""

import os
from functools import partial

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the net for prices when imported

import litellm
from litellm.litellm_core_utils.prompt_templates.factory import sanitize_messages_for_tool_calling

from benchmarks.contenders import Call
from benchmarks.sent import as_chat
from molo import Message

PACKAGES = ("litellm",)

litellm.modify_params = True  # else it gives back what it was given


def _sanitize(history: list[Message]) -> Call:
    dicts = as_chat(history)
    if sanitize_messages_for_tool_calling(dicts) != dicts:
        raise ValueError("litellm changed a valid history")
    return partial(sanitize_messages_for_tool_calling, dicts)


CALLS = {"sanitize_messages_for_tool_calling": _sanitize}
