"""Where secrets come from, and that nobody reads them."""

from pathlib import Path

import pytest

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed, UsageError
from swf_temporal.functions.secrets import Secrets, scrub


def test_variables_are_secrets() -> None:
    """A variable holds a text, or an object written as JSON; digits stay a text."""
    secrets = Secrets.from_environment(
        {
            "SWF_SECRET_API_KEY": "12345",
            "SWF_SECRET_DB": '{"user": "u"}',
            "SWF_SECRET_ODD": "{x",
            "OTHER": "no",
        }
    )

    assert secrets.get("api-key") == "12345"
    assert secrets.get("db") == {"user": "u"}
    assert secrets.as_mapping(["api.key", "odd", "missing"]) == {"api.key": "12345", "odd": "{x"}
    with pytest.raises(KeyError):
        secrets.get("missing")


def test_all_secrets_or_none() -> None:
    """A call is given every secret that it may need, or is told which one is not known."""
    secrets = Secrets({"key": "k"})
    assert secrets.entrusted(["KEY"]) == {"KEY": "k"}
    with pytest.raises(
        CallFailed, match=r"'my.db' is not known here: a worker is given it by SWF_SECRET_MY_DB"
    ) as told:
        secrets.entrusted(["KEY", "my.db"])
    assert (told.value.code, told.value.retryable) == ("UnknownSecret", False)


@pytest.mark.parametrize("text", ["db: {user: u}\nkey: k\n", '{"db": {"user": "u"}, "key": "k"}'])
def test_a_file_holds_secrets_and_variables_win(tmp_path: Path, text: str) -> None:
    """The file may be YAML or JSON; a variable replaces what it says."""
    file = tmp_path / "secrets"
    file.write_text(text, encoding="utf-8")

    secrets = Secrets.from_environment({"SWF_SECRETS_FILE": str(file), "SWF_SECRET_KEY": "variable"})

    assert secrets.as_mapping(["db", "key"]) == {"db": {"user": "u"}, "key": "variable"}


@pytest.mark.parametrize("text", [None, "- a list", "key: 'hunter2\n"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str | None) -> None:
    """The message names the file, and shows nothing of what stands in it."""
    file = tmp_path / "secrets.yaml"
    if text is not None:
        file.write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match=r"secrets\.yaml") as caught:
        Secrets.from_environment({"SWF_SECRETS_FILE": str(file)})

    assert "hunter2" not in str(caught.value)


def test_scrubbing_reaches_every_text() -> None:
    """Values, keys and nested texts lose the secrets; the longest goes first, and short words stay."""
    secrets: dict[str, JSON] = {"a": "hunter2", "b": {"token": "hunter2-long", "n": 5}, "c": ["abc"]}

    scrubbed = scrub({"hunter2": ["x hunter2-long y", 5, None, "abc"]}, secrets)

    assert scrubbed == {"***": ["x *** y", 5, None, "abc"]}


def test_nothing_is_copied_without_secrets() -> None:
    """Most calls have no secrets, and pay nothing."""
    value: JSON = {"a": ["b"]}

    assert scrub(value, {}) is value


@pytest.mark.parametrize(
    "text",
    [
        "p%C3%A4+s%2Fs%22x%5C%0A",
        "p%C3%A4%20s%2Fs%22x%5C%0A",
        "p%C3%A4%20s/s%22x%5C%0A",
        r"p\u00e4 s/s\"x\\\n",
        'pä s/s\\"x\\\\\\n',
        "cMOkIHMvcyJ4XAo=",
        "cMOkIHMvcyJ4XAo",
    ],
)
def test_secrets_are_known_in_disguise(text: str) -> None:
    """A service repeats what it was sent: with percent signs, with backslashes, or in base64."""
    scrubbed = str(scrub(f"<{text}>", {"a": 'pä s/s"x\\\n'}))

    assert "***" in scrubbed
    assert text not in scrubbed
