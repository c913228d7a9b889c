"""Rewrites the text of a definition in a newer version of the language.

Each version has a function that makes of a document what the next version would write; a document goes through those
from its own version on.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from swf_temporal.errors import InvalidDefinition, UsageError
from swf_temporal.languages.serverless_workflow.reading.reader import Reader, reader_of
from swf_temporal.languages.serverless_workflow.reading.versions.detection import detect
from swf_temporal.languages.serverless_workflow.upgrading import from_0_5, from_0_6, to_next, tolerated
from swf_temporal.languages.serverless_workflow.upgrading.report import Report
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree
from swf_temporal.languages.upgraded import Upgraded
from swf_temporal.text.grafting import Graft, Written, in_order
from swf_temporal.text.located import Object, Unreadable
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_object
from swf_temporal.text.round_trip import RoundTrip, add

Step = Callable[[Tree, Report], None]

TARGETS: Final = ("0.8", "0.8-next")
"""The versions that a definition can be rewritten in."""

_STEPS: Final[Mapping[str, tuple[Step, ...]]] = {
    "0.5": (from_0_5.upgrade, from_0_6.upgrade, tolerated.upgrade),
    "0.6": (from_0_6.upgrade, tolerated.upgrade),
    "0.7": (tolerated.upgrade,),
    "0.8": (tolerated.upgrade,),
    "0.8-next": (),
}
"""By the version of a definition, what makes one of 0.8 of it."""


def upgrade(source: Source, to: str = "0.8") -> Upgraded:
    """Return the definition in *source* as the version *to* would write it.

    Raises InvalidDefinition if there is none in it, and UsageError if it is of a language that is not rewritten.
    """
    if to not in TARGETS:
        raise UsageError(f"definitions are not rewritten in version {to!r}", f"but in {' and '.join(TARGETS)}")
    try:
        located, _ = read_object(source)
    except Unreadable as unreadable:
        raise InvalidDefinition(unreadable.problems) from None
    detected = detect(located)
    document, report = RoundTrip(source.text), Report()
    reader = reader_of(detected)
    if reader is not None and detected.foreign is not None and detected.foreign.upgrader is not None:
        _put_lowered(document, reader, located, source, import_module(detected.foreign.upgrader).upgrade, report)
    elif detected.foreign is not None:
        raise UsageError(f"{source.name} is written for {detected.title}, which is not rewritten here")
    else:
        _place(located, document.root, report)
        for step in _STEPS[detected.version]:
            step(document.root, report)
    if to == "0.8-next" and detected.version != to:
        to_next.upgrade(document.root, report)
    _say_version(document.root, report)
    if document.has_merged and report.changes:
        report.reshaped("what '<<' merges is written out")
    text = document.written() if report.changes else source.text
    return Upgraded(text, detected.version, tuple(report.changes))


def _put_lowered(
    document: RoundTrip, reader: Reader, located: Object, source: Source, rewrite: Step, report: Report
) -> None:
    """Put what runs of a draft into its text: the document that it is lowered to, with what 0.8 has for all of it."""
    report.text = Written(located, document.root)
    lowered = in_order(reader.lowered(located, source))
    report.word = lowered.pop("@stateWord", report.word)
    rewrite(lowered, report)
    document.root = Graft(report.text, report.changed).put(lowered)


def _place(located: Any, node: Any, report: Report) -> None:
    """Take note where the objects below *node* are written, which is *located* as it was read."""
    if isinstance(located, Object) and isinstance(node, Mapping):
        report.place(node, located.where.position.line)
        for key, value in located.items():
            if key in node:
                _place(value, node[key], report)
    elif isinstance(located, list) and isinstance(node, list):
        for value, inner in zip(located, node, strict=False):
            _place(value, inner, report)


def _say_version(root: Tree, report: Report) -> None:
    version = root.get("specVersion")
    if version is None:
        add(root, "specVersion", "0.8", "version" if "version" in root else "id")
    elif not str(version).startswith("0.8"):
        root["specVersion"] = "0.8"
    else:
        return
    report.respelled("specVersion is 0.8")
