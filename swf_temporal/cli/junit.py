"""The report of `swf test` for programs that show the results of tests."""

from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from swf_temporal.app.scenarios.verdicts import Verdict
from swf_temporal.errors import UsageError


def write_junit(path: Path, verdicts: Sequence[Verdict]) -> None:
    """Write *verdicts* to *path* in the XML that JUnit made common. Raises UsageError if that is not possible."""
    suite = Element(
        "testsuite",
        name="swf",
        tests=str(len(verdicts)),
        failures=str(sum(bool(verdict.differences) for verdict in verdicts)),
        skipped=str(sum(verdict.left_out is not None for verdict in verdicts)),
        errors="0",
    )
    for verdict in verdicts:
        scenario = verdict.scenario
        case = SubElement(
            suite,
            "testcase",
            name=f"{scenario.claim} ({verdict.host})",
            classname=str(scenario.file),
            file=str(scenario.file),
            line=str(scenario.line),
        )
        if verdict.left_out is not None:
            SubElement(case, "skipped", message=verdict.left_out)
        elif verdict.differences:
            text = "\n".join(verdict.differences)
            failure = SubElement(case, "failure", message=_plain(text.splitlines()[0]))
            failure.text = _plain(text)
    indent(suite)
    try:
        ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


def _plain(text: str) -> str:
    """Return *text* without the characters that XML cannot hold."""
    return "".join(one for one in text if one.isprintable() or one in "\n\t")
