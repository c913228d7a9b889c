"""Environments that have nothing but the wheel: without extras, with each, and with all of them."""

import json
import os
import subprocess
import venv
from pathlib import Path

from release.extras import SHOWN

HELLO = """\
id: hello
version: 1.0.0
specVersion: "0.8"
states:
  - name: Greet
    type: inject
    data: {greeting: "Hello ${ .name }!"}
    end: true
"""
GREETED = {"name": "Ada", "greeting": "Hello Ada!"}


class PackageError(Exception):
    """What is published does not do what it says."""


class Environment:
    """A virtual environment in *folder*, made anew, in which *package* is installed with the extras of that name.

    That is the path of a wheel, or what an index is asked for.
    """

    def __init__(self, folder: Path, package: Path | str, extras: str = "") -> None:
        venv.create(folder, with_pip=True, clear=True)
        self.folder = folder
        self._package = package
        self._pip("install", f"{package}[{extras}]" if extras else str(package))

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts" if os.name == "nt" else "bin") / "python"

    def run(self, *command: str | Path, beside: Path | None = None) -> str:
        """Return what *command* prints, which may use the packages in the folder *beside*, too. Raises PackageError."""
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SWF_", "TEMPORAL"))}
        env["PATH"] = os.pathsep.join([str(self.python.parent), env["PATH"]])
        if beside is not None:
            env |= {"PYTHONPATH": str(beside), "PATH": f"{beside / 'bin'}{os.pathsep}{env['PATH']}"}
        done = subprocess.run(command, env=env, cwd=self.folder, check=False, capture_output=True, text=True)
        if done.returncode:
            raise PackageError(
                f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
            )
        return done.stdout

    def greet(self, *options: str, beside: Path | None = None) -> None:
        """Run a small definition by the installed command. Raises PackageError if it does not come to what it says."""
        file = self.folder / "hello.yaml"
        file.write_text(HELLO, encoding="utf-8")
        printed = self.run("swf", "run", file, "--input", '{"name": "Ada"}', *options, beside=beside)
        if json.loads(printed.splitlines()[-1]) != GREETED:
            raise PackageError(f"swf run {' '.join(options)} printed {printed}")

    def try_extra(self, extra: str) -> None:
        """Add what *extra* brings, beside this environment, and run what fails without it. Raises PackageError."""
        before = subprocess.run([self.python, "-c", SHOWN[extra]], cwd=self.folder, check=False, capture_output=True)
        if not before.returncode:
            raise PackageError(f"what shows the extra {extra} needs nothing that it brings: {SHOWN[extra]}")
        report = json.loads(self._pip("install", "--dry-run", "--report", "-", f"{self._package}[{extra}]"))
        added = [f"{one['metadata']['name']}=={one['metadata']['version']}" for one in report["install"]]
        beside = self.folder / "extras" / extra
        self._pip("install", "--no-deps", "--target", str(beside), *(one for one in added if "swf-temporal" not in one))
        self.run(self.python, "-c", SHOWN[extra], beside=beside)
        if extra == "local":
            self.greet(beside=beside)

    def _pip(self, *arguments: str) -> str:
        command = [str(self.python), "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
        command += ["--no-compile"] if arguments[0] == "install" else []  # each is used once
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise PackageError(f"pip {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
        return done.stdout
