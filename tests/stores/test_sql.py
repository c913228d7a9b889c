"""Variables in databases: what is written once, together, by several at a time, and for how long."""

import asyncio
import os
import signal
import sqlite3
import sys
from asyncio.subprocess import PIPE
from datetime import timedelta

import psycopg
import pytest

from swf_temporal.base.errors import PayloadTooLarge, StoreUnavailable, UsageError
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.sdk import stores as sql
from swf_temporal.sdk.stores import SqlVariables
from swf_temporal.settings.credentials import without_password
from tests.processes import ending_with_us
from tests.stores.conftest import Opening
from tests.stores.servers import postgresql

SHARED = VariableRef("workflow", "/shop.yaml", "stock")
OTHER = VariableRef("namespace", "", "stock")
OWN = VariableRef("instance", "order-1/run-1", "own")
THREAD = VariableRef("thread", "order-1/run-1", "own")

_WRITER = """\
import asyncio, sys
from sqlalchemy import event
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.sdk.stores import SqlVariables

async def main():
    store = await SqlVariables.opened(sys.argv[1], "default", "here")
    if sys.argv[2] == "before":
        @event.listens_for(store._engine, "commit")
        def wait(connection):
            print("about to commit", flush=True)
            sys.stdin.read()
    await store.write_variables({VariableRef("workflow", "/shop.yaml", "stock"): Variable(b"mine")}, "first")
    print("written", flush=True)
    sys.stdin.read()

asyncio.run(main())
"""


async def test_what_is_written_is_read(opening: Opening) -> None:
    """By every worker, in its scope alone, also bytes that are no text; None takes a variable away."""
    one, other = await opening(), await opening()
    assert one.identity == other.identity != ""
    await one.write_variables({SHARED: Variable(b"\x00\xff", "image/png"), OTHER: Variable(b"5")}, "a")
    assert await other.read_variable(SHARED) == Variable(b"\x00\xff", "image/png")
    assert await other.read_variable(OTHER) == Variable(b"5")
    assert await other.read_variable(OWN) is None
    assert await (await opening("another")).read_variable(SHARED) is None
    await other.write_variables({SHARED: None, OTHER: Variable(b"6", "text/plain")}, "b")
    assert await one.read_variable(SHARED) is None
    assert await one.read_variable(OTHER) == Variable(b"6", "text/plain")


async def test_a_write_that_is_repeated_undoes_no_later_one(opening: Opening) -> None:
    """Whichever worker repeats it; in a scope that it did not reach the first time it is done."""
    one, other = await opening(), await opening()
    await one.write_variables({SHARED: Variable(b"1")}, "first")
    await other.write_variables({SHARED: Variable(b"2")}, "second")
    await one.write_variables({SHARED: Variable(b"1")}, "first")
    await other.write_variables({SHARED: Variable(b"1"), OTHER: Variable(b"1")}, "first")
    assert await one.read_variable(SHARED) == Variable(b"2")
    assert await one.read_variable(OTHER) == Variable(b"1")


async def test_writes_change_all_or_nothing(opening: Opening) -> None:
    """What is too much for one variable leaves the others as they are, and its id may be used again."""
    store = await opening()
    for much in (
        {SHARED: Variable(b"1"), OTHER: Variable(bytes(sql.MAX_BYTES + 1))},
        {SHARED: Variable(b"1"), VariableRef("namespace", "", "k" * 1001): Variable(b"1")},
    ):
        with pytest.raises(PayloadTooLarge):
            await store.write_variables(much, "a")
        assert await store.read_variable(SHARED) is None
    await store.write_variables({SHARED: Variable(bytes(5_000_000))}, "a")
    assert await store.read_variable(SHARED) == Variable(bytes(5_000_000))


async def test_two_writers(opening: Opening) -> None:
    one, other = await opening(), await opening()
    first, second = VariableRef("workflow", "/w", "a"), VariableRef("workflow", "/w", "b")

    async def write(store: SqlVariables, name: str) -> None:
        for number in range(20):
            key = f"{name}{number}"
            value = Variable(key.encode())
            pair = {first: value, second: value} if name == "x" else {second: value, first: value}
            await store.write_variables({**pair, VariableRef("workflow", "/w", key): value}, key)

    await asyncio.gather(write(one, "x"), write(other, "y"))
    assert await one.read_variable(first) == await one.read_variable(second) in (Variable(b"x19"), Variable(b"y19"))
    for name in ("x", "y"):
        for number in range(20):
            assert await one.read_variable(VariableRef("workflow", "/w", f"{name}{number}")) is not None


async def test_one_write_at_a_time_of_the_same_id(opening: Opening) -> None:
    stores = [await opening() for _ in range(3)]
    for number in range(10):
        values = [Variable(f"{number}/{attempt}".encode()) for attempt in range(3)]
        await asyncio.gather(
            *(
                store.write_variables({SHARED: value, VariableRef("namespace", "", str(attempt)): value}, f"w{number}")
                for attempt, (store, value) in enumerate(zip(stores, values, strict=True))
            )
        )
    found = [await stores[0].read_variable(VariableRef("namespace", "", str(attempt))) for attempt in range(3)]
    shared = await stores[0].read_variable(SHARED)
    assert shared in found, "what the first attempt wrote is written together"


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_writer_that_is_killed(address: str, opening: Opening, when: str) -> None:
    """Before its transaction ended, nothing is written, and the next attempt writes; after it, that does not."""
    store = await opening()
    command = [*ending_with_us(), sys.executable, "-c", _WRITER, address, when]
    writer = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    try:
        assert writer.stdout is not None
        assert await writer.stdout.readline() == (b"about to commit\n" if when == "before" else b"written\n")
    finally:
        writer.kill()
        await writer.communicate()
    if when == "before":
        assert await store.read_variable(SHARED) is None
    await store.write_variables({SHARED: Variable(b"again")}, "first")
    expected = b"again" if when == "before" else b"mine"
    assert await store.read_variable(SHARED) == Variable(expected)


async def test_those_of_an_instance_go_with_it(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it has ended, and only if the worker's server is the one that knows it; all others stay."""
    asked = []

    async def has_ended(owner: str) -> bool:
        asked.append(owner)
        return owner == "order-1/run-1"

    store = await opening()
    running = VariableRef("instance", "order-2/run-2", "own")
    await store.write_variables({OWN: Variable(b"1"), running: Variable(b"2"), SHARED: Variable(b"3")}, "a")
    assert await store.sweep(has_ended) == 0
    assert asked == [], "it is not looked before a day has passed"
    monkeypatch.setattr(sql, "CHECK_INTERVAL", timedelta(seconds=-1))
    await store.write_variables({OWN: Variable(b"1"), THREAD: Variable(b"1"), running: Variable(b"2")}, "b")
    elsewhere = await opening(server="elsewhere")
    assert await elsewhere.sweep(has_ended) == 0
    assert asked == []
    assert await store.sweep(has_ended) == 1
    assert sorted(asked) == ["order-1/run-1", "order-2/run-2"]
    assert await store.read_variable(OWN) is await store.read_variable(THREAD) is None
    assert await store.read_variable(running) == Variable(b"2")
    assert await store.read_variable(SHARED) == Variable(b"3")
    assert await store.sweep(has_ended) == 0
    assert asked[2:] == ["order-2/run-2"]


async def test_ids_are_kept_for_a_time(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nobody(_owner: str) -> bool:
        raise AssertionError

    store = await opening()
    await store.write_variables({SHARED: Variable(b"1")}, "a")
    await store.sweep(nobody)
    await store.write_variables({SHARED: Variable(b"2")}, "a")
    assert await store.read_variable(SHARED) == Variable(b"1")
    monkeypatch.setattr(sql, "KEEP_WRITES", timedelta(seconds=-5))
    await store.sweep(nobody)
    await store.write_variables({SHARED: Variable(b"2")}, "a")
    assert await store.read_variable(SHARED) == Variable(b"2")


async def test_workers_that_come_at_once_create_one_store(opening: Opening) -> None:
    stores = await asyncio.gather(*(opening() for _ in range(5)))
    assert len({store.identity for store in stores}) == 1


async def test_tables_of_a_newer_release(address: str, opening: Opening) -> None:
    await opening()
    statement = "UPDATE swf_variable_store SET format = 2"
    if address.startswith("sqlite"):
        with sqlite3.connect(address.removeprefix("sqlite:///")) as connection:
            connection.execute(statement)
        connection.close()
    else:
        with psycopg.connect(address) as server:
            server.execute(statement)
    with pytest.raises(UsageError, match="tables of format 2, and this release reads up to 1\n  upgrade"):
        await opening()


@pytest.mark.parametrize(("where", "message"), [
    ("sqlite:////not/here/at/all.db", "sqlite:////not/here/at/all.db for variables cannot be used: unable to open"),
    ("postgresql://ada:lovelace@127.0.0.1:1/x", "postgresql://ada:…@127.0.0.1:1/x for variables cannot be used"),
    ("postgresql://ada:lovelace@127.0.0.1:port/x", "postgresql://ada:…@127.0.0.1:port/x is not the address of a data"),
])  # fmt: skip
async def test_a_database_that_is_not_there(where: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        await SqlVariables.opened(where, "default", "here")
    assert message in str(refused.value)
    assert "lovelace" not in str(refused.value)


@pytest.mark.parametrize(("address", "shown"), [
    ("postgresql://ada:love@lace@db/x", "postgresql://ada:…@db/x"),
    ("postgresql://ada@db/x?password=lovelace&sslmode=require", "postgresql://ada@db/x?password=…&sslmode=require"),
    ("postgresql://ada@db:5432/x", "postgresql://ada@db:5432/x"),
    ("no address: sqlite:///variables.db", "no address: sqlite:///variables.db"),
])  # fmt: skip
def test_no_password_is_shown(address: str, shown: str) -> None:
    assert without_password(address) == shown


async def test_a_server_that_goes_away() -> None:
    """Connections that were cut are no trouble; while the server is away, attempts fail so that they are repeated."""
    with postgresql() as server:
        store = await SqlVariables.opened(server.url(), "default", "here")
        try:
            await store.write_variables({SHARED: Variable(b"1")}, "a")
            with psycopg.connect(server.url(), autocommit=True) as admin:
                admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
            assert await store.read_variable(SHARED) == Variable(b"1")
            os.kill(server.process.pid, signal.SIGINT)
            await asyncio.to_thread(server.process.wait, 30)
            with pytest.raises(StoreUnavailable, match="the database of the variables cannot be used"):
                await store.write_variables({SHARED: Variable(b"2")}, "b")
        finally:
            await store.aclose()
