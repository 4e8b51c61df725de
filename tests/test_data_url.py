"""Data URLs: bytes as a URL, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from molo.dialects.data_url import join, split


@given(st.sampled_from(["image/png", "", "audio/x-wav"]), st.binary(max_size=20))
def test_what_was_joined_is_split_again(mime_type, data):
    assert split(join(mime_type, data)) == (mime_type, data)


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("data:text/plain;charset=utf-8;base64,SGk=", ("text/plain", b"Hi")),
        ("DATA:text/plain;BASE64,SGk=", ("text/plain", b"Hi")),
        ("data:text/plain,a%20b", ("text/plain", b"a b")),
        ("data:,", ("", b"")),
        ("data:image/png;base64,!!!!", None),
        ("data:image/png;base64,SGk", None),
        ("data:image/png;base64,Sé==", None),
        ("data:image/png", None),
        ("https://example.org/data:,x", None),
        ("", None),
    ],
)
def test_data_urls_as_rfc_2397_writes_them(url, parts):
    assert split(url) == parts
