"""Variables of Direktiv workflows in a database: a file of SQLite, or PostgreSQL.

Theory of operation. A write is one transaction: it stores its id, and sets the values. The database refuses an id that
is stored already, so a write that is repeated because the worker was lost before it could report success changes
nothing, whatever was written since. Two attempts at once are no exception: the second waits for the end of the first.

Whether an instance has ended is known to Temporal alone. Each worker asks, from time to time, for the instances whose
time to be looked at has come, takes one after the other by setting that time anew, and removes what has ended.

Times are seconds since 1970, by the clock of the worker that wrote them; nothing finer than a day depends on them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from hashlib import sha256
from time import time
from typing import Any, Final, TypeVar
from uuid import uuid4

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    delete,
    event,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from swf_temporal.base.errors import PayloadTooLarge, StoreUnavailable, UsageError
from swf_temporal.base.strict_json import write_json
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.settings.credentials import without_password

FORMAT: Final = 1
"""The format that this release writes. A release that changes it brings the tables up to date, in `_create`'s place."""

METADATA: Final = MetaData()

STORE: Final = Table(
    "swf_variable_store",
    METADATA,
    Column("format", Integer, nullable=False),
    Column("id", String(36), nullable=False),  # tells this database from every other one
)

VARIABLES: Final = Table(
    "swf_variables",
    METADATA,
    Column("namespace", Text, primary_key=True),  # that of Temporal
    Column("scope", Text, primary_key=True),
    Column("owner", Text, primary_key=True),  # of an instance: its id and its first run's, with a slash between
    Column("key", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
    Column("mime_type", Text, nullable=False),
    Column("written_at", BigInteger, nullable=False),
)

WRITES: Final = Table(
    "swf_variable_writes",
    METADATA,
    Column("id", String(64), primary_key=True),  # a digest of the scope and of the id that the write came with
    Column("written_at", BigInteger, nullable=False, index=True),
)

INSTANCES: Final = Table(
    "swf_variable_instances",
    METADATA,
    Column("namespace", Text, primary_key=True),
    Column("owner", Text, primary_key=True),
    Column("server", Text, nullable=False),  # the id of the namespace: only its own server knows the instance
    Column("look_at", BigInteger, nullable=False, index=True),  # when to look whether the instance has ended
)

_LOCK: Final = 0x73776676
"""The name of PostgreSQL's advisory lock that creating the tables takes."""


def prepare(engine: Engine) -> str:
    """Create the tables if they are missing, and return the id of the store.

    Raises UsageError where a newer release wrote them.
    """
    with engine.connect() as connection:
        if not inspect(connection).has_table(STORE.name):
            connection.rollback()
            _create(connection.execution_options(writes=True))
        found = connection.execute(select(STORE.c.format, STORE.c.id)).one()
    if found.format > FORMAT:
        message = f"the variables are in tables of format {found.format}, and this release reads up to {FORMAT}"
        raise UsageError(message, "upgrade swf-temporal on this worker")
    return str(found.id)


def _create(connection: Connection) -> None:
    """Create the tables, while no other worker does."""
    with connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        if not inspect(connection).has_table(STORE.name):
            METADATA.create_all(connection)
            connection.execute(insert(STORE).values(format=FORMAT, id=str(uuid4())))


MAX_BYTES: Final = 32 * 1024 * 1024
"""The size limit of one variable, in bytes."""
MAX_KEY_BYTES: Final = 1000
"""The length limit of a variable's name: an index of the database has to hold it."""
CHECK_INTERVAL: Final = timedelta(days=1)
"""The interval of checks whether the instance has ended, the first of which comes this long after a write."""
KEEP_WRITES: Final = timedelta(days=30)
"""For how long the ids of writes are kept."""
_OF_INSTANCES: Final = ("instance", "thread")
"""The scopes whose variables go with an instance."""
_AT_ONCE: Final = 10
"""Connections of a worker."""
_BATCH: Final = 100
_PATIENCE: Final = 30
"""Seconds that are waited for a lock of another transaction, or for a server that does not answer."""

_T = TypeVar("_T")
HasEnded = Callable[[str], Awaitable[bool]]


class SqlVariables:
    def __init__(self, engine: Engine, namespace: str, server: str) -> None:
        """Use `opened` instead, which prepares the database."""
        self.identity = ""
        """Tells this database from every other one; the same for all who use it."""
        self._engine = engine
        self._namespace = namespace
        self._server = server
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="variables")
        self._insert: Any = postgresql.insert if engine.dialect.name == "postgresql" else sqlite.insert

    @classmethod
    async def opened(cls, address: str, namespace: str, server: str) -> "SqlVariables":
        """Connect to the database at *address*, and create its tables if they are missing.

        *namespace* is the one of Temporal whose variables they are, and *server* its id there. Raises UsageError.
        """
        try:
            store = cls(_engine(address), namespace, server)
        except (ArgumentError, ValueError) as error:
            why = without_password(str(error))
            raise UsageError(f"{without_password(address)} is not the address of a database: {why}") from None
        try:
            store.identity = await store._run(partial(prepare, store._engine))
        except SQLAlchemyError as error:
            await store.aclose()
            raise UsageError(
                f"the database {without_password(address)} for variables cannot be used: {_reason(error)}",
                "it has to be there, and its user may have to create tables",
            ) from None
        except UsageError:
            await store.aclose()
            raise
        return store

    async def aclose(self) -> None:
        await self._run(self._engine.dispose)
        self._threads.shutdown(wait=False)

    async def read_variable(self, of: VariableRef) -> Variable | None:
        """Return what the variable holds, or None if there is none. Raises StoreUnavailable."""
        return await self._reached(partial(self._read, of))

    async def write_variables(self, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:
        """Let each variable hold its value, in one transaction. Raises StoreUnavailable and PayloadTooLarge."""
        for of, value in values.items():
            _check(of, value)
        await self._reached(partial(self._write, values, write_id))

    async def sweep(self, has_ended: HasEnded) -> int:
        """Remove the variables of instances that have ended, as far as it is time to look; return of how many.

        Ids of writes that are no longer kept go, too. Raises StoreUnavailable.
        """
        await self._reached(self._forget)
        count = 0
        for owner, look_at in await self._reached(self._due):
            if await self._reached(partial(self._take, owner, look_at)) and await has_ended(owner):
                await self._reached(partial(self._remove, owner))
                count += 1
        return count

    def _read(self, of: VariableRef) -> Variable | None:
        query = select(VARIABLES.c.content, VARIABLES.c.mime_type).where(*self._is(of))
        with self._engine.connect() as connection:
            found = connection.execute(query).one_or_none()
        return None if found is None else Variable(bytes(found.content), found.mime_type)

    def _write(self, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:
        now = int(time())
        with self._transaction() as connection:
            scopes = sorted({(of.scope, of.owner) for of in values})  # in the same order as every other writer
            fresh = {scope for scope in scopes if self._note(connection, (*scope, write_id), now)}
            for of, value in sorted(values.items(), key=lambda each: (each[0].scope, each[0].owner, each[0].key)):
                if (of.scope, of.owner) in fresh:
                    self._set(connection, of, value, now)
            for scope, owner in scopes:
                if scope in _OF_INSTANCES:
                    self._look_later(connection, owner, now)

    def _note(self, connection: Connection, parts: tuple[str, ...], now: int) -> bool:
        """Note the id of a write; tell whether it was not noted before."""
        digest = sha256(write_json([self._namespace, *parts]).encode()).hexdigest()
        statement = self._insert(WRITES).values(id=digest, written_at=now).on_conflict_do_nothing()
        return connection.execute(statement.returning(WRITES.c.id)).one_or_none() is not None

    def _set(self, connection: Connection, of: VariableRef, value: Variable | None, now: int) -> None:
        if value is None:
            connection.execute(delete(VARIABLES).where(*self._is(of)))
            return
        held = {"content": value.content, "mime_type": value.mime_type, "written_at": now}
        row = {"namespace": self._namespace, "scope": of.scope, "owner": of.owner, "key": of.key, **held}
        keys = [column.name for column in VARIABLES.primary_key]
        connection.execute(self._insert(VARIABLES).values(**row).on_conflict_do_update(index_elements=keys, set_=held))

    def _look_later(self, connection: Connection, owner: str, now: int) -> None:
        at = {"server": self._server, "look_at": now + int(CHECK_INTERVAL.total_seconds())}
        row = {"namespace": self._namespace, "owner": owner, **at}
        connection.execute(
            self._insert(INSTANCES).values(**row).on_conflict_do_update(index_elements=["namespace", "owner"], set_=at)
        )

    def _forget(self) -> None:
        with self._transaction() as connection:
            connection.execute(delete(WRITES).where(WRITES.c.written_at < int(time() - KEEP_WRITES.total_seconds())))

    def _due(self) -> list[tuple[str, int]]:
        """Return the instances that it is time to look at, and since when."""
        query = (
            select(INSTANCES.c.owner, INSTANCES.c.look_at)
            .where(INSTANCES.c.server == self._server, INSTANCES.c.look_at <= int(time()))
            .order_by(INSTANCES.c.look_at)
            .limit(_BATCH)
        )
        with self._engine.connect() as connection:
            return [(row.owner, row.look_at) for row in connection.execute(query)]

    def _take(self, owner: str, look_at: int) -> bool:
        """Let the instance be looked at by this worker; tell whether no other was quicker."""
        statement = (
            update(INSTANCES)
            .where(INSTANCES.c.namespace == self._namespace, INSTANCES.c.owner == owner, INSTANCES.c.look_at == look_at)
            .values(look_at=int(time() + CHECK_INTERVAL.total_seconds()))
        )
        with self._transaction() as connection:
            return bool(connection.execute(statement).rowcount)

    def _remove(self, owner: str) -> None:
        of, here = VARIABLES.c, INSTANCES.c
        with self._transaction() as connection:
            connection.execute(
                delete(VARIABLES).where(of.namespace == self._namespace, of.scope.in_(_OF_INSTANCES), of.owner == owner)
            )
            connection.execute(delete(INSTANCES).where(here.namespace == self._namespace, here.owner == owner))

    def _is(self, of: VariableRef) -> tuple[Any, ...]:
        columns = VARIABLES.c
        return (
            columns.namespace == self._namespace,
            columns.scope == of.scope,
            columns.owner == of.owner,
            columns.key == of.key,
        )

    def _transaction(self) -> Any:
        return self._engine.execution_options(writes=True).begin()

    async def _reached(self, work: Callable[[], _T]) -> _T:
        try:
            return await self._run(work)
        except SQLAlchemyError as error:
            raise StoreUnavailable(f"the database of the variables cannot be used: {_reason(error)}") from error

    async def _run(self, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _engine(address: str) -> Engine:
    url = _with_driver(address)
    if url.startswith("sqlite"):
        engine = create_engine(url, pool_size=_AT_ONCE, connect_args={"timeout": _PATIENCE})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    arguments = {"connect_timeout": _PATIENCE // 3, "tcp_user_timeout": _PATIENCE * 1000}
    engine = create_engine(url, pool_size=_AT_ONCE, max_overflow=0, pool_pre_ping=True, connect_args=arguments)
    event.listen(engine, "connect", _prepare_postgresql)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where `_begin_sqlite` says
    connection.execute("PRAGMA journal_mode = WAL")  # readers do not wait for writers
    connection.execute("PRAGMA synchronous = FULL")  # what was told to be written is


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that begins with reading cannot always go on to write; one that is to write says so at once.
    is_writing = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")


def _prepare_postgresql(connection: Any, _record: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{_PATIENCE}s'")
    connection.commit()


def _check(of: VariableRef, value: Variable | None) -> None:
    if value is not None and len(value.content) > MAX_BYTES:
        message = f"the variable {of.key!r} would hold {len(value.content):,} bytes, of which {MAX_BYTES:,} are allowed"
        raise PayloadTooLarge(message)
    if len(of.key.encode()) > MAX_KEY_BYTES:
        raise PayloadTooLarge(f"the name of the variable {of.key[:50]!r}… is longer than {MAX_KEY_BYTES:,} bytes")


def _reason(error: SQLAlchemyError) -> str:
    """Return what the database says, without the statement and its values."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return " ".join(str(cause).split())


def _with_driver(address: str) -> str:
    """Return the URL of a database as SQLAlchemy takes it."""
    scheme, _, rest = address.partition("://")
    return f"{'sqlite' if scheme == 'sqlite' else 'postgresql+psycopg'}://{rest}"
