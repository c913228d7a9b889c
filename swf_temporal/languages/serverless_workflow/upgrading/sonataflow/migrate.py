"""Rewrites a definition that was written for SonataFlow."""

from swf_temporal.errors import InvalidDefinition
from swf_temporal.languages.serverless_workflow.reading import versions
from swf_temporal.languages.serverless_workflow.upgrading import tolerated
from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow import (
    effects,
    expressions,
    functions,
    secrets,
    texts_meant,
)
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow.resource import flow_of, is_resource, unwrapped
from swf_temporal.languages.serverless_workflow.upgrading.upgrade import place, say_version
from swf_temporal.languages.upgraded import Upgraded
from swf_temporal.text.located import UnreadableText
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_object
from swf_temporal.text.round_trip import RoundTrip

_STEPS = (
    tolerated.upgrade, texts_meant.upgrade, functions.extensions, functions.operations, expressions.mark,
    secrets.declare, effects.tell,
)  # fmt: skip


def migrate(source: Source) -> Upgraded:
    """Return the definition in *source*, which SonataFlow ran, as it means the same here.

    Raises InvalidDefinition if there is none in it.
    """
    try:
        located, _ = read_object(source)
    except UnreadableText as unreadable:
        raise InvalidDefinition(unreadable.problems) from None
    document, report = RoundTrip(source.text), UpgradeReport()
    if is_resource(document.root):
        place(located, document.root, report)
        document.root, located = unwrapped(document.root, report), flow_of(located)
    place(located, document.root, report)
    java = dict(functions.java_functions(document.root))
    for step in _STEPS:
        step(document.root, report)
    say_version(document.root, report)
    is_rewritten = any(change.kind in ("respelled", "changed") for change in report.changes)
    text = document.written() if is_rewritten else source.text
    return Upgraded(text, versions.PRESENT.name, tuple(report.changes), java)
