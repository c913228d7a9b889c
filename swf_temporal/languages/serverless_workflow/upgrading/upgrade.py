"""Rewriting the text of a definition in a newer version of the language.

Each version lists the modules that rewrite its documents, step by step, in the following versions.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from swf_temporal.base.errors import InvalidDefinition, UsageError
from swf_temporal.base.importing import module_named
from swf_temporal.languages.base import Upgraded
from swf_temporal.languages.port import Checked
from swf_temporal.languages.serverless_workflow.reading import versions
from swf_temporal.languages.serverless_workflow.reading.document import reader_of
from swf_temporal.languages.serverless_workflow.reading.versions.detection import detect
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, UpgradeReport
from swf_temporal.text.origin import Fetch, Object, Source, UnreadableText, nothing
from swf_temporal.text.parsing import read_object
from swf_temporal.text.round_trip import Graft, WrittenText, add, in_order, round_trip

Read = Callable[[Object, Source], Checked]
"""Reads a definition of 0.8 or an older version, and checks it."""
DSL: Final = "1.0"
"""The version that is another language."""


def upgrade(source: Source, to: str, read: Read, namespace: str | None = None, fetch: Fetch = nothing) -> Upgraded:
    """Return the definition in *source*, rewritten in the version *to*; one of 1.0 is in *namespace*.

    *read* reads definitions of this language, *fetch* the documents that their functions name.
    Raises InvalidDefinition if it is not a definition, and UsageError if its language is not supported.
    """
    if to == DSL:
        return _in_dsl(source, read, namespace, fetch)
    if namespace is not None:
        raise UsageError(f"definitions of {to} are in no namespace", f"only those of {DSL} are")
    target = versions.named(to)
    if target is None or target.writers is None:
        known = " and ".join(one.name for one in versions.VERSIONS if one.writers is not None) + f" and {DSL}"
        raise UsageError(f"definitions cannot be upgraded to version {to!r}", f"supported versions: {known}")
    try:
        located, _ = read_object(source)
    except UnreadableText as unreadable:
        raise InvalidDefinition(unreadable.problems) from None
    try:
        return _rewritten(located, source, target)
    except (InvalidDefinition, UsageError):
        raise
    except Exception:
        # A definition with errors is rewritten as far as possible: what is wrong in it can be of any shape.
        errors = read(located, source).errors
        if not errors:
            raise
        raise InvalidDefinition(errors) from None


def _rewritten(located: Object, source: Source, target: Version) -> Upgraded:
    detected = detect(located)
    version = detected.version
    if version is None:
        raise UsageError(f"{source.name} is written for {detected.title}, which cannot be upgraded")
    document, report = round_trip(source), UpgradeReport()
    reader = reader_of(version)
    if reader is None:
        place(located, document.root, report)
        _rewrite(document.root, version.upgraders, report)
    else:
        # The lowered document, in the words of 0.8, is put into the draft's text.
        report.text = text = WrittenText(located, document.root)
        lowered = reader.lowered(located, source)
        report.word = lowered.pop("@version").state_word
        made = in_order(lowered)
        _rewrite(made, version.upgraders, report)
        document.root = Graft(text, report.changed).put(made)
    if version is not target:
        _rewrite(document.root, target.writers or (), report)
    say_version(document.root, report)
    if document.has_merged and report.changes:
        report.reshaped("merge keys ('<<') are expanded")
    upgraded = document.written() if report.changes else source.text
    return Upgraded(upgraded, version.name, tuple(report.changes), to=target.name)


def _in_dsl(source: Source, read: Read, namespace: str | None, fetch: Fetch) -> Upgraded:
    """Return the definition in *source* as DSL 1.0: it becomes one of 0.8 first."""
    from swf_temporal.languages.serverless_workflow.upgrading.dsl.upgrade import (  # noqa: PLC0415 - reads definitions
        DEFAULT_NAMESPACE,
        rewritten,
    )

    before = upgrade(source, versions.PRESENT.name, read)
    if not before.is_complete:
        return replace(before, to=DSL)
    report = UpgradeReport(list(before.changes))
    text = rewritten(Source(before.text, source.name), read, report, namespace or DEFAULT_NAMESPACE, fetch)
    changes = report.changes
    if before.text != source.text:
        # Their lines are those of the text of 0.8, which the author has not seen.
        known = len(before.changes)
        changes = [*changes[:known], *(replace(one, line=None, also=()) for one in changes[known:])]
    return Upgraded(text, before.version, tuple(changes), tuple(report.to_write.items()), to=DSL)


def _rewrite(root: Tree, modules: Iterable[str], report: UpgradeReport) -> None:
    for module in modules:
        module_named(module).upgrade(root, report)


def place(located: Any, node: Any, report: UpgradeReport) -> None:
    """Record the lines of the objects in *node*; *located* is the same document as it was read."""
    if isinstance(located, Object) and isinstance(node, Mapping):
        report.place(node, located.where.position.line)
        for key, value in located.items():
            if key in node:
                place(value, node[key], report)
    elif isinstance(located, list) and isinstance(node, list):
        for value, inner in zip(located, node, strict=False):
            place(value, inner, report)


def say_version(root: Tree, report: UpgradeReport, number: str | None = versions.PRESENT.number) -> None:
    """Set the version number of *root*."""
    said = root.get("specVersion")
    if said is None:
        add(root, "specVersion", number, "version" if "version" in root else "id")
    elif not str(said).startswith(str(number)):
        root["specVersion"] = number
    else:
        return
    report.respelled(f"specVersion is {number}")
