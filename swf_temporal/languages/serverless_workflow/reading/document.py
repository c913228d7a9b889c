"""Reads the workflow that a text describes, in whichever version of the language it is written."""

from dataclasses import replace
from typing import Final

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.states import StateBase
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.reading.building import DefinitionForm, build
from swf_temporal.languages.serverless_workflow.reading.externals import Externals, take_externals
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer
from swf_temporal.languages.serverless_workflow.reading.reader import Reading, reader_of
from swf_temporal.languages.serverless_workflow.reading.recovery import STATE_TYPES, recover
from swf_temporal.languages.serverless_workflow.reading.versions.detection import Detected, detect, version_problem
from swf_temporal.text.located import Object, UnreadableText, written
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_object
from swf_temporal.text.resources import Fetch, nothing

FORM: Final = DefinitionForm(
    model=Workflow,
    state_types=STATE_TYPES,
    called={
        "states": "state",
        "actions": "action",
        "functions": "function",
        "events": "event",
        "retries": "retry",
        "errors": "error",
        "auth": "auth",
        "branches": "branch",
        "action": "action",
        "dataConditions": "condition",
        "eventConditions": "condition",
        "onErrors": "onErrors entry",
        "onEvents": "onEvents entry",
    },
    texts_too=(
        "transition",
        "start",
        "schedule",
        "cron",
        "functionRef",
        "subFlowRef",
        "authRef",
        "continueAs",
        "workflowExecTimeout",
    ),
    truths_too=("end",),
)
"""The form of definitions since 0.5."""


def read(source: Source, fetch: Fetch = nothing) -> Reading:
    """Return the workflow in *source*, whose external definitions are got by *fetch*."""
    try:
        root, tolerated = read_object(source)
    except UnreadableText as unreadable:
        return Reading(None, unreadable.problems)
    reading = read_part(root, source, fetch)
    return replace(reading, problems=(*tolerated, *reading.problems))


def read_part(root: Object, source: Source, fetch: Fetch = nothing) -> Reading:
    """Return the workflow that *root* describes, which stands in *source*, and is taken apart."""
    detected, externals = detect(root), Externals()
    if detected.version is not None and detected.version.reader is None:
        externals = take_externals(root, source, fetch)
    bundled = None
    if externals.are_taken:
        bundled = written(root)
        detected = detect(root)  # what came from elsewhere travels with a run, and shows its version, too
    version = detected.version
    if version is None:
        return Reading(None, (_refusal(detected, source),), detected=detected)
    told = (*_told_of_version(root, detected, source), *externals.problems)
    reader = reader_of(version)
    if reader is not None:
        reading = reader.read(root, source, fetch)
        return replace(reading, problems=(*told, *reading.problems), bundled=bundled, detected=detected)
    normalizer = Normalizer(source, version.vocabulary.spellings, StateBase)
    normalizer.normalize(Workflow, root, root.where.position)
    root["@version"] = version
    root["externals"] = externals.uris
    workflow, refused = build(root, source, FORM, recover)
    return Reading(workflow, (*told, *normalizer.problems, *refused), bundled, detected)


def _told_of_version(root: Object, detected: Detected, source: Source) -> tuple[Problem, ...]:
    problem = version_problem(root, detected, source)
    return () if problem is None else (problem,)


def _refusal(detected: Detected, source: Source) -> Problem:
    shown = "" if detected.evidence is None else f", as {detected.evidence.key!r} shows"
    message = f"this is written for {detected.title}{shown}; what runs here is Serverless Workflow 0.8"
    hint = None if detected.other_language is None else detected.other_language.hint
    return source.problem("dialect", message, detected.position, hint)
