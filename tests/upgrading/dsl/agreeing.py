"""Do a definition of 0.8 and the definition of DSL 1.0 that `swf upgrade --to 1.0` makes of it come to the same?"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer
import yaml
from jsonschema_rs import Draft202012Validator, ValidationError
from ruamel.yaml import YAML

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import InvalidDefinition, StepLimitExceeded, UsageError
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.languages.known import upgrade
from swf_temporal.languages.loading import check
from swf_temporal.languages.serverless_workflow.upgrading.dsl.merging import ARRAYS, RESPONSE
from swf_temporal.sdk.scenarios.host import ScenarioHost
from swf_temporal.sdk.scenarios.report import TEMPORAL
from swf_temporal.simulation.reading import workflows_of
from swf_temporal.simulation.scenario import ObservedRun, Scenario, context_of, observed, read_scenarios
from swf_temporal.text.fetching.resources import Resources
from swf_temporal.text.origin import Resource, Source
from swf_temporal.text.parsing import read_data
from tests.upgrading.agreeing import Document

ROOT = Path(__file__).parents[3]
_LEFT_OUT = ("direktiv", "sonataflow", "refused", "conformance")
"""Folders of scenarios in other languages, and of definitions that cannot run."""


class Outcome(StrEnum):
    """How a definition and its rewritten form compare."""

    AGREE = "agree"
    REPORTED = "reported"
    """They differ, and the upgrade says that they may."""
    DIFFER = "differ"
    REFUSED = "refused"
    """The upgrade says that 1.0 cannot express the definition."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A scenario, and how its definition compares with the rewritten one."""

    name: str
    outcome: Outcome
    differences: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()
    both: tuple[Document, ...] = ()
    """The scenario with the original definition, and with the rewritten one, if they were run."""


def scenarios(pattern: str = "") -> Iterator[tuple[str, Document]]:
    """Yield the scenarios whose file has *pattern* in its path, with their places."""
    folder = ROOT / "tests" / "scenarios"
    for file in sorted(folder.rglob("*.yaml")):
        place = str(file.relative_to(folder))
        if pattern not in place or place.startswith(_LEFT_OUT):
            continue
        for document in json.loads(json.dumps(list(yaml.safe_load_all(file.read_text())), default=str)):
            if isinstance(document, dict) and isinstance(document.get("workflow"), dict) and "scenario" in document:
                yield f"{place}: {document['scenario']}", document


def examples() -> Iterator[tuple[str, Document]]:
    """Yield a scenario for each definition of 0.8 among the examples, with its place."""
    for file in sorted((ROOT / "examples").rglob("*")):
        if file.suffix in (".yaml", ".yml", ".json"):
            try:
                documents = json.loads(json.dumps(list(yaml.safe_load_all(file.read_text())), default=str))
            except (yaml.YAMLError, ValueError):
                continue
            for document in documents:
                if isinstance(document, dict) and "states" in document and "specVersion" in document:
                    name = str(file.relative_to(ROOT))
                    yield name, {"scenario": name, "workflow": document}


def problems(text: str) -> list[str]:
    """Return what is wrong with the *text* of a definition of 1.0: by the official schema, and as it is loaded here."""
    wrong = map(_deepest, _schema().iter_errors(read_data(text)))
    found = [f"schema: {one.instance_path}: {one.message[-200:]}" for one in wrong]
    told = (one for one in check(text).problems if one.code not in _OUTSIDE)
    return found + [f"{one.severity} {one.code}: {one.message}" for one in told]


def _deepest(error: ValidationError) -> ValidationError:
    """Return the cause of *error* that is the furthest inside the document: alternatives fail at their tops, too."""
    inside = [_deepest(one) for several in getattr(error.kind, "context", ()) for one in several]
    return max([error, *inside], key=lambda one: len(one.instance_path))


_OUTSIDE = ("function-document", "plain-text")
"""Codes of problems with documents that lie elsewhere, and with texts that are in the original, too."""
OFFICIAL = Path(os.environ.get("SWF_SPEC", ROOT.parent / "shared" / "spec")) / "dsl-1.0-next" / "workflow.schema.yaml"


@cache
def _schema() -> Draft202012Validator:
    """Return the official schema; without it, the one of this repository, and say so."""
    if OFFICIAL.exists():
        return Draft202012Validator(dict(YAML(typ="safe", pure=True).load(OFFICIAL)))  # in YAML 1.1, `on` is true
    typer.echo(f"there is no official schema at {OFFICIAL}: the repository's own is used", err=True)
    return Draft202012Validator(json.loads((ROOT / "schemas" / "serverless-workflow-1.0.schema.json").read_text()))


_OF_RUN = ("host", "idempotency-key")


def compared(name: str, document: Document) -> Compared | None:
    """Return how the definition of a scenario compares with the rewritten one; None if it cannot run."""
    texts = [document["workflow"], *document.get("definitions", [])]
    try:
        if run(document) is None or not all(isinstance(one, dict) for one in texts):
            return None
        made = [upgrade(Source(json.dumps(one)), "1.0", fetch=_fetch) for one in texts]
    except (InvalidDefinition, UsageError):
        return None
    refused = [change.message for one in made for change in one.changes if change.kind == "inexpressible"]
    if refused:
        return Compared(name, Outcome.REFUSED, reported=tuple(refused))
    invalid = tuple(told for one in made for told in problems(one.text))
    if invalid:
        return Compared(name, Outcome.DIFFER, invalid)
    first, *others = (json.loads(one.text) for one in made)
    rewritten = {**document, "workflow": first, **({"definitions": others} if others else {})}
    if first.get("schedule", {}).get("on"):
        # One that events start has no other input in 1.0.
        document = {**document, "input": {}}
        try:
            started = _started(rewritten)
        except InvalidDefinition as error:
            return Compared(name, Outcome.DIFFER, (f"cannot run: {error}",))
        if started is None:
            return None
        rewritten = started
    before = run(document)
    assert before is not None
    try:
        told = differences(before, _run(rewritten))
    except (InvalidDefinition, BadExpression) as error:
        return Compared(name, Outcome.DIFFER, (f"cannot run: {error}",))
    reported = tuple(change.message for one in made for change in one.changes if change.kind == "differs")
    outcome = Outcome.AGREE if not told else Outcome.REPORTED if _is_reported(told, reported) else Outcome.DIFFER
    return Compared(name, outcome, tuple(told), reported, (document, rewritten))


async def on_temporal(host: ScenarioHost, one: Compared) -> list[str] | None:
    """Return in what the two runs of *one* differ on Temporal from what they are in simulation.

    Return None for what only a simulation ends, because of its limits, and what a scenario keeps from Temporal. Jitter
    is derived from the run by a worker, and set by `chance` in a simulation: what differs with it has to agree without.
    """
    found: list[str] = []
    for word, document in zip(("the original", "the rewritten one"), one.both, strict=True):
        told = await _apart_on_temporal(host, document)
        if told and "'jitter'" in str(document):
            told = await _apart_on_temporal(host, _without_jitter(document))
        if told is None:
            return None
        found += [f"{word}, simulation and Temporal: {one}" for one in told]
    return found


async def _apart_on_temporal(host: ScenarioHost, document: Document) -> list[str] | None:
    """Return in what the scenario *document* differs on Temporal from simulation; None if it cannot be compared."""
    (scenario,) = _read(document)
    if TEMPORAL not in scenario.hosts:
        return None
    here = observed(scenario, context_of(scenario).run(scenario.input))
    if here.error is not None and here.error["code"] == StepLimitExceeded.default_name:
        return None
    return differences(here, await host.observe(scenario))


def _without_jitter(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _without_jitter(value) for key, value in node.items() if key != "jitter"}
    return [_without_jitter(one) for one in node] if isinstance(node, list) else node


def _is_reported(told: list[str], reported: tuple[str, ...]) -> bool:
    """Return whether what is *told* of two runs may come from what is *reported*, as far as that is easy to see."""
    if set(reported) - {ARRAYS, RESPONSE}:
        return True
    seen = ("output", "calls", "produced")
    return bool(reported) and all(one.startswith(seen) and ("[" in one or "response" in one) for one in told)


def run(document: Document) -> ObservedRun | None:
    """Run a scenario; None if its definition cannot run."""
    try:
        return _run(document)
    except InvalidDefinition:
        return None


def _run(document: Document) -> ObservedRun:
    (scenario,) = _read(document)
    return observed(scenario, context_of(scenario).run(scenario.input))


def _read(document: Document) -> list[Scenario]:
    file = Path(_folder().name) / "scenarios.yaml"
    file.write_text(json.dumps({key: value for key, value in document.items() if key not in ("expect", "spec")}))
    return read_scenarios(file)


@cache
def _folder() -> TemporaryDirectory[str]:
    """Return a folder with the documents of services, which definitions read while they run."""
    folder = TemporaryDirectory()
    for file in (ROOT / "tests" / "scenarios" / "services").iterdir():
        if "." in file.stem or file.suffix in (".json", ".proto"):
            shutil.copy(file, folder.name)
    return folder


def _fetch(uri: str) -> Resource:
    folder = Path(_folder().name)
    return Resources(folders=(folder,)).fetch(uri, folder)


def _started(document: Document) -> Document | None:
    """Return a scenario whose instance has the events that start it as its input; None if none of its events do."""
    (scenario,) = _read(document)
    (definition, *_) = workflows_of(scenario)
    start = definition.event_start
    assert start is not None
    written = document.get("events", [])
    known = [
        CloudEvent.from_json({key: value for key, value in one.items() if key != "early"}, default_id=str(index))
        for index, one in enumerate(written)
    ]
    inputs = definition.event_starts(known)
    if not inputs:
        return None
    taken: list[int] = []
    for wanted in start.events if start.join == "all" else [None]:
        types = [one.type for one in start.events if wanted in (None, one)]
        fitting = (
            index
            for index, event in enumerate(known)
            if index not in taken and not {None, event.type}.isdisjoint(types)
        )
        taken += [next(fitting, -1)]
    return {**document, "input": inputs[0], "events": [one for index, one in enumerate(written) if index not in taken]}


def differences(before: ObservedRun, after: ObservedRun, *, ordered: bool = True) -> list[str]:
    """Return in what two runs differ, a text for each difference. Errors have other names in 1.0.

    Unless *ordered*, the order of their calls does not matter.
    """
    found = []
    for what in ("status", "output", "calls", "requests", "elapsed"):
        one, other = _told(getattr(before, what)), _told(getattr(after, what))
        if what in ("calls", "requests") and not ordered:
            one, other = sorted(one, key=str), sorted(other, key=str)
        if one != other:
            found.append(f"{what}: {one} before, {other} after")
    events, others = ([_without(event) for event in seen.produced] for seen in (before, after))
    if events != others:
        found.append(f"produced: {events} before, {others} after")
    return found


def _told(value: Any) -> Any:
    if isinstance(value, list | tuple) and value and isinstance(value[0], dict):
        # Keys and ports of a run are its own.
        return [
            {**one, "headers": {k: v for k, v in one["headers"].items() if k not in _OF_RUN}}
            if "headers" in one
            else one
            for one in value
        ]
    if isinstance(value, list | tuple):
        # A call without arguments has none in 0.8, and an empty object in 1.0.
        return [[one[0], {} if one[1] is None else one[1]] if isinstance(one, tuple) else one for one in value]
    return round(value.total_seconds(), 3) if hasattr(value, "total_seconds") else value


def _without(event: Mapping[str, Any]) -> Document:
    return {key: value for key, value in event.items() if key not in ("id", "time")}
