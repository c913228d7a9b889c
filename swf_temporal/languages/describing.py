"""Descriptions of a definition for people and programs, from its outline and other facts common to all languages.

Mermaid has no dashed lines between states: unusual transitions have labels between thin dashes instead.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from swf_temporal.base.calendars.moments import zone_of
from swf_temporal.base.calendars.previewing import preview
from swf_temporal.base.errors import UnknownDefinition, UsageError
from swf_temporal.drawing.outline import Outline, OutlinePart, Way, Work, WorkflowRef, in_a_line
from swf_temporal.languages.port import Addresses, Definition, EventUse, FunctionUse

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from swf_temporal.languages.catalogue import Catalogue


_MAX_LENGTH = 60
"""The maximum length of a label; longer ones are cut."""
_ESCAPED = {character: f"#{ord(character)};" for character in '#;:"<>{}[]%`\\'}
"""Characters with a meaning in diagrams, with Mermaid's escapes."""


def diagram_of(outline: Outline) -> str:
    return "\n".join(["stateDiagram-v2", *_indented_lines(_scope(outline.parts, "s"))])


def _scope(parts: tuple[OutlinePart, ...], prefix: str) -> Iterator[str]:
    """Yield the lines of sibling parts; their ids begin with *prefix*."""
    ids = {part.path: f"{prefix}{number}" for number, part in enumerate(parts, start=1)}
    for part in parts:
        yield from _part(part, ids[part.path])
    yield from (f"[*] --> {ids[part.path]}" for part in parts[:1])
    for part in parts:
        yield from (line for way in part.ways for line in _way(way, ids[part.path], ids))


def _part(part: OutlinePart, part_id: str) -> Iterator[str]:
    yield f'state "{_label(f"{part.name} ({part.kind})")}" as {part_id}'
    if part.parts:
        inside = _lanes(part.parts, part_id) if part.is_concurrent else _scope(part.parts, f"{part_id}s")
        yield from (f"state {part_id} {{", *_indented_lines(inside), "}")
    notes = [*(line for work in part.work for line in _notes(work)), *(" ".join(one) for one in part.limits.items())]
    if notes:
        yield from (f"note right of {part_id}", *_indented_lines(map(_label, notes)), "end note")


def _notes(work: Work) -> Iterator[str]:
    yield work.words
    for inner in work.work:
        yield from _notes(inner)


def _lanes(parts: tuple[OutlinePart, ...], prefix: str) -> Iterator[str]:
    """Yield the lines of concurrent *parts*, each with its work in sequence, or with its own parts."""
    for number, part in enumerate(parts, start=1):
        if number > 1:
            yield "--"
        part_id = f"{prefix}b{number}"
        yield f'state "{_label(part.name)}" as {part_id}'
        works = {f"{part_id}a{index}": work for index, work in enumerate(part.work, start=1)}
        states = [f'state "{_label(work.words)}" as {work_id}' for work_id, work in works.items()]
        course = [f"{here} --> {there}" for here, there in pairwise(["[*]", *works, "[*]"]) if works]
        inside = _scope(part.parts, f"{part_id}s") if part.parts else (*states, *course)
        yield from (f"state {part_id} {{", *_indented_lines(inside), "}")


def _way(way: Way, here: str, ids: dict[str, str]) -> Iterator[str]:
    words = [way.name or way.when, *way.consequences]
    if way.to is None and way.end != "end":
        words.append(way.end)
    label = _label(", ".join(word for word in words if word))
    label = label if way.is_usual or not label else f"┄ {label} ┄"
    # Validation reports a target that does not exist; the transition is left out here.
    there = "[*]" if way.to is None else ids.get(way.to)
    if there is not None:
        yield f"{here} --> {there}{f' : {label}' if label else ''}"


def _indented_lines(lines: Iterator[str] | tuple[str, ...]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


def _label(text: str) -> str:
    text = " ".join(text.split())
    text = text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"
    escaped = "".join(_ESCAPED.get(character, character) for character in text)
    return escaped.replace("end note", "end#32;note")  # these words would close a note


Facts: TypeAlias = dict[str, Any]

_SHOWN = 3
"""The number of next times of a schedule that are listed."""


class Description:
    """A description of a definition: what it needs and does.

    Other definitions are looked up in *catalogue*, times of a schedule come after *now*, and *addresses* resolves the
    destinations of functions.
    """

    def __init__(self, definition: Definition, catalogue: "Catalogue", now: datetime, addresses: Addresses) -> None:
        self._definition = definition
        self._outline = definition.outline
        self._users = self._outline.users()
        self._catalogue = catalogue
        self._now = now
        self._addresses = addresses

    @cached_property
    def facts(self) -> Facts:
        """Everything that is known without running it, as JSON.

        Properties that the definition does not have are left out, except for common lists, which are empty then.
        """
        one, outline = self._definition, self._outline
        leads = self._addresses(one.functions)
        names = ("id", "version", "namespace", "name", "description")
        return {
            **{name: value for name in names if (value := getattr(one, name))},
            "language": one.language.name,
            **({} if one.language_version is None else {"languageVersion": one.language_version}),
            "file": one.source.name,
            **({"start": outline.parts[0].path} if outline.parts else {}),
            **({} if outline.schedule is None else {"schedule": self._schedule()}),
            "parts": [facts_of(part) for part in outline.parts],
            "functions": [self._function(use, leads) for use in one.functions],
            "events": [self._event(event) for event in one.events],
            "subWorkflows": self._others("runs"),
            "continuations": self._others("continues as"),
            "secrets": list(one.secrets),
            **{_camel(section.title): section.facts for section in outline.sections},
            **outline.details,
        }

    def text(self) -> str:
        """Return the description as plain text, without empty sections."""
        facts = self.facts
        names = {part.path: part.name for part in self._outline.every_part}
        sections = [
            list(self._head()),
            _section(
                f"{self._definition.words.state}s",
                (line for one in self._outline.parts for line in _part_lines(one, names)),
            ),
            _section("functions", [line for one in facts["functions"] for line in _function_lines(one)]),
            _section("events", [line for one in facts["events"] for line in _event_lines(one)]),
            _section("sub-workflows", [line for one in facts["subWorkflows"] for line in _other_lines(one)]),
            _section("continues as", [line for one in facts["continuations"] for line in _other_lines(one)]),
            _section("secrets", facts["secrets"]),
            *(_section(section.title, section.lines) for section in self._outline.sections),
        ]
        return "\n\n".join("\n".join(lines) for lines in sections if lines)

    def mermaid(self) -> str:
        """Return the source of a state diagram."""
        return diagram_of(self._outline)

    def _head(self) -> Iterator[str]:
        facts, outline = self.facts, self._outline
        name = f": {facts['name']}" if "name" in facts else ""
        yield f"{WorkflowRef(facts.get('id', ''), facts.get('version'))}{name}"
        if "description" in facts:
            yield f"  {' '.join(facts['description'].split())}"
        yield f"  file {facts['file']}, {WorkflowRef(facts['language'], facts.get('languageVersion'))}"
        if outline.parts:
            yield f"  {', '.join([f'starts in {outline.parts[0].name}', *outline.remarks])}"
        if "schedule" in facts:
            yield f"  started {facts['schedule']['words']}"
            following = ", ".join(facts["schedule"]["next"]) or "never"
            yield f"  {facts['schedule'].get('problem', f'next: {following}')}"

    def _schedule(self) -> Facts:
        facts = dict(self._outline.schedule or {})
        try:
            spec = self._definition.schedule()
        except UsageError as error:  # validation may only warn of what cannot be applied
            return {**facts, "next": [], "problem": error.message}
        zone = zone_of(self._definition.schedule_timezone or spec.timezone)
        return {**facts, "next": [time.astimezone(zone).isoformat() for time in preview(spec, self._now, _SHOWN)]}

    def _others(self, use: str) -> list[Facts]:
        return [self._other(ref, users) for (one, ref), users in self._users.items() if one == use]

    def _function(self, use: FunctionUse, leads: Mapping[str, Facts]) -> Facts:
        one = use.function
        return {
            "name": one.name,
            "type": one.type,
            "operation": one.operation,
            **leads.get(one.name, {}),
            **({} if one.auth_ref is None else {"auth": one.auth_ref.to_json()}),
            **({"metadata": dict(one.metadata)} if one.metadata else {}),
            "calledBy": self._users.get(("calls", one.name), []),
        }

    def _event(self, event: EventUse) -> Facts:
        return {
            **facts_of(event),
            "consumedBy": self._users.get(("awaits", event.name), []),
            "producedBy": self._users.get(("produces", event.name), []),
        }

    def _other(self, ref: WorkflowRef, users: list[str]) -> Facts:
        """Return another definition as it is referred to or, if several may be meant, the one that was found."""
        for meant in self._definition.meant_by(ref):
            with suppress(UnknownDefinition):
                file = self._catalogue.find(meant.id, meant.version).source.name
                return {**facts_of(meant), "found": True, "file": file, "runBy": users}
        return {**facts_of(ref), "found": False, "runBy": users}


def facts_of(record: "DataclassInstance") -> Facts:
    """Return the fields of *record* as JSON, without null, false and empty ones; its details are merged in.

    A required text is included even if it is empty, as readers expect.
    """
    facts: Facts = {}
    for one in fields(record):
        value = getattr(record, one.name)
        if one.name == "details":
            facts |= value
        elif value == "" and one.default is MISSING:
            facts[_camel(one.name)] = value
        elif value is not None and value is not False and value not in ("", (), {}):  # but 0 says something
            facts[_camel(one.name)] = _plain(value)
    return facts


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return facts_of(value) if is_dataclass(value) and not isinstance(value, type) else value


def _camel(words: str) -> str:
    first, *others = words.replace("_", " ").split()
    return first + "".join(word.title() for word in others)


def _section(title: str, lines: Iterable[str]) -> list[str]:
    indented = list(_indented(lines))
    return [title, *indented] if indented else []


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _part_lines(part: OutlinePart, names: Mapping[str, str]) -> Iterator[str]:
    yield f"{part.name}: {part.kind}{f', {part.note}' if part.note else ''}"
    yield from _indented(line for work in part.work for line in _work_lines(work))
    yield from _indented(line for inner in part.parts for line in _part_lines(inner, names))
    yield from _indented(f"{name} {length}" for name, length in part.limits.items())
    yield from _indented(_way_line(way, names) for way in part.ways)


def _work_lines(work: Work) -> Iterator[str]:
    yield work.words
    yield from _indented(line for inner in work.work for line in _work_lines(inner))


def _way_line(way: Way, names: Mapping[str, str]) -> str:
    there = way.end if way.to is None else names.get(way.to, way.to)
    if way.on == "compensation":
        return f"{way.when} {there}"
    return ", ".join([f"→ {there}", *([way.when] if way.when else []), *way.consequences])


def _function_lines(function: Facts) -> Iterator[str]:
    operation = function["operation"]
    yield f"{function['name']}: {function['type']}" + ("" if operation is None else f" {in_a_line(operation)}")
    yield from _indented(_leads(function))
    if "problem" in function:
        yield f"  {function['problem']}"
    if "auth" in function:
        yield f"  auth {', '.join(f'{name} for the {use}' for use, name in function['auth'].items())}"
    yield from _user_lines("called by", function["calledBy"])


def _leads(function: Facts) -> Iterator[str]:
    """Yield the destination of *function*, as far as it is known."""
    if "url" in function:
        yield f"{function['method']} {function['url']}"
    elif "path" in function:
        settings = f", at the URL in {' or '.join(function['serverFrom'])}" if "serverFrom" in function else ""
        yield f"{function['method']} {function.get('server', '').rstrip('/')}{function['path']}{settings}"
    elif "procedure" in function:
        yield f"calls {function['procedure']}"
    elif "sendsTo" in function or "receivesFrom" in function:
        direction, key = ("sends to", "sendsTo") if "sendsTo" in function else ("receives from", "receivesFrom")
        yield f"{direction} {function[key] or 'a channel that is known when it is called'}"
    elif "activity" in function:
        queue = f"the task queue {function['taskQueue']}" if "taskQueue" in function else "the workflow's own queue"
        yield f"activity {function['activity']} on {queue}"
    elif "script" in function:
        yield "a script, which its worker must allow with SWF_SCRIPTS"


def _event_lines(event: Facts) -> Iterator[str]:
    attributes = [f"{key} {event[key]}" for key in ("type", "source") if key in event]
    yield f"{event['name']}: {', '.join([event['kind'], *attributes])}"
    for rule in event.get("correlation", ()):
        value = f" = {in_a_line(rule['value'])}" if "value" in rule else ""
        place = f" at {rule['path']}" if "path" in rule else ""
        yield f"  by {rule['attribute']}{place}{value}"
    yield from _user_lines("awaited by", event["consumedBy"])
    yield from _user_lines("produced by", event["producedBy"])


def _other_lines(other: Facts) -> Iterator[str]:
    found = f"found in {other['file']}" if other["found"] else "not found here"
    yield f"{WorkflowRef(other['id'], other.get('version'))}: {found}"
    yield from _user_lines("run by", other["runBy"])


def _user_lines(words: str, paths: list[str]) -> Iterator[str]:
    if paths:
        yield f"  {words} {', '.join(paths)}"
