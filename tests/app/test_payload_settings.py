"""The settings of payloads, from variables and the configuration file."""

from dataclasses import fields
from pathlib import Path

import pytest
from pydantic.alias_generators import to_camel

from swf_temporal.app.payload_settings import read_payload_settings
from swf_temporal.errors import UsageError
from swf_temporal.functions.operator.configuration import read_settings
from swf_temporal.payloads.settings import PLAIN, EncryptionSettings, PayloadSettings, StorageSettings, are_in

FILE = """\
calls: {timeout: 5}
storage:
  url: s3://bucket/prefix/
  threshold: 64KiB
  maxBytes: 64MiB
  cacheBytes: 16 MB
  options: {anon: true}
encryption:
  key: 2030-05
  keys:
    2030-05: file:secrets/key
    2030-01: env:OLD_KEY
    kms: function:shop.keys:key
  encrypt: false
  context: orders
compression: true
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a configuration that says something of everything."""
    path = tmp_path / "swf.yaml"
    path.write_text(FILE)
    return path


def test_without_a_word_payloads_are_plain() -> None:
    """Nothing is configured, and it need not be looked for."""
    assert read_payload_settings({}) == PLAIN
    assert not are_in({"SWF_LOG_LEVEL": "debug"})
    assert are_in({"SWF_STORAGE": "memory://x"})


def test_a_file_says_everything(file: Path) -> None:
    """The environment may name the file; the calls have their part of it."""
    keys = {"2030-05": f"file:{file.parent}/secrets/key", "2030-01": "env:OLD_KEY", "kms": "function:shop.keys:key"}
    wanted = PayloadSettings(
        StorageSettings("s3://bucket/prefix", 65_536, 64 * 1024**2, 16_000_000, {"anon": True}),
        EncryptionSettings(keys, "2030-05", encrypt=False, context="orders"),
        compression=True,
    )
    assert read_payload_settings({}, file=file) == wanted
    assert read_payload_settings({"SWF_CONFIG": str(file)}) == wanted
    assert read_settings({}, file=file).calls.timeout is not None


def test_a_variable_wins_over_the_file(file: Path) -> None:
    """What is empty says nothing."""
    env = {"SWF_STORAGE": "file:///srv/payloads", "SWF_STORAGE_MAX_BYTES": "1GiB", "SWF_STORAGE_THRESHOLD": ""}
    storage = read_payload_settings(env, file=file).storage
    assert storage is not None
    assert (storage.url, storage.max_bytes, storage.threshold) == ("file:///srv/payloads", 1024**3, 65_536)
    env = {"SWF_ENCRYPTION_KEYS": "a=env:A, b=file:/b", "SWF_ENCRYPTION_KEY": "a", "SWF_COMPRESSION": "off"}
    wanted = EncryptionSettings({"a": "env:A", "b": "file:/b"}, "a")
    assert read_payload_settings(env) == PayloadSettings(encryption=wanted, compression=False)
    assert read_payload_settings({"SWF_STORAGE": "memory://x"}) == PayloadSettings(StorageSettings("memory://x"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("storage: {ulr: 's3://b'}", "storage › ulr: there is no such option; did you mean 'url'?"),
        (
            "storage: {url: /srv/payloads}",
            "storage › url: it must be the URL of a folder, such as file:///srv/payloads or s3://bucket/prefix",
        ),
        (
            "storage: {url: 'file://srv/payloads'}",
            "storage › url: it must be the URL of a folder, such as file:///srv/payloads or s3://bucket/prefix",
        ),
        ("storage: {url: 's3://b', maxBytes: much}", "storage › maxBytes: it must be a size such as 128KiB or 256MiB"),
        (
            "encryption: {keys: {a: /run/key}}",
            "encryption › keys: it must be env:VARIABLE, file:PATH or function:MODULE:FUNCTION",
        ),
        (
            "encryption: {keys: [a]}",
            "encryption › keys: it must have a place for each id of a key, such as 2030-05: env:SWF_KEY",
        ),
        ("encryption: {key: true}", "encryption › key: it must be a text"),
        ("compression: much", "compression: it must be true or false"),
        (
            "storage: {url: 's3://b', threshold: 2MiB}",
            "storage › threshold: it must be a size of at most 1MiB, such as 128KiB",
        ),
    ],
)
def test_a_mistake_in_the_file_is_told_by_its_place(tmp_path: Path, text: str, message: str) -> None:
    """By the file, the place in it, and what has to stand there."""
    path = tmp_path / "swf.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        read_payload_settings({}, file=path)
    assert str(refused.value) == f"{path}: {message}"


def test_what_cannot_be_meant_is_told(file: Path) -> None:
    """Settings without a place, a threshold above the limit, and a variable that cannot be read."""
    with pytest.raises(UsageError, match="large payloads have settings, but no storage"):
        read_payload_settings({"SWF_STORAGE_THRESHOLD": "1MiB"})
    with pytest.raises(UsageError, match="threshold is not less than"):
        read_payload_settings({"SWF_STORAGE_MAX_BYTES": "1KiB"}, file=file)
    with pytest.raises(UsageError, match="the encryption has no keys"):
        read_payload_settings({"SWF_ENCRYPTION_KEY": "a"})
    with pytest.raises(UsageError, match="encryption › key is missing"):
        read_payload_settings({"SWF_ENCRYPTION_KEYS": "a=env:A"})
    with pytest.raises(
        UsageError, match=r"encryption › key 'b' is not among the keys[\s\S]*there are a; or set encrypt: false"
    ):
        read_payload_settings({"SWF_ENCRYPTION_KEYS": "a=env:A", "SWF_ENCRYPTION_KEY": "b"})
    with pytest.raises(UsageError, match="SWF_ENCRYPTION_KEYS is 'a'"):
        read_payload_settings({"SWF_ENCRYPTION_KEYS": "a"})
    with pytest.raises(UsageError, match="SWF_STORAGE_MAX_BYTES is '-1'"):
        read_payload_settings({"SWF_STORAGE_MAX_BYTES": "-1"}, file=file)


def test_every_setting_is_documented() -> None:
    """The page has each setting by its name in the file, and by its variable."""
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
    for each in fields(StorageSettings):
        variable = "SWF_STORAGE" if each.name == "url" else f"SWF_STORAGE_{each.name.upper()}"
        known = "" if each.name == "options" else f"`{variable}`"
        assert f"| `{to_camel(each.name)}` | {known}".rstrip() in page
    for each in fields(EncryptionSettings):
        assert f"| `{to_camel(each.name)}` | `SWF_ENCRYPTION_{each.name.upper()}` |" in page
