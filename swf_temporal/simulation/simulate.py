"""Runs a definition in this process, in virtual time, with given events and results of functions."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from swf_temporal.base.arguments import check_kind, check_list
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON, json_from
from swf_temporal.base.errors import UnknownDefinition, UsageError
from swf_temporal.base.files import ENDINGS
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import check_file, files_in, load
from swf_temporal.languages.port import Definition
from swf_temporal.simulation.clock import EPOCH, MAX_STEPS, Steps
from swf_temporal.simulation.context import SimulationContext
from swf_temporal.simulation.result import Simulation
from swf_temporal.simulation.variables import VariableStore
from swf_temporal.text.fetching.resources import ReadingMode, in_mode
from swf_temporal.text.suggestions import did_you_mean

if TYPE_CHECKING:
    from swf_temporal.functions.registry import Registry
    from swf_temporal.simulation.services.calling_thread import CallingThread


LATEST = "latest"
"""The default version."""

DefinitionSource: TypeAlias = str | bytes | os.PathLike[str] | Mapping[str, Any] | Definition
"""A definition: a path, a text, bytes, a mapping, or a loaded one."""


@dataclass(frozen=True, slots=True)
class Definitions:
    known: list[Definition]
    """The definition that runs first, then all others."""
    broken: Mapping[str, str] = field(default_factory=dict)
    """The problems of files with definitions that cannot run, by their paths."""


def definitions_in(
    first: DefinitionSource,
    others: Iterable[DefinitionSource],
    namespace: str | os.PathLike[str] | None,
    mode: ReadingMode | None = None,
) -> Definitions:
    """Return *first*, then *others*, then the definitions in the folder *namespace* that can be loaded.

    Raises InvalidDefinition for *first* and *others*, and UsageError if the folder cannot be read.
    """
    if namespace is None:
        return Definitions([_loaded(one, mode) for one in (first, *others)])
    folder = Path(namespace)
    allowed = None if mode is None else in_mode(mode)
    checked = {
        f"/{path.relative_to(folder).as_posix()}": check_file(path, folder=folder, resources=allowed)
        for path in files_in(folder)
    }
    there = [one.definition for one in checked.values() if one.definition is not None]
    named = _path_in(first, folder)
    main = (
        load(named, folder=folder, resources=allowed)
        if named is not None
        else _version_in(first, there) or _loaded(first, mode)
    )
    known = [main, *(_loaded(one, mode) for one in others)]
    ids, taken = {one.id for one in known}, {(one.id, one.version) for one in known}
    broken = {place: str(one.errors[0]) for place, one in checked.items() if one.definition is None}
    # Files may hold further versions of *first* or *others*.
    more = (
        one for one in there if one.id not in ids or (one.id.startswith("/") and (one.id, one.version) not in taken)
    )
    return Definitions([*known, *more], broken)


def _path_in(definition: DefinitionSource, folder: Path) -> Path | None:
    """Return the file in *folder* that *definition* names, or None if it does not."""
    if not isinstance(definition, str | os.PathLike):
        return None
    text = os.fspath(definition)
    if "\n" in text or text.lstrip().startswith("{"):
        return None
    for start in (folder / text.lstrip("/"), Path(text)):
        for path in (start, *(start.with_name(f"{start.name}{ending}") for ending in ENDINGS)):
            if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                return folder / path.resolve().relative_to(folder.resolve())
    return None


def _version_in(definition: DefinitionSource, known: Iterable[Definition]) -> Definition | None:
    """Return the one of *known* that *definition* names by its path and, after a colon, its version."""
    if not isinstance(definition, str | os.PathLike) or "\n" in os.fspath(definition):
        return None
    path, colon, version = os.fspath(definition).rpartition(":")
    path = f"/{(path if colon else version).lstrip('/')}"
    catalogue = Catalogue(known)
    for ending in ("", *ENDINGS):
        with suppress(UnknownDefinition):
            return catalogue.find(f"{path}{ending}", version if colon and version != LATEST else None)
    return None


def _loaded(definition: DefinitionSource, mode: ReadingMode | None) -> Definition:
    if isinstance(definition, Definition):
        return definition
    return load(definition, resources=None if mode is None else in_mode(mode))


def simulate(  # noqa: PLR0913 - all that surrounds a run, and each has a name
    definition: DefinitionSource,
    input: object = None,  # noqa: A002 - the specification's word
    *,
    events: Iterable[CloudEvent | Mapping[str, Any]] = (),
    functions: Mapping[str, Any] | None = None,
    definitions: Iterable[DefinitionSource] = (),
    secrets: Mapping[str, JSON] | None = None,
    namespace: str | os.PathLike[str] | None = None,
    variables: Mapping[str, Any] | None = None,
    cancel_after: timedelta | None = None,
    start_time: datetime | None = None,
    max_steps: int = MAX_STEPS,
    strict: bool = False,
    mode: ReadingMode | None = None,
    memo: Mapping[str, Any] | None = None,
) -> Simulation:
    """Run *definition* in this process, in virtual time, without accessing anything outside.

    *definition* is a path, a text or a mapping. *functions* maps the name of a function to its result, or to a
    callable that gets the arguments and returns the result; it may raise `CallFailed(code=…, message=…)`. Or it is a
    Registry, whose functions and types are called as a worker does: with keywords and models, in a thread, in real
    time. A registered function also replaces a function of the same name that calls a service.
    *events* are CloudEvents, or mappings of that form; each is delivered when the instance awaits one like it, so their
    order matters only among similar ones. *definitions* are sub-workflows. *secrets* is the value of `$SECRETS`. All of
    them are JSON, or values that pydantic converts to JSON: as on Temporal, a call with another result fails, and so
    does a run with another input.

    *namespace* is a folder whose definitions can be sub-workflows; *definition* may be a path in it, which is then its
    id. *variables* is `{"namespace": {key: value}, "workflow": {path: {key: value}}, "instance": {key: value}}`; any
    part may be missing, and values may be bytes, too. After *cancel_after* the run is cancelled from outside. After
    *max_steps* states and retries it fails with StepLimitExceeded.
    With *mode* "sonataflow", definitions that are paths, texts or mappings are read and run as SonataFlow did, and
    `$WORKFLOW` has the `headers` and the `identity` of the *memo*.
    Virtual time begins at *start_time*, which has a time zone, by default at the beginning of 2024 in UTC.
    An *input* that is bytes, or None for no body, is converted by the language of the definition.

    Raises InvalidDefinition if a definition cannot run, and UsageError if an event cannot be sent, or a time has no
    zone; if *strict*, also if no definition has a function that is named in *functions*, or if one of the *events* is
    not taken. An AssertionError of a function is raised as it is. A run that fails does not raise: see
    `Simulation.error` and `raise_for_status`.
    """
    check_kind("functions", functions, Mapping)
    check_kind("secrets", secrets, Mapping)
    check_kind("variables", variables, Mapping)
    check_kind("memo", memo, Mapping)
    check_kind("namespace", namespace, str, os.PathLike)
    check_kind("cancel_after", cancel_after, timedelta)
    check_kind("start_time", start_time, datetime)
    check_kind("max_steps", max_steps, int)
    check_list("definitions", definitions)
    check_list("events", events)
    if start_time is not None and start_time.tzinfo is None:
        raise UsageError(f"start_time {start_time.isoformat()} has no time zone: add tzinfo, such as datetime.UTC")
    workflows = definitions_in(definition, definitions, namespace, mode)
    store = VariableStore(variables or {}, workflows.known, None if namespace is None else Path(namespace))
    scripted, registered = functions or {}, None
    if functions is not None and type(functions) is not dict:
        from swf_temporal.functions.registry import Registry  # noqa: PLC0415 - heavy, and seldom needed

        if isinstance(functions, Registry):
            scripted, registered = {}, _registered(functions, secrets)
    given = events_of(events)
    if strict:
        _refuse_unknown(scripted, workflows.known)
    context = SimulationContext(workflows.known, scripted, given, secrets or {}, stub_services=registered)
    context.memo = json_from(memo or {})
    context.variables = store
    context.broken = workflows.broken
    context.cancel_after = cancel_after
    context.steps = Steps(max_steps)
    context.start_time = EPOCH if start_time is None else start_time
    simulated = context.run(input)
    if strict and simulated.untaken_events:
        untaken = ", ".join(f"{one['type']!r} from {one['source']!r}" for one in simulated.untaken_events)
        raise UsageError(f"events: no state took {untaken}", f"the run {simulated.status}; see `untaken_events`")
    return simulated


def _registered(registry: "Registry", secrets: Mapping[str, JSON] | None) -> "CallingThread":
    from swf_temporal.simulation.services.calling_thread import RegisteredFunctions  # noqa: PLC0415 - as above

    return RegisteredFunctions(registry, secrets or {})


def _refuse_unknown(functions: Iterable[str], workflows: Iterable[Definition]) -> None:
    known = {use.function.name for workflow in workflows for use in workflow.functions}
    for name in functions:
        if name not in known:
            raise UsageError(f"functions: no definition has a function {name!r}", did_you_mean(name, known))


def event_starts(definition: DefinitionSource, events: Iterable[CloudEvent | Mapping[str, Any]]) -> list[JSON]:
    """Return the inputs of the instances of *definition* that *events* start, in their order."""
    check_list("events", events)
    (loaded,) = definitions_in(definition, (), None).known
    return loaded.event_starts(events_of(events))


def events_of(events: Iterable[CloudEvent | Mapping[str, Any]], series: str = "event") -> list[CloudEvent]:
    """Return *events* as CloudEvents; those without an id get one of the *series*. Raises UsageError."""
    return [_event(event, number, series) for number, event in enumerate(events, start=1)]


def _event(event: CloudEvent | Mapping[str, Any], number: int, series: str) -> CloudEvent:
    try:
        given: Any = json_from(event.to_json() if isinstance(event, CloudEvent) else event)
        return CloudEvent.from_json(given, default_id=f"{series}-{number}")
    except ValueError as error:
        raise UsageError(f"{series} {number}: {error}") from None
