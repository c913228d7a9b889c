"""The payload codec: what it hides, what it refuses, and what it leaves alone."""

import base64
import json
import os
import tracemalloc
import zlib
from pathlib import Path

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

from swf_temporal.base.errors import PayloadUnavailable, UsageError
from swf_temporal.settings.payloads import PayloadSettings, StorageSettings
from swf_temporal.temporal.converter import codec_of
from swf_temporal.temporal.payloads.codec import Compressing, Encrypting
from swf_temporal.temporal.payloads.encodings import reason_of
from swf_temporal.temporal.payloads.keys import Keys, Xaes

COMPRESSED = {"encoding": b"binary/zlib"}
ONE, TWO = base64.b64encode(bytes([1] * 32)).decode(), base64.b64encode(bytes([2] * 32)).decode()
ENV = {"KEY_1": ONE, "KEY_2": f"{TWO}\n", "SHORT": "AAAA", "WRONG": "no key"}
SECRET = Payload(metadata={"encoding": b"json/plain"}, data=json.dumps({"card": "4111111111111111"}).encode())
LONG = Payload(metadata={"encoding": b"json/plain"}, data=json.dumps([{"name": "a mouse"}] * 20_000).encode())


def encrypting(
    current: str | None = "1", context: str = "orders", keys: str = "12", stored_from: int | None = None
) -> Encrypting:
    sources = {number: f"env:KEY_{number}" for number in keys}
    return Encrypting(Keys(sources, ENV), context, current, stored_from=stored_from)


async def one(codec: PayloadCodec, payload: Payload) -> Payload:
    [encoded] = await codec.encode([payload])
    return encoded


@pytest.mark.parametrize(("key", "associated", "encrypted"), [
    (1, b"", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"),
    (3, b"c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"),
])  # fmt: skip
def test_the_cipher_is_that_of_its_specification(key: int, associated: bytes, encrypted: str) -> None:
    cipher, nonce = Xaes(bytes([key] * 32)), b"ABCDEFGHIJKLMNOPQRSTUVWX"
    assert cipher.encrypt(nonce, b"XAES-256-GCM", associated).hex() == encrypted
    assert cipher.decrypt(nonce, bytes.fromhex(encrypted), associated) == b"XAES-256-GCM"


@pytest.mark.parametrize("payload", [SECRET, LONG, Payload(), Payload(metadata={"encoding": b"binary/null"})])
async def test_what_is_encrypted_comes_back_and_shows_nothing(payload: Payload) -> None:
    encoded = await one(encrypting(), payload)
    assert dict(encoded.metadata) == {"encoding": b"binary/swf-encrypted", "swf-key-id": b"1"}
    assert payload.data[:12] not in encoded.data or not payload.data
    assert b"json/plain" not in encoded.SerializeToString()
    assert await encrypting("2").decode([encoded]) == [payload]


async def test_the_same_payload_is_encrypted_otherwise_each_time() -> None:
    assert len({(await one(encrypting(), SECRET)).data for _ in range(1000)}) == 1000


async def test_a_payload_that_is_stored_is_encrypted_alike() -> None:
    """A replay comes to the same object; another key, context or text comes to another one."""
    codec = encrypting(stored_from=1000)
    other = Payload(metadata={"encoding": b"json/plain"}, data=LONG.data + b" ")
    encoded = [await one(codec, LONG), await one(encrypting(stored_from=1000), LONG)]
    others = [
        await one(encrypting("2", stored_from=1000), LONG),
        await one(encrypting(context="shop", stored_from=1000), LONG),
        await one(codec, other),
    ]
    assert encoded[0] == encoded[1]
    assert len({each.data[:24] for each in (*encoded, *others)}) == 4
    assert (await one(codec, SECRET)).data != (await one(codec, SECRET)).data
    assert await codec.decode(encoded[:1]) == [LONG]


async def test_every_key_decrypts_what_it_has_encrypted() -> None:
    """A rotation: the new key encrypts, the old one still decrypts; a program without it names it."""
    old = await one(encrypting("1"), SECRET)
    new = await one(encrypting("2"), SECRET)
    assert await encrypting("2").decode([old, new]) == [SECRET, SECRET]
    with pytest.raises(PayloadUnavailable) as missing:
        await encrypting("2", keys="2").decode([old])
    assert missing.value.message == "a payload is encrypted with the key '1', which is not configured here"


async def test_plain_payloads_are_read_beside_encrypted_ones() -> None:
    """Encryption can be switched on while instances run, first only for reading."""
    reading = encrypting(None)
    compressed = await one(Compressing(), LONG)
    assert await reading.encode([SECRET]) == [SECRET]
    assert await reading.decode([SECRET, compressed, await one(encrypting(), SECRET)]) == [SECRET, LONG, SECRET]


@pytest.mark.parametrize("position", [0, 23, 24, -1])
async def test_what_was_changed_does_not_decrypt(position: int) -> None:
    encoded = await one(encrypting(), SECRET)
    data = bytearray(encoded.data)
    data[position] ^= 1
    encoded.data = bytes(data)
    with pytest.raises(PayloadUnavailable, match="cannot be decrypted in 'orders'"):
        await encrypting().decode([encoded])


async def test_a_payload_is_bound_to_its_namespace_and_to_its_key() -> None:
    """Copied to another namespace, given the name of another key, cut short: it does not decrypt."""
    encoded = await one(encrypting(), SECRET)
    renamed = Payload(metadata={**encoded.metadata, "swf-key-id": b"2"}, data=encoded.data)
    short = Payload(metadata=encoded.metadata, data=encoded.data[:20])
    for codec, payload in ((encrypting(context="shop"), encoded), (encrypting(), renamed), (encrypting(), short)):
        with pytest.raises(PayloadUnavailable, match="cannot be decrypted"):
            await codec.decode([payload])


async def test_only_what_becomes_smaller_is_compressed() -> None:
    noise = Payload(data=os.urandom(5000))
    compressed = await one(Compressing(), LONG)
    assert len(compressed.data) < len(LONG.data) // 50
    assert await Compressing().encode([noise, SECRET]) == [noise, SECRET]
    assert await Compressing().decode([compressed, noise]) == [LONG, noise]
    plain = Encrypting(Keys({"1": "env:KEY_1"}, ENV), "orders", "1", compression=False)
    assert len((await one(plain, LONG)).data) > len(LONG.data) > 50 * len((await one(encrypting(), LONG)).data)
    with pytest.raises(PayloadUnavailable, match="no keys are configured here"):
        await Compressing().decode([await one(encrypting(), LONG)])
    for data, why in ((b"no zlib", "cannot be read: Error -3"), (compressed.data[:-1], "cannot be read: it is cut")):
        [refused] = await Compressing().decode([Payload(metadata=COMPRESSED, data=data)])
        assert f"a compressed payload {why}" in str(reason_of(refused))


@pytest.fixture(scope="module")
def inflatable() -> list[Payload]:
    """Compressed payloads below the limit of size, just below it, and far beyond it."""
    return [
        Payload(metadata=COMPRESSED, data=zlib.compress(Payload(data=bytes(size)).SerializeToString()))
        for size in (1_000_000, 2_100_000, 100_000_000)
    ]


@pytest.mark.parametrize("codec", [Compressing(), encrypting()])
async def test_payloads_of_others_are_inflated_up_to_their_limit_of_size(
    codec: PayloadCodec, inflatable: list[Payload]
) -> None:
    """One that has more bytes, and those of a list that have more together, are refused without being inflated."""
    small, large, huge = inflatable
    tracemalloc.start()
    found = [reason_of(one) for one in await codec.decode([huge, large, small, *[large] * 100])]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found[0] == "a payload inflates to more than 2,162,688 bytes"
    assert found[1:3] == [None, None]
    assert len([one for one in found if one is None]) < 6
    assert peak < 50_000_000
    stored = codec_of(PayloadSettings(storage=StorageSettings(url="file:///tmp", max_bytes=1 << 28)), "orders")
    assert reason_of((await stored.decode([large]))[0]) is None


async def test_what_was_encrypted_and_inflates_to_more_waits_for_the_operator() -> None:
    """Nobody but a holder of the key can have written it."""
    encoded = await one(encrypting(), Payload(data=bytes(5_000_000)))
    with pytest.raises(PayloadUnavailable, match="inflates to more than 2,162,688 bytes"):
        await encrypting().decode([encoded])


OPERATORS_KEYS = f"""
def kms(key_id):
    if key_id == "down":
        raise ConnectionError("the key service does not answer")
    return bytes([9] * 32)

async def asynchronous(key_id):
    return "{TWO}" if key_id == "slow" else "AAAA"
"""


async def test_keys_of_functions_are_asked_for_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "operators_keys.py").write_text(OPERATORS_KEYS)
    monkeypatch.syspath_prepend(tmp_path)
    named = {"kms": "kms", "down": "kms", "slow": "asynchronous", "short": "asynchronous"}
    keys = Keys({key_id: f"function:operators_keys:{name}" for key_id, name in named.items()})
    assert await keys.get("kms") == bytes([9] * 32)
    assert await keys.get("slow") == bytes([2] * 32)
    for _ in range(2):
        with pytest.raises(PayloadUnavailable, match="'down' cannot be obtained: ConnectionError: the key service"):
            await keys.get("down")
    with pytest.raises(PayloadUnavailable, match="what the function returns as key 'short' is not a key of 32 bytes"):
        await keys.get("short")
    with pytest.raises(UsageError, match="no_such_module:f, does not exist"):
        Keys({"1": "function:no_such_module:f"})


async def test_keys_of_files_and_their_rights(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text(f"{ONE}\n")
    path.chmod(0o440)
    assert await Keys({"1": f"file:{path}"}).get("1") == bytes([1] * 32)
    for mode in (0o444, 0o460):
        path.chmod(mode)
        with pytest.raises(UsageError, match=r"can be read or changed by others: -r[\s\S]*chmod 600"):
            Keys({"1": f"file:{path}"})


@pytest.mark.parametrize(("source", "message"), [
    ("env:NOWHERE", "the variable NOWHERE with the key '1' is not set"),
    ("env:SHORT", "the key '1' in SHORT is not a key of 32 bytes"),
    ("env:WRONG", "the key '1' in WRONG is not a key"),
    ("file:/no/such/file", "the file /no/such/file with the key '1' cannot be read: No such file or directory"),
])  # fmt: skip
def test_what_is_no_key_is_told_without_showing_it(source: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        Keys({"1": source}, ENV)
    assert refused.value.message == message
    assert "openssl rand -base64 32" in str(refused.value)
