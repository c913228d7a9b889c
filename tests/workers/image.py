"""Reads the Dockerfile, and runs its image's command in what it amounts to: a root that cannot be written."""

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import httpx
from packaging.requirements import Requirement

from tests.processes import ending_with_us

ROOT = Path(__file__).parents[2]
PATIENCE = 60
DOCKERFILE = ROOT / "workers" / "Dockerfile"

_INSTRUCTION = re.compile(r"^([A-Z]+) ((?:.*\\\n)*.*)$", re.MULTILINE)
_MOUNTED = """\
root=$1 definitions=$2 installed=$3; shift 3
mount --bind "$root" "$root"
mkdir -p "$root/definitions" "$root/installed" "$root/tmp" "$root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"; mount -t proc proc "$root/proc"
mount --bind "$definitions" "$root/definitions"; mount -o remount,bind,ro "$root/definitions"
mount --bind "$installed" "$root/installed"; mount -o remount,bind,ro "$root/installed"
for folder in $BOUND; do
  mkdir -p "$root$folder"; mount --rbind "$folder" "$root$folder"; mount -o remount,bind,ro "$root$folder"
done
mount -o remount,bind,ro "$root"
exec "$@"
"""
"""A program of the shell: it needs root, and a namespace of mounts and of processes of its own.

What is bound comes last, since a checkout may lie below `/tmp`, and links are followed, since any of it may be one.
"""


def instructions(name: str) -> list[str]:
    """Return what follows each instruction of that name in the Dockerfile, on one line."""
    found = _INSTRUCTION.findall(DOCKERFILE.read_text(encoding="utf-8"))
    return [rest.replace("\\\n", " ") for instruction, rest in found if instruction == name]


def command() -> list[str]:
    """Return what the image runs without arguments, from the last of each instruction."""
    return [*json.loads(instructions("ENTRYPOINT")[-1]), *json.loads(instructions("CMD")[-1])]


def environment() -> dict[str, str]:
    return dict(pair.split("=", 1) for each in instructions("ENV") for pair in shlex.split(each))


def may_mount() -> bool:
    """Tell whether a root that cannot be written can be made here: root may, on Linux."""
    tried = ["unshare", "--mount", "--pid", "--fork", "true"]
    return (
        os.getuid() == 0 and shutil.which("unshare") is not None and subprocess.run(tried, check=False).returncode == 0
    )


def install(into: Path) -> None:
    """Do to the folder *into* what the first stage of the Dockerfile does to `/installed`, but without dependencies.

    It has no more than the stage has: the files that are copied, from those that `.dockerignore` lets through.
    """
    source = into / "source"
    source.mkdir()
    allowed = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for sources in (each.split()[:-1] for each in instructions("COPY") if not each.startswith("--")):
        for name in sources:
            assert f"!{name}" in allowed
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, source)
    run = next(each for each in instructions("RUN") if each.endswith(" ."))
    words = shlex.split(run.replace("/installed", str(into / "installed")))
    subprocess.run([sys.executable, "-m", *words, "--quiet", "--ignore-installed"], cwd=source, check=True)


def with_packages_alone(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run Python with what `install` left in *folder*, and with no other packages than the image installs."""
    site = folder / "installed" / "packages"
    if not site.exists():
        site.mkdir()
        for name in _locked():
            distribution = metadata.distribution(name)
            for part in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
                if not (site / part).exists():
                    (site / part).symlink_to(str(distribution.locate_file(part)))
    own = sysconfig.get_path("purelib", "posix_prefix", {"base": str(folder / "installed")})
    python = os.path.realpath(sys.executable)
    env = {**environment(), "PATH": "/usr/bin:/bin", "PYTHONPATH": f"{own}:{site}"}
    cwd = folder / "definitions"
    return subprocess.run(
        [python, "-S", *arguments], env=env, cwd=cwd, check=False, capture_output=True, timeout=PATIENCE
    )


def _locked() -> Iterator[str]:
    """Yield the names of what the image installs here."""
    text = (ROOT / "release" / "locked" / "image.txt").read_text(encoding="utf-8")
    for found in re.findall(r"^\w[^\\\n]*", text, re.MULTILINE):
        requirement = Requirement(found)
        if requirement.marker is None or requirement.marker.evaluate():
            yield requirement.name


async def _is_ready(port: str) -> bool:
    try:
        async with httpx.AsyncClient(trust_env=False) as client:
            return (await client.get(f"http://127.0.0.1:{port}/readyz")).is_success
    except httpx.TransportError:
        return False


@dataclass(frozen=True)
class Running:
    """The image's command, while it runs."""

    process: subprocess.Popen[bytes]
    """Waits for the command, which is its only child, and the first process of its namespace."""
    log: Path

    async def until_healthy(self, port: str) -> None:
        """Wait until the image's check finds it healthy at *port*; that is asked once it would be."""
        check = shlex.join([sys.executable, *json.loads(instructions("HEALTHCHECK")[-1].partition("CMD")[2])[1:]])
        end = time.monotonic() + PATIENCE
        env = {"SWF_HEALTH_PORT": port}
        while not await _is_ready(port) or await (await asyncio.create_subprocess_shell(check, env=env)).wait():
            log = self.log.read_text(encoding="utf-8")
            assert self.process.poll() is None, log
            assert time.monotonic() < end, log
            await asyncio.sleep(0.05)

    def told_to_end(self) -> int:
        [command] = self.commands()
        os.kill(command, signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def end(self) -> None:
        """End the command, if it still runs: it has changed its user, so that nothing ends it with its parent."""
        commands = self.commands() if self.process.poll() is None else []
        for command in commands:
            os.kill(command, signal.SIGKILL)
        if not commands:  # it has not begun one yet; else it ends with that
            self.process.kill()
        self.process.wait(PATIENCE)

    def commands(self) -> list[int]:
        own = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(one) for one in own.read_text(encoding="utf-8").split()]


@contextmanager
def started(folder: Path, variables: Mapping[str, str], *arguments: str, user: str | None = None) -> Iterator[Running]:
    """Run the image's command, or its entry point with *arguments*, with what `install` left in *folder*.

    It runs as *user*, by default that of the image.
    """
    root = Path(tempfile.mkdtemp(dir=folder))
    root.chmod(0o755)
    installed = folder / "installed"
    site = sysconfig.get_path("purelib", "posix_prefix", {"base": "/installed"})
    env = {**environment(), **variables, "PATH": "/installed/bin:/usr/bin:/bin", "PYTHONPATH": site}
    uid = instructions("USER")[-1] if user is None else user
    inside = ["chroot", f"--userspec={uid}", str(root), "env", "-i", *(f"{k}={v}" for k, v in env.items())]
    moved = ["sh", "-c", 'cd "$0" && exec "$@"', instructions("WORKDIR")[-1]]
    what = [*json.loads(instructions("ENTRYPOINT")[-1]), *arguments] if arguments else command()
    bound = ["/usr", "/bin", "/lib", "/lib64", "/etc", "/dev"]
    python = [sys.prefix, sys.base_prefix]
    bound += [*map(os.path.realpath, python), *python]  # first where they are: a link to it may be in /usr or in /dev
    outside = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", _MOUNTED, "sh"]
    with root.with_suffix(".log").open("wb") as log:
        process = subprocess.Popen(
            [*ending_with_us(), *outside, root, folder / "definitions", installed, *inside, *moved, *what],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "BOUND": " ".join(dict.fromkeys(bound))},
            stderr=log,
        )
    running = Running(process, root.with_suffix(".log"))
    try:
        yield running
    finally:
        running.end()
