"""The function type `sql`: the operation is a statement, and the arguments are its parameters."""

import asyncio
import sqlite3

from swf_temporal import JSON, Call, Registry

registry = Registry()

TABLES = """
    create table books (id integer primary key, title text, copies integer check (copies >= 0));
    create table orders (id integer primary key, book integer references books, reader text);
    insert into books (title, copies) values ('Emma', 2), ('Persuasion', 0);
"""


@registry.type("sql")
class Sql:
    """Carries out statements on a database, here one in memory that is new for each worker."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.row_factory = sqlite3.Row
        self._database.executescript(TABLES)
        self._turn = asyncio.Lock()

    async def perform(self, call: Call) -> JSON:
        """Return the rows that a statement yields. An exception is the function's error, by the name of its class."""
        async with self._turn:
            return await asyncio.to_thread(self._rows, str(call.function.operation), call.arguments)

    async def aclose(self) -> None:
        """Close the database: the worker ends."""
        self._database.close()

    def _rows(self, statement: str, arguments: JSON) -> JSON:
        with self._database:
            rows = self._database.execute(statement, arguments if isinstance(arguments, dict) else {}).fetchall()
        return [dict(row) for row in rows]
