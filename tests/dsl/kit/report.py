"""What the kit's run came to: a table for people, a page, and a report for programs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from swf_temporal import __version__
from tests.dsl.kit.features import KitScenario

ROOT: Final = Path(__file__).parents[3]
TEXTS: Final = ROOT.parent / "shared" / "spec"
"""The texts of the specification. They stand beside a development checkout, not in it."""
FOLDERS: Final = {"dsl-1.0": "1.0", "dsl-1.0-next": "1.0 as developed further"}
"""The folders of the texts that have a kit, and what the page calls them."""
HOSTS: Final = ("simulation", "temporal")
PAGE: Final = ROOT / "docs" / "conformance-kit.md"
REPORT: Final = ROOT / "docs" / "conformance-kit.json"

_HEAD = """# Conformance kit: DSL 1.0

The specification has a [conformance test kit](https://github.com/serverlessworkflow/specification/tree/main/ctk) of
features with scenarios. All of them are run unchanged, in simulation and on a Temporal server; a local server stands in
for the public services that they call, with the same operations. The kit of the release and that of the text as it was
developed further have the same scenarios, apart from the domain in the types of errors.

[conformance-kit.json](conformance-kit.json) has the same results for programs. Page and report are generated:
`python -m tests.dsl.kit --write`.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a scenario came to on a host."""

    text: str
    """The folder of the text that the kit belongs to."""
    scenario: KitScenario
    host: str
    failures: Sequence[str]


def folders() -> list[Path]:
    """Return the folders with a kit; none if the texts are not there."""
    return [TEXTS / name / "ctk" for name in FOLDERS if (TEXTS / name / "ctk").is_dir()]


def table(outcomes: Sequence[Outcome], hosts: Sequence[str]) -> list[list[str]]:
    """Return a row for each scenario: the text, feature and scenario, and what it came to on each of *hosts*."""
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for one in outcomes:
        row = rows.setdefault((one.text, one.scenario.feature, one.scenario.name), {})
        row[one.host] = "fails" if one.failures else "holds"
    return [[*names, *(row.get(host, "") for host in hosts)] for names, row in rows.items()]


def count(outcomes: Sequence[Outcome]) -> str:
    """Return how many scenarios hold."""
    held = sum(not one.failures for one in outcomes)
    return f"{held} of {len(outcomes)} runs hold"


def page(outcomes: Sequence[Outcome]) -> str:
    """Return the page about the kit."""
    parts = [_HEAD]
    for text, name in FOLDERS.items():
        of_text = [one for one in outcomes if one.text == text]
        parts.append(f"## Kit of {name}\n\n{count(of_text)}.\n")
        rows = ["| feature | scenario | simulation | Temporal |", "|---|---|---|---|"]
        rows += [f"| {' | '.join(row[1:])} |" for row in table(of_text, HOSTS)]
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def report(outcomes: Sequence[Outcome]) -> str:
    """Return the results as JSON."""
    results: list[Mapping[str, Any]] = [
        {
            "text": one.text,
            "feature": one.scenario.feature,
            "file": one.scenario.file.name,
            "scenario": one.scenario.name,
            "host": one.host,
            "result": "failed" if one.failures else "passed",
        }
        for one in outcomes
    ]
    implementation = {"name": "swf-temporal", "version": __version__}
    return json.dumps({"implementation": implementation, "results": results}, indent=2) + "\n"
