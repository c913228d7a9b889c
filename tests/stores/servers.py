"""PostgreSQL, started for the tests from its own program: as a user that it accepts, in a folder that is its own."""

import os
import pwd
import shutil
import socket
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

from tests.processes import ending_with_us

HOST = "127.0.0.1"
_STARTING = 60.0
_STOPPING = 30.0
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
        data = str(folder / "data")
        made = subprocess.run(
            [initdb, "-D", data, "-U", "swf", "-A", "scram-sha-256", f"--pwfile={folder / 'password'}", "-E", "UTF8",
             "--no-locale", "--no-sync"],
            user=user, check=False, capture_output=True, text=True, cwd=folder,
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        with socket.create_server((HOST, 0)) as probe:
            port = probe.getsockname()[1]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [*ending_with_us(), server, "-D", data, "-p", str(port), "-h", HOST, "-k", str(folder), *_QUICK],
                user=user, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder,
            )  # fmt: skip
        try:
            started = PostgreSql(port, process)
            _await(started, folder / "log")
            yield started
        finally:
            process.send_signal(2)  # fast: what is connected is cut off
            try:
                process.wait(_STOPPING)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _await(server: PostgreSql, log: Path) -> None:
    end = time.monotonic() + _STARTING
    while time.monotonic() < end and server.process.poll() is None:
        with suppress(psycopg.OperationalError), psycopg.connect(server.url(), connect_timeout=5):
            return
        time.sleep(0.05)
    raise RuntimeError(f"PostgreSQL does not answer:\n{log.read_text(errors='replace')[-2000:]}")
