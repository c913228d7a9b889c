"""Names in DSL 1.0: those of tasks, which are unique here, and those of definitions and their versions."""

import re
from collections.abc import Iterable
from typing import Final

DIRECTIVES: Final = ("continue", "exit", "end")
"""The words that `then` takes in place of a task."""
_LABEL: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?")
_SEMVER: Final = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


class TaskNames:
    """The names of the tasks of one definition."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = {*DIRECTIVES, *reserved}

    def copy(self) -> "TaskNames":
        return TaskNames(self._taken)

    def free(self, name: str) -> str:
        """Return *name* as the name of a task, with a number if it is taken; it is taken then."""
        plain = found = task_name(name)
        number = 1
        while found in self._taken:
            number += 1
            found = f"{plain}{number}"
        self._taken.add(found)
        return found


def task_name(name: str) -> str:
    """Return *name* without blanks and other characters that are awkward in paths: `Check order!` is `CheckOrder`."""
    if re.fullmatch(r"[\w-]+", name):
        return name
    words = re.findall(r"\w+", name)
    if not words:
        return "task"
    first, others = str(words[0]), words[1:]
    return first + "".join(word[:1].upper() + word[1:] for word in others)


def document_name(id_: str) -> str:
    """Return the name of the definition with the id *id_*: up to 63 letters, digits and hyphens, as 1.0 demands."""
    if _LABEL.fullmatch(id_):
        return id_
    return re.sub(r"[^a-zA-Z0-9]+", "-", id_).strip("-")[:63].strip("-") or "workflow"


def semantic_version(version: str | None) -> str:
    """Return *version* with three numbers, as 1.0 demands: `1.0` is `1.0.0`; 0.1.0 if there is none."""
    if version is None:
        return "0.1.0"
    if _SEMVER.fullmatch(version):
        return version
    found = re.match(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(.*)", version)
    if found is None:
        return "0.1.0-" + (re.sub(r"[^0-9A-Za-z.-]+", "-", version).strip("-.") or "unknown")
    numbers = ".".join(str(int(one or 0)) for one in found.groups()[:3])
    rest = re.sub(r"[^0-9A-Za-z.-]+", "-", found[4]).strip("-.")
    return f"{numbers}-{rest}" if rest else numbers
