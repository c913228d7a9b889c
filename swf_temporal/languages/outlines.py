"""The description of a definition by what is common to all languages: its outline, what it calls and waits for."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from swf_temporal.calendars.previewing import preview
from swf_temporal.errors import UnknownDefinition
from swf_temporal.languages.port import Addresses, Definition, Part, WorkflowRef, parts_of

if TYPE_CHECKING:
    from swf_temporal.languages.catalogue import Catalogue

Facts: TypeAlias = dict[str, Any]

_SHOWN = 3
"""The number of next times of a schedule that are listed."""


class OutlineDescription:
    """A description of a definition: its parts, and what it needs."""

    def __init__(self, definition: Definition, catalogue: "Catalogue", now: datetime, addresses: Addresses) -> None:
        self._definition = definition
        self._catalogue = catalogue
        self._now = now
        self._addresses = addresses

    @cached_property
    def facts(self) -> Facts:
        """All that can be told without running it, as JSON."""
        one = self._definition
        leads = self._addresses(use.function for use in one.functions)
        head = {"id": one.id, "version": one.version, "namespace": one.namespace, "name": one.name}
        return {
            **{key: value for key, value in head.items() if value is not None},
            **({"description": one.description} if one.description else {}),
            "language": one.language.name,
            **({"languageVersion": one.language_version} if one.language_version else {}),
            "file": one.source.name,
            **({"schedule": {"next": self._next()}} if one.has_schedule else {}),
            "parts": [_part(part) for part in one.outline],
            "functions": [
                {"name": use.function.name, "type": use.function.type, **leads.get(use.function.name, {})}
                for use in one.functions
            ],
            "events": [_event(event.name, event.kind, event.type, event.source) for event in one.events],
            "secrets": list(one.secrets),
            "subWorkflows": [self._other(ref) for ref in one.sub_workflows],
            "continuations": [self._other(ref) for ref in one.continuations],
        }

    def text(self) -> str:
        """Return the description in plain lines."""
        facts = self.facts
        version = f" {facts['version']}" if "version" in facts else ""
        name = f": {facts['name']}" if "name" in facts else ""
        sections = [
            [f"{facts['id']}{version}{name}", f"  file {facts['file']}, language {facts['language']}"],
            _section("parts", (line for part in facts["parts"] for line in _lines(part))),
            _section("functions", (f"{one['name']}: {one['type']}" for one in facts["functions"])),
            _section("events", (f"{one['name']}: {one['kind']}" for one in facts["events"])),
            _section("secrets", facts["secrets"]),
            _section("sub-workflows", map(_other_text, facts["subWorkflows"])),
            _section("continues as", map(_other_text, facts["continuations"])),
        ]
        return "\n\n".join("\n".join(lines) for lines in sections if lines)

    def mermaid(self) -> str:
        """Return the source of a state diagram."""
        parts = list(parts_of(self._definition.outline))
        ids = {part.path: f"s{number}" for number, part in enumerate(parts)}
        lines = ["stateDiagram-v2"]
        lines += [f"    state {_quoted(part.path)} as {ids[part.path]}" for part in parts]
        lines += [f"    [*] --> {ids[part.path]}" for part in parts[:1]]
        for part in parts:
            lines += [f"    {ids[part.path]} --> {ids[path]}" for path in part.leads_to if path in ids]
            lines += [f"    {ids[part.path]} --> [*]"] if part.ends else []
        return "\n".join(lines)

    def _next(self) -> list[str]:
        return [time.isoformat() for time in preview(self._definition.schedule(), self._now, _SHOWN)]

    def _other(self, ref: WorkflowRef) -> Facts:
        named = {"id": ref.id, **({} if ref.version is None else {"version": ref.version})}
        try:
            return {**named, "found": True, "file": self._catalogue.find(ref.id, ref.version).source.name}
        except UnknownDefinition:
            return {**named, "found": False}


def _part(part: Part) -> Facts:
    return {
        "path": part.path,
        "kind": part.kind,
        **({"leadsTo": list(part.leads_to)} if part.leads_to else {}),
        **({"ends": True} if part.ends else {}),
        **({"parts": [_part(one) for one in part.parts]} if part.parts else {}),
    }


def _event(name: str, kind: str, type_: str | None, source: str | None) -> Facts:
    facts = {"name": name, "kind": kind, "type": type_, "source": source}
    return {key: value for key, value in facts.items() if value is not None}


def _section(heading: str, items: Iterable[str]) -> list[str]:
    lines = [f"  {item}" for item in items]
    return [heading, *lines] if lines else []


def _lines(part: Facts, indent: str = "") -> Iterator[str]:
    leads = f" → {', '.join(part['leadsTo'])}" if "leadsTo" in part else ""
    yield f"{indent}{part['path']}: {part['kind']}{leads}"
    for one in part.get("parts", ()):
        yield from _lines(one, indent + "  ")


def _other_text(other: Facts) -> str:
    version = f" {other['version']}" if "version" in other else ""
    found = f"found in {other['file']}" if other["found"] else "not found here"
    return f"{other['id']}{version}: {found}"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', "'") + '"'
