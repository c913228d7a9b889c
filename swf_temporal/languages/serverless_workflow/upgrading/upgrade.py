"""Rewrites the text of a definition in a newer version of the language.

Each version names the modules that make of a document what the next versions would write, from its own on.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from swf_temporal.base.errors import InvalidDefinition, UsageError
from swf_temporal.base.importing import module_named
from swf_temporal.languages.base import Upgraded
from swf_temporal.languages.serverless_workflow.reading import versions
from swf_temporal.languages.serverless_workflow.reading.reader import reader_of
from swf_temporal.languages.serverless_workflow.reading.versions.detection import detect
from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree
from swf_temporal.text.located import Object, UnreadableText
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_object
from swf_temporal.text.round_trip import Graft, WrittenText, add, in_order, round_trip


def upgrade(source: Source, to: str) -> Upgraded:
    """Return the definition in *source* as the version *to* would write it.

    Raises InvalidDefinition if there is none in it, and UsageError if it is of a language that is not rewritten.
    """
    target = versions.named(to)
    if target is None or target.writers is None:
        known = " and ".join(one.name for one in versions.VERSIONS if one.writers is not None)
        raise UsageError(f"definitions are not rewritten in version {to!r}", f"but in {known}")
    try:
        located, _ = read_object(source)
    except UnreadableText as unreadable:
        raise InvalidDefinition(unreadable.problems) from None
    detected = detect(located)
    version = detected.version
    if version is None:
        raise UsageError(f"{source.name} is written for {detected.title}, which is not rewritten here")
    document, report = round_trip(source), UpgradeReport()
    reader = reader_of(version)
    if reader is None:
        place(located, document.root, report)
        _rewrite(document.root, version.upgraders, report)
    else:
        # What runs of a draft is put into its text: the document that it is lowered to, in the words of 0.8.
        report.text = text = WrittenText(located, document.root)
        lowered = reader.lowered(located, source)
        report.word = lowered.pop("@version").state_word
        made = in_order(lowered)
        _rewrite(made, version.upgraders, report)
        document.root = Graft(text, report.changed).put(made)
    if version is not target:
        _rewrite(document.root, target.writers, report)
    say_version(document.root, report)
    if document.has_merged and report.changes:
        report.reshaped("what '<<' merges is written out")
    upgraded = document.written() if report.changes else source.text
    return Upgraded(upgraded, version.name, tuple(report.changes), to=to)


def _rewrite(root: Tree, modules: Iterable[str], report: UpgradeReport) -> None:
    for module in modules:
        module_named(module).upgrade(root, report)


def place(located: Any, node: Any, report: UpgradeReport) -> None:
    """Take note where the objects below *node* are written, which is *located* as it was read."""
    if isinstance(located, Object) and isinstance(node, Mapping):
        report.place(node, located.where.position.line)
        for key, value in located.items():
            if key in node:
                place(value, node[key], report)
    elif isinstance(located, list) and isinstance(node, list):
        for value, inner in zip(located, node, strict=False):
            place(value, inner, report)


def say_version(root: Tree, report: UpgradeReport, number: str | None = versions.PRESENT.number) -> None:
    """Say that *root* is of the version with that number."""
    said = root.get("specVersion")
    if said is None:
        add(root, "specVersion", number, "version" if "version" in root else "id")
    elif not str(said).startswith(str(number)):
        root["specVersion"] = number
    else:
        return
    report.respelled(f"specVersion is {number}")
