"""The catalogue of definitions, by id and version."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from swf_temporal.base.errors import UnknownDefinition
from swf_temporal.drawing.outline import WorkflowRef
from swf_temporal.languages.port import Definition
from swf_temporal.text.suggestions import suggestion


class Catalogue:
    """Definitions by id and version.

    Without a version, the latest is found: the one that is marked as such, or else the last in SemVer order.
    """

    def __init__(self, workflows: Iterable[Definition] = (), led_to: Iterable[Definition] = ()) -> None:
        """Make a catalogue of *workflows*, and of those that they lead to, which are found but not iterated."""
        self.unreadable: str | None = None
        """A description of what cannot be read at the moment, so that definitions may be missing; else None."""
        self._workflows: dict[str, dict[str | None, Definition]] = {}
        self._led_to: set[tuple[str, str | None]] = set()
        for workflow in led_to:
            self.add(workflow)
            self._led_to |= {(one.id, one.version) for one in (workflow, *workflow.others)}
        for workflow in workflows:
            self.add(workflow)

    def __iter__(self) -> Iterator[Definition]:
        """Yield every definition except those in *led_to*."""
        for id_, versions in self._workflows.items():
            yield from (one for version, one in versions.items() if (id_, version) not in self._led_to)

    @property
    def digest(self) -> str:
        """A digest of the definitions with their ids and versions."""
        texts = sorted(f"{one.id}\0{one.version or ''}\0{one.digest}" for one in self)
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()

    def share(self, other: "Catalogue") -> None:
        """Share the definitions of *other* in place of the own ones."""
        self._workflows, self._led_to = other._workflows, other._led_to  # noqa: SLF001 - of the same class

    def add(self, workflow: Definition) -> None:
        """Add a definition, and others of its text; one of the same id and version is replaced."""
        for one in (workflow, *workflow.others):
            self._workflows.setdefault(one.id, {})[one.version] = one
            self._led_to.discard((one.id, one.version))

    def remove(self, workflow_id: str, version: str | None = None) -> bool:
        """Remove a definition, in that *version* or in all; return True if there was one."""
        versions = self._workflows.get(workflow_id, {})
        removed = list(versions) if version is None else [one for one in versions if one == version]
        for one in removed:
            del versions[one]
            self._led_to.discard((workflow_id, one))
        return bool(removed)

    def find(self, workflow_id: str, version: str | None = None) -> Definition:
        """Return the definition with that id. Raises UnknownDefinition naming the known ones."""
        versions = self._workflows.get(workflow_id)
        if not versions:
            raise UnknownDefinition(_not_known(workflow_id, [id_ for id_, known in self._workflows.items() if known]))
        if version is not None:
            if version not in versions:
                known = ", ".join(map(str, sorted(versions, key=_precedence)))
                raise UnknownDefinition(
                    f"no version {version!r} of definition {workflow_id!r} is known; known: {known}"
                )
            return versions[version]
        if len(versions) == 1:  # nearly always, and every instance calls this
            return next(iter(versions.values()))
        latest = next((one for one in versions.values() if one.is_latest), None)
        return latest or versions[max(versions, key=_precedence)]

    def with_reachable(self, workflow: Definition) -> list[Definition]:
        """Return *workflow* and all its sub-workflows and continuations in the catalogue, also indirect ones."""
        reached: dict[tuple[str, str | None], Definition] = {(workflow.id, workflow.version): workflow}
        todo = [workflow]
        while todo:
            leading = todo.pop()
            for reference in (*leading.sub_workflows, *leading.continuations):
                try:
                    found = self.find(reference.id, reference.version)
                except UnknownDefinition:
                    continue  # reported when it is used
                if (found.id, found.version) not in reached:
                    reached[(found.id, found.version)] = found
                    todo.append(found)
        return list(reached.values())

    def continuations(self, workflow: Definition) -> Iterator[Definition | None]:
        """Yield every definition that an instance of *workflow* may continue as, and None for each unknown one."""
        seen: set[WorkflowRef] = set()
        todo = [workflow]
        while todo:
            for reference in todo.pop().continuations:
                if reference in seen:
                    continue
                seen.add(reference)
                try:
                    found = self.find(reference.id, reference.version)
                except UnknownDefinition:
                    yield None
                else:
                    yield found
                    todo.append(found)


def _precedence(version: str | None) -> tuple[Any, ...]:
    """Return a sort key for SemVer order; a missing version comes first, malformed ones are compared as texts."""
    if version is None:
        return (-1,)
    core, _, pre = version.partition("+")[0].partition("-")
    numbers = [int(part) if part.isdigit() else -1 for part in core.split(".")]
    numbers += [0] * (3 - len(numbers))
    identifiers = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"\.", pre) if part)
    return (0, *numbers[:3], not identifiers, identifiers, version)


def _not_known(workflow_id: str, known: list[str]) -> str:
    near = suggestion(workflow_id, known) or f"; known: {', '.join(sorted(known)) or 'none'}"
    return f"no definition {workflow_id!r} is known here{near}"
