"""The tables that hold variables. They are created where they are missing, and have a format number.

Times are seconds since 1970, by the clock of the worker that wrote them; nothing finer than a day depends on them.
"""

from typing import Final
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
    insert,
    inspect,
    select,
    text,
)

from swf_temporal.base.errors import UsageError

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
