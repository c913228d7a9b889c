"""Variables of Direktiv workflows in a database: a file of SQLite, or PostgreSQL.

Theory of operation. A write is one transaction: it stores its id, and sets the values. The database refuses an id that
is stored already, so a write that is repeated because the worker was lost before it could report success changes
nothing, even if others have written since. For two concurrent attempts, the second waits for the end of the first.

Only Temporal knows whether an instance has ended. Each worker looks, from time to time, for the instances that are due
for a check, claims one after the other by setting the time of its next check, and removes the data of ended ones. Times
are seconds since 1970, by the clock of the worker that wrote them; nothing finer than a day depends on them.
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
"""The format that this release writes. A release that changes it migrates the tables, in place of `_create`."""

METADATA: Final = MetaData()

STORE: Final = Table(
    "swf_variable_store",
    METADATA,
    Column("format", Integer, nullable=False),
    Column("id", String(36), nullable=False),  # identifies this database
)

VARIABLES: Final = Table(
    "swf_variables",
    METADATA,
    Column("namespace", Text, primary_key=True),  # Temporal's namespace
    Column("scope", Text, primary_key=True),
    Column("owner", Text, primary_key=True),  # for an instance: its id and its first run's, separated by a slash
    Column("key", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
    Column("mime_type", Text, nullable=False),
    Column("written_at", BigInteger, nullable=False),
)

WRITES: Final = Table(
    "swf_variable_writes",
    METADATA,
    Column("id", String(64), primary_key=True),  # a digest of the scope and the write's id
    Column("written_at", BigInteger, nullable=False, index=True),
)

INSTANCES: Final = Table(
    "swf_variable_instances",
    METADATA,
    Column("namespace", Text, primary_key=True),
    Column("owner", Text, primary_key=True),
    Column("server", Text, nullable=False),  # the id of the namespace, since only its server knows the instance
    Column("look_at", BigInteger, nullable=False, index=True),  # when to check whether the instance has ended
)

_LOCK: Final = 0x73776676
"""The id of PostgreSQL's advisory lock for creating the tables."""


def prepare(engine: Engine) -> str:
    """Create the tables if they are missing, and return the id of the store.

    Raises UsageError if a newer release wrote them.
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
"""The interval of checks whether an instance has ended; the first one is this long after a write."""
KEEP_WRITES: Final = timedelta(days=30)
"""How long the ids of writes are kept."""
_OF_INSTANCES: Final = ("instance", "thread")
"""The scopes whose variables are removed with an instance."""
_AT_ONCE: Final = 10
"""The number of connections of a worker."""
_BATCH: Final = 100
_PATIENCE: Final = 30
"""Seconds to wait for a lock of another transaction, or for a server that does not answer."""

_T = TypeVar("_T")
HasEnded = Callable[[str], Awaitable[bool]]


class SqlVariables:
    def __init__(self, engine: Engine, namespace: str, server: str) -> None:
        """Use `opened` instead, which prepares the database."""
        self.identity = ""
        """The id of this database, the same for all its clients."""
        self._engine = engine
        self._namespace = namespace
        self._server = server
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="variables")
        self._insert: Any = postgresql.insert if engine.dialect.name == "postgresql" else sqlite.insert

    @classmethod
    async def opened(cls, address: str, namespace: str, server: str) -> "SqlVariables":
        """Connect to the database at *address*, and create its tables if they are missing.

        *namespace* is the Temporal namespace of the variables, and *server* its id there. Raises UsageError.
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
                "it must exist, and its user needs permission to create tables",
            ) from None
        except UsageError:
            await store.aclose()
            raise
        return store

    async def aclose(self) -> None:
        await self._run(self._engine.dispose)
        self._threads.shutdown(wait=False)

    async def read_variable(self, of: VariableRef) -> Variable | None:
        """Return the value of the variable, or None if it is not set. Raises StoreUnavailable."""
        return await self._reached(partial(self._read, of))

    async def write_variables(self, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:
        """Set each variable to its value, in one transaction. Raises StoreUnavailable and PayloadTooLarge."""
        for of, value in values.items():
            _check(of, value)
        await self._reached(partial(self._write, values, write_id))

    async def sweep(self, has_ended: HasEnded) -> int:
        """Remove the variables of ended instances among those due for a check; return their number.

        Expired ids of writes are removed, too. Raises StoreUnavailable.
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
            scopes = sorted({(of.scope, of.owner) for of in values})  # in the same order in every writer
            fresh = {scope for scope in scopes if self._note(connection, (*scope, write_id), now)}
            for of, value in sorted(values.items(), key=lambda each: (each[0].scope, each[0].owner, each[0].key)):
                if (of.scope, of.owner) in fresh:
                    self._set(connection, of, value, now)
            for scope, owner in scopes:
                if scope in _OF_INSTANCES:
                    self._look_later(connection, owner, now)

    def _note(self, connection: Connection, parts: tuple[str, ...], now: int) -> bool:
        """Store the id of a write; return whether it is new."""
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
        """Return the instances that are due for a check, and since when."""
        query = (
            select(INSTANCES.c.owner, INSTANCES.c.look_at)
            .where(INSTANCES.c.server == self._server, INSTANCES.c.look_at <= int(time()))
            .order_by(INSTANCES.c.look_at)
            .limit(_BATCH)
        )
        with self._engine.connect() as connection:
            return [(row.owner, row.look_at) for row in connection.execute(query)]

    def _take(self, owner: str, look_at: int) -> bool:
        """Claim the check of an instance for this worker; return whether no other was quicker."""
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
    connection.execute("PRAGMA synchronous = FULL")  # a reported write is durable


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that begins with reading cannot always be upgraded, so writers take the lock at once.
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
    """Return the database's message, without the statement and its values."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return " ".join(str(cause).split())


def _with_driver(address: str) -> str:
    """Return the URL of a database with the driver that SQLAlchemy is to use."""
    scheme, _, rest = address.partition("://")
    return f"{'sqlite' if scheme == 'sqlite' else 'postgresql+psycopg'}://{rest}"
