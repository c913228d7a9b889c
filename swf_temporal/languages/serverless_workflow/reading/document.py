"""Reads the workflow that a text describes, in whichever version of the language it is written."""

import json
from dataclasses import dataclass, replace

from swf_temporal.errors import Problem
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.reading.building import build
from swf_temporal.languages.serverless_workflow.reading.externals import take_externals
from swf_temporal.languages.serverless_workflow.reading.versions import normalize, normalizer_of
from swf_temporal.languages.serverless_workflow.reading.versions.foreign import detect
from swf_temporal.text.located import Object, Unreadable, plain
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_object
from swf_temporal.text.resources import Fetch, nothing


@dataclass(frozen=True, slots=True)
class Reading:
    """The workflow that a text describes, or None, and what is to be said about the text."""

    workflow: Workflow | None
    """Without the parts of the wrong form, where there are problems about such parts."""
    problems: tuple[Problem, ...]
    """Some may be about another text: `externals.told_where_written` has the last word about places."""
    bundled: str | None = None
    """The definition with all its externals in place, where it has some that were found."""


def read(source: Source, fetch: Fetch = nothing) -> Reading:
    """Return the workflow in *source*, whose external definitions are got by *fetch*."""
    try:
        root, tolerated = read_object(source)
    except Unreadable as unreadable:
        return Reading(None, unreadable.problems)
    reading = read_part(root, source, fetch)
    return replace(reading, problems=(*tolerated, *reading.problems))


def read_part(root: Object, source: Source, fetch: Fetch = nothing) -> Reading:
    """Return the workflow that *root* describes, which stands in *source*, and is taken apart."""
    detected = detect(root)
    if detected is not None:
        message = f"this is written for {detected.language}; what runs here is Serverless Workflow 0.8"
        return Reading(None, (source.problem("dialect", message, detected.position, detected.hint),))
    normalizer = normalizer_of(source)
    externals = take_externals(root, normalizer, fetch)
    bundled = json.dumps(plain(root)) if externals.are_taken else None
    normalize(root, normalizer)
    root["externals"] = externals.uris
    workflow, refused = build(root, source)
    return Reading(workflow, (*externals.problems, *normalizer.problems, *refused), bundled)
