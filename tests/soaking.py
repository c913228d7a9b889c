"""What soaks share: their options, a folder with their logs, programs of ours that are killed, and what these run."""

import argparse
import asyncio
import logging
import shutil
import subprocess
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, fields
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar

from swf_temporal.sdk.logs import be_quiet
from tests.processes import ending_with_us

_Found = TypeVar("_Found")

TALLY = """\
id: tally
version: '1.0'
specVersion: '0.8'
start: Wait
events:
- {name: Number, type: number, source: soak/+, correlation: [{contextAttributeName: account}]}
- {name: Done, type: done, kind: produced}
functions: [{name: add, type: expression, operation: '(.numbers // []) + [.event.number]'}]
states:
- name: Wait
  type: event
  onEvents:
  - eventRefs: [Number]
    eventDataFilter: {toStateData: .event}
    actions: [{functionRef: add, actionDataFilter: {toStateData: .numbers}}]
  transition: Enough
- name: Enough
  type: switch
  dataConditions: [{condition: '${ (.numbers | length) < COUNT }', transition: Wait}]
  defaultCondition: {end: ENDING}
"""
"""An instance for each account, which takes COUNT numbers."""


def parser_of(name: str, doc: str | None, usual: Any, **told: str) -> argparse.ArgumentParser:
    """Return a parser of the options of `python -m tests.NAME`: the fields of *usual*, by what is *told* of each."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.{name}", description=(doc or "").partition("\n")[0])
    for one in fields(usual):
        if one.name in told:
            default, option = getattr(usual, one.name), f"--{one.name.replace('_', '-')}"
            if default is False:
                parser.add_argument(option, action="store_true", help=told[one.name])
            else:
                parser.add_argument(option, type=type(default), default=default, help=told[one.name])
    return parser


def soaked(name: str, run: Callable[[Path], Coroutine[Any, Any, _Found]], *, keeps: bool = False) -> _Found:
    """Soak in a folder of its own, which is told and stays if *keeps*."""
    logging.disable()
    be_quiet()
    folder = Path(mkdtemp(prefix=f"swf-{name}-"))
    try:
        return asyncio.run(run(folder))
    finally:
        if keeps:
            sys.stderr.write(f"{folder}\n")
        else:
            shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Programs:
    """Commands of ours that serve the definitions in a folder, each with a log beside them."""

    folder: Path
    address: str
    words: dict[str, list[str]]
    """By their names here, how they are called."""
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def define(self, **definitions: str) -> None:
        (self.folder / "definitions").mkdir()
        for name, text in definitions.items():
            (self.folder / "definitions" / f"{name}.yaml").write_text(text)

    def start(self, name: str) -> None:
        command = [*ending_with_us(), sys.executable, "-m", "swf_temporal.cli", *self.words[name]]
        where = [str(self.folder / "definitions"), "--config", str(self.folder / "swf.yaml"), "--address", self.address]
        with self.log(name).open("ab") as log:
            self.running[name] = subprocess.Popen([*command, *where], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    async def kill(self, name: str) -> None:
        self.running[name].kill()
        await asyncio.to_thread(self.running[name].wait)

    def close(self) -> None:
        for process in self.running.values():
            process.kill()
            process.wait()
