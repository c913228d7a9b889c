"""The settings of payloads, from variables and the configuration file."""

from pathlib import Path

import pytest

from swf_temporal.base.errors import UsageError
from swf_temporal.settings.calls import read_settings
from swf_temporal.settings.payloads import PLAIN, EncryptionSettings, PayloadSettings, StorageSettings

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
    path = tmp_path / "swf.yaml"
    path.write_text(FILE)
    return path


def test_without_a_word_payloads_are_plain() -> None:
    assert PayloadSettings.read({}) == PLAIN


def test_a_file_says_everything(file: Path) -> None:
    keys = {"2030-05": f"file:{file.parent}/secrets/key", "2030-01": "env:OLD_KEY", "kms": "function:shop.keys:key"}
    wanted = PayloadSettings(
        storage=StorageSettings(
            url="s3://bucket/prefix", threshold=65_536, max_bytes=64 * 1024**2, cache_bytes=16_000_000,
            options={"anon": True},
        ),
        encryption=EncryptionSettings(keys=keys, key="2030-05", encrypt=False, context="orders"),
        compression=True,
    )  # fmt: skip
    assert PayloadSettings.read({}, file=file) == wanted
    assert PayloadSettings.read({"SWF_CONFIG": str(file)}) == wanted
    assert read_settings({}, file=file).calls.timeout is not None


def test_a_variable_wins_over_the_file(file: Path) -> None:
    env = {"SWF_STORAGE": "file:///srv/payloads", "SWF_STORAGE_MAX_BYTES": "1GiB", "SWF_STORAGE_THRESHOLD": ""}
    storage = PayloadSettings.read(env, file=file).storage
    assert storage is not None
    assert (storage.url, storage.max_bytes, storage.threshold) == ("file:///srv/payloads", 1024**3, 65_536)
    env = {"SWF_ENCRYPTION_KEYS": "a=env:A, b=file:/b", "SWF_ENCRYPTION_KEY": "a", "SWF_COMPRESSION": "off"}
    wanted = EncryptionSettings(keys={"a": "env:A", "b": "file:/b"}, key="a")
    assert PayloadSettings.read(env) == PayloadSettings(encryption=wanted, compression=False)
    assert PayloadSettings.read({"SWF_STORAGE": "memory://x"}) == PayloadSettings(
        storage=StorageSettings(url="memory://x")
    )


@pytest.mark.parametrize(("text", "message"), [
    ("storage: {url: 's3://b', maxByte: 1}", "storage › maxByte: there is no such option; did you mean 'maxBytes'?"),
    ("storage: {url: /srv/payloads}",
     "storage › url: it must be the URL of a folder, such as file:///srv/payloads or s3://bucket/prefix"),
    ("storage: {url: 'file://srv/payloads'}",
     "storage › url: it must be the URL of a folder, such as file:///srv/payloads or s3://bucket/prefix"),
    ("storage: {url: 's3://b', maxBytes: much}", "storage › maxBytes: it must be a size such as 128KiB or 256MiB"),
    ("encryption: {keys: {a: /run/key}}",
     "encryption › keys › a: it must be env:VARIABLE, file:PATH or function:MODULE:FUNCTION"),
    ("encryption: {keys: [a]}", "encryption › keys: it must be an object, with a value for each name"),
    ("encryption: {keys: {a: env:A}, key: true}", "encryption › key: it must be a text"),
    ("compression: much", "compression: it must be true or false"),
    ("storage: {url: 's3://b', threshold: 2MiB}", "storage › threshold: it must be at most 1MiB"),
])  # fmt: skip
def test_a_mistake_in_the_file_is_told_by_its_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "swf.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        PayloadSettings.read({}, file=path)
    assert str(refused.value) == f"{path}: {message}"


def test_what_cannot_be_meant_is_told(file: Path) -> None:
    with pytest.raises(UsageError, match="storage › url: it is missing; write it here, or set SWF_STORAGE"):
        PayloadSettings.read({"SWF_STORAGE_THRESHOLD": "1MiB"})
    with pytest.raises(UsageError, match="storage › threshold: it is not less than maxBytes"):
        PayloadSettings.read({"SWF_STORAGE_MAX_BYTES": "1KiB"}, file=file)
    with pytest.raises(UsageError, match="encryption › keys: it is missing"):
        PayloadSettings.read({"SWF_ENCRYPTION_KEY": "a"})
    with pytest.raises(UsageError, match="encryption › key: it is missing"):
        PayloadSettings.read({"SWF_ENCRYPTION_KEYS": "a=env:A"})
    with pytest.raises(
        UsageError,
        match=r"SWF_ENCRYPTION_KEY is 'b'\n  'b' is not among the keys.*; the keys are a; or set encrypt: false",
    ):
        PayloadSettings.read({"SWF_ENCRYPTION_KEYS": "a=env:A", "SWF_ENCRYPTION_KEY": "b"})
    with pytest.raises(UsageError, match="SWF_ENCRYPTION_KEYS is 'a'"):
        PayloadSettings.read({"SWF_ENCRYPTION_KEYS": "a"})
    with pytest.raises(UsageError, match="SWF_STORAGE_MAX_BYTES is '-1'"):
        PayloadSettings.read({"SWF_STORAGE_MAX_BYTES": "-1"}, file=file)
