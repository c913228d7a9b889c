"""PostgreSQL, started for the tests from its own program: as a user that it accepts, in a folder that is its own."""

import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from uuid import uuid4

import psycopg
import pytest

from tests.brokers.servers import HOST, running
from tests.cli.conftest import free_port

_QUICK = ("-c", "fsync=off", "-c", "full_page_writes=off")


@dataclass
class PostgreSql:
    port: int
    process: subprocess.Popen[bytes]

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://swf:a-password@{HOST}:{self.port}/{database}"

    def fresh(self) -> str:
        name = f"variables_{uuid4().hex}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def answers(self) -> bool:
        """Tell whether it has started. Raises RuntimeError if it has ended."""
        if self.process.poll() is not None:
            raise RuntimeError("PostgreSQL has ended")
        with suppress(psycopg.OperationalError), psycopg.connect(self.url(), connect_timeout=5):
            return True
        return False


def _program(name: str) -> str:
    folders = [os.environ.get("PATH", ""), *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True))]
    path = shutil.which(name, path=os.pathsep.join(folders))
    if path is None:
        pytest.skip(f"PostgreSQL's {name} is not on this machine; on Debian: apt-get install postgresql")
    return path


def _user() -> str | None:
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    pytest.skip("PostgreSQL does not run as root, and there is no user 'postgres' or 'nobody'")


@contextmanager
def postgresql() -> Iterator[PostgreSql]:
    initdb, server, user = _program("initdb"), _program("postgres"), _user()
    folder = Path(mkdtemp(prefix="postgresql-"))  # where another user may come, which the folders of pytest do not let
    try:
        (folder / "password").write_text("a-password")
        if user is not None:
            for path in (folder, folder / "password"):
                shutil.chown(path, user)
        data, password = str(folder / "data"), str(folder / "password")
        how = ["-U", "swf", "-A", "scram-sha-256", f"--pwfile={password}", "-E", "UTF8", "--no-locale", "--no-sync"]
        command = [initdb, "-D", data, *how]
        made = subprocess.run(command, user=user, check=False, capture_output=True, text=True, cwd=folder)
        assert made.returncode == 0, made.stderr
        port = free_port()
        command = [server, "-D", data, "-p", str(port), "-h", HOST, "-k", str(folder), *_QUICK]
        # Stopped by this signal it cuts off what is connected.
        with running(command, [port], folder / "log", stop=signal.SIGINT, user=user, cwd=folder) as process:
            started = PostgreSql(port, process)
            while not started.answers():
                time.sleep(0.05)
            yield started
    finally:
        shutil.rmtree(folder, ignore_errors=True)
