"""How bodies are written."""

import pytest

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.bodies import write_body
from swf_temporal.functions.operations import FORM, MULTIPART


@pytest.mark.parametrize(
    ("value", "media_type", "expected"),
    [
        ({"a": [1, None]}, "application/json", b'{"a": [1, null]}'),
        ("x", "application/vnd.a+json", b'"x"'),
        ({"a": "b c", "n": [1, True], "no": None}, FORM, b"a=b+c&n=1&n=true"),
        ("plain", "text/plain", b"plain"),
        (5, "text/plain", b"5"),
        ({"mediaType": "image/png", "base64": "AAE="}, "image/png", b"\x00\x01"),
    ],
)
def test_each_media_type_has_its_way(value: JSON, media_type: str, expected: bytes) -> None:
    """Objects become JSON or forms, texts stay texts, and base64 becomes the bytes that it stands for."""
    assert write_body(value, media_type) == (expected, media_type)


def test_a_form_with_parts() -> None:
    """Each field is a part; files and objects say what they are."""
    value: JSON = {
        "title": "Sun",
        "tags": ["a", "b"],
        "info": {"x": 1},
        "no": None,
        "file": {"base64": "AAE=", "mediaType": "image/png", "fileName": "sun.png"},
    }

    content, media_type = write_body(value, MULTIPART)

    assert media_type.startswith("multipart/form-data; boundary=")
    assert content.count(b'name="tags"') == 2
    assert b'name="no"' not in content
    assert b'name="file"; filename="sun.png"\r\nContent-Type: image/png\r\n\r\n\x00\x01' in content
    assert b'name="info"\r\nContent-Type: application/json\r\n\r\n{"x": 1}' in content


def test_base64_that_is_none() -> None:
    """What claims to be base64 and is not is a mistake in the arguments."""
    with pytest.raises(CallFailed, match="base64") as caught:
        write_body({"base64": "?"}, "image/png")

    assert caught.value.code == "BadArguments"
