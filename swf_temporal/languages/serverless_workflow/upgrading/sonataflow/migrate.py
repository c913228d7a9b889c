"""Rewrites a definition that was written for SonataFlow."""

from collections.abc import Mapping

from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.languages.serverless_workflow.reading import versions
from swf_temporal.languages.serverless_workflow.upgrading import tolerated
from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow import (
    effects,
    expressions,
    functions,
    merging,
    secrets,
    texts_meant,
)
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow.constants import Constants
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow.resource import flow_of, is_resource, unwrapped
from swf_temporal.languages.serverless_workflow.upgrading.upgrade import place, say_version
from swf_temporal.languages.upgraded import Upgraded
from swf_temporal.text.located import UnreadableText
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_object
from swf_temporal.text.round_trip import round_trip

_BEFORE = (tolerated.upgrade, texts_meant.upgrade, functions.extensions, functions.operations)
_AFTER = (effects.tell, merging.tell)


def migrate(source: Source, properties: Mapping[str, str], *, keeps_effects: bool = False) -> Upgraded:
    """Return the definition in *source*, which SonataFlow ran with *properties*, as it means the same here.

    What has another effect here is reported or, if it *keeps_effects*, has the one of there: its text then says that it
    is of the mode of SonataFlow. Raises InvalidDefinition if there is no definition in it.
    """
    try:
        located, _ = read_object(source)
    except UnreadableText as unreadable:
        raise InvalidDefinition(unreadable.problems) from None
    document, report = round_trip(source), UpgradeReport()
    if is_resource(document.root):
        place(located, document.root, report)
        document.root, located = unwrapped(document.root, report), flow_of(located)
    place(located, document.root, report)
    java = dict(functions.java_functions(document.root))
    constants = Constants(document.root, report, properties)
    for step in _BEFORE:
        step(document.root, report)
    functions.clients(document.root, report, properties)
    expressions.mark(document.root, report, constants)
    secrets.declare(document.root, report, properties)
    for step in _AFTER:
        step(document.root, report)
    if keeps_effects:
        functions.share_variables(document.root, report)
    version = versions.v0_8_sonataflow.VERSION if keeps_effects else versions.PRESENT
    say_version(document.root, report, version.number)
    is_rewritten = any(change.kind in ("respelled", "changed") for change in report.changes)
    text = document.written() if is_rewritten else source.text
    return Upgraded(text, version.name, tuple(report.changes), java, constants.properties)
