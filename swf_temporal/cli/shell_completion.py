"""Completion on the command line. It runs on every press of the key, so it must not import anything heavy."""

import os
import re
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import typer

from swf_temporal.base.files import ENDINGS

_ID = re.compile(r"""(?:^|[{,])[ \t]*["']?id["']?[ \t]*:[ \t]*["']?([^"'\s,{}#]+)""", re.MULTILINE)
_STATES = re.compile(r"""(?:^|[{,])[ \t]*["']?states["']?[ \t]*:""", re.MULTILINE)
_MAX_FOLDERS, _MAX_FILES, _MAX_BYTES = 100, 200, 1 << 20
"""The maximum numbers of folders and files that are searched for ids, and the maximum size of a file."""
_FRESH = 5.0
"""Seconds after which instances are listed again."""


def instance_ids(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the ids of instances that were seen on the server, each with its definition's id."""
    return [one for one in _remembered(ctx).items() if one[0].startswith(incomplete)]


def definition_ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the ids of definitions: those in files below this folder, and those of instances seen on the server."""
    found = [*_ids_in_files(Path()), *_remembered(ctx).values()]
    return [one for one in dict.fromkeys(found) if one.startswith(incomplete)]


def definitions_and_files(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the ids of definitions, and files that may contain one."""
    return [*definition_ids(ctx, incomplete), *_files(incomplete)]


def _remembered(ctx: typer.Context) -> dict[str, str]:
    """Return the instances that were seen on the server; list them again if that was a while ago."""
    from swf_temporal.cli.recent_instances import recall

    address, namespace = ctx.params.get("address"), ctx.params.get("namespace")
    known = recall(address, namespace)
    if known.age > _FRESH:
        _look_again(address, namespace)
    return dict(known.instances)


def _look_again(address: str | None, namespace: str | None) -> None:
    """Start another process that lists and stores the instances, for the next completion."""
    import subprocess

    command = [sys.executable, "-m", "swf_temporal.cli", "list", "--limit", "200"]
    command += ["--address", address] if address else []
    command += ["--namespace", namespace] if namespace else []
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("_SWF_", "COMP_"))}
    quiet = subprocess.DEVNULL
    subprocess.Popen(  # noqa: S603 - it runs this program
        command, stdin=quiet, stdout=quiet, stderr=quiet, env=environment, start_new_session=True
    )


def _ids_in_files(folder: Path) -> Iterator[str]:
    for file in islice(_documents(folder), _MAX_FILES):
        try:
            if file.stat().st_size > _MAX_BYTES:
                continue
            text = file.read_text("utf-8", "replace")
        except OSError:
            continue
        found = _ID.search(text)
        if found and _STATES.search(text):
            yield found[1]


def _documents(folder: Path) -> Iterator[Path]:
    """Yield the files in *folder* and its subfolders that may contain definitions."""
    for inside, folders, files in islice(os.walk(folder), _MAX_FOLDERS):
        folders[:] = sorted(name for name in folders if name[0] not in "._" and name != "node_modules")
        yield from (Path(inside, name) for name in sorted(files) if name.endswith(ENDINGS))


def _files(incomplete: str) -> Iterator[str]:
    """Yield folders, and files that may contain a definition, whose names begin with *incomplete*."""
    folder, name = os.path.split(incomplete)
    try:
        inside = sorted(os.scandir(folder or "."), key=lambda one: one.name)
    except OSError:
        return
    for one in inside:
        if one.name.startswith(name) and not (one.name.startswith(".") and not name):
            path = os.path.join(folder, one.name)  # noqa: PTH118 - as typed, without normalization
            if one.is_dir():
                yield f"{path}/"
            elif one.name.endswith(ENDINGS):
                yield path
