"""pydantic with the same model: the same fields, tags, strictness and left-out defaults."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

import molo

PACKAGES = ("pydantic", "pydantic-core")


class _Value(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, ser_json_bytes="base64", val_json_bytes="base64"
    )


class ToolCall(_Value):
    """As `molo.ToolCall`; and so on for the others."""

    id: str
    name: str
    arguments: str


class Text(_Value):
    """A block of text."""

    type: Literal["text"]
    text: str


class _Media(_Value):
    data: bytes | None = None
    url: str | None = None
    mime_type: str = ""

    @model_validator(mode="after")
    def _one_source(self) -> "_Media":
        if (self.data is None) == (self.url is None):
            raise ValueError("Expected exactly one of `data` and `url`")
        return self


class Image(_Media):
    """An image."""

    type: Literal["image"]


class Audio(_Media):
    """A piece of sound."""

    type: Literal["audio"]


class File(_Media):
    """A document."""

    type: Literal["file"]
    name: str = ""


class Wire(_Value):
    """A vendor's own block."""

    type: Literal["wire"]
    dialect: str
    data: str


Block = Annotated[Text | Image | Audio | File | Wire, Field(discriminator="type")]


class ProviderData(_Value):
    """What a vendor's JSON says beyond the fields."""

    dialect: str
    delta: str
    digest: str
    sealed: bool = False


class System(_Value):
    """An instruction."""

    role: Literal["system"]
    content: str
    provider_data: ProviderData | None = None


class User(_Value):
    """What the user says."""

    role: Literal["user"]
    content: tuple[Block, ...]
    provider_data: ProviderData | None = None


class Assistant(_Value):
    """A reply of the model."""

    role: Literal["assistant"]
    content: str
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    attachments: tuple[Block, ...] = ()
    provider_data: ProviderData | None = None


class ToolResult(_Value):
    """What a tool gave back."""

    role: Literal["tool"]
    id: str
    content: str
    is_error: bool = False
    attachments: tuple[Block, ...] = ()
    provider_data: ProviderData | None = None


Message = Annotated[System | User | Assistant | ToolResult, Field(discriminator="role")]
_adapter = TypeAdapter(list[Message])

decode_json = _adapter.validate_json


def encode_json(history: list[Message]) -> bytes:
    """Write what molo writes: fields that have their default are left out."""
    return _adapter.dump_json(history, exclude_defaults=True)


def convert(history: list[molo.Message]) -> list[Message]:
    """Make models of a history."""
    return decode_json(molo.json.encode(history))


def restore(own: list[Message]) -> list[molo.Message]:
    """Make a history of models."""
    return molo.json.decode(encode_json(own))
