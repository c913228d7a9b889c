"""`python -m bench.loading [FOLDER]`: reading and validating definitions, against plain JSON Schema validation.

The definitions are the specification's own examples if they stand beside the checkout, else those of `examples/`. Both
contenders read the same files, in turn, in one process: ours says everything that is wrong and compiles every
expression; the other parses a file and tells whether the schema that `swf schema` prints accepts it.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from swf_temporal.languages.loading import check
from swf_temporal.languages.serverless_workflow.language import LANGUAGE

ROOT = Path(__file__).parents[1]
OFFICIAL = ROOT.parent / "shared" / "spec" / "examples"
SCENARIOS = ROOT / "tests" / "scenarios"


def main() -> None:
    """Measure, and print a line."""
    parser = argparse.ArgumentParser(prog="python -m bench.loading", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, help="where definitions are (default: see above)")
    parser.add_argument("--versions", action="store_true", help="measure each version with the scenarios' definitions")
    parser.add_argument("--rounds", type=int, default=7, help="how often everything is measured (default: 7)")
    given = parser.parse_args()
    if given.versions:
        _by_version(given.rounds)
        return
    texts = _texts(given.folder)
    validator = Draft202012Validator(LANGUAGE.json_schema())

    def plain(text: str) -> bool:
        return bool(validator.is_valid(_parsed(text)))

    _rate(check, texts), _rate(plain, texts)  # both get warm: expressions and patterns are compiled once
    ours, theirs, ratios = [], [], []
    for _ in range(given.rounds):
        ours.append(_rate(check, texts))
        theirs.append(_rate(plain, texts))
        ratios.append(ours[-1] / theirs[-1])
    print(f"{len(texts)} definitions, median of {given.rounds} rounds, definitions a second in one process:")
    print(f"  swf_temporal.languages.loading.check   {median(ours):8.0f}")
    print(f"  parsed, and JSON Schema      {median(theirs):8.0f}")
    print(f"  ratio                        {median(ratios):8.2f} ({min(ratios):.2f}-{max(ratios):.2f})")


def _by_version(rounds: int) -> None:
    """Print how many definitions of each version are read and validated in a second."""
    found: dict[str, list[str]] = {}
    for file in sorted(SCENARIOS.rglob("*.yaml")):
        for scenario in yaml.load_all(file.read_text(), Loader=_LOADER):
            workflow = scenario.get("workflow") if isinstance(scenario, dict) else None
            if isinstance(workflow, dict):
                text = json.dumps(workflow, default=str)  # YAML has dates
                definition = check(text).definition
                if definition is not None:
                    found.setdefault(definition.language_version or definition.language.name, []).append(text)
    print(f"definitions a second, read and validated in one process (median of {rounds} rounds):")
    for version, texts in sorted(found.items()):
        rate = median(_rate(check, texts) for _ in range(rounds))
        print(
            f"  {version:16} {rate:8.0f}   ({len(texts)} definitions of {sum(map(len, texts)) / len(texts):.0f} bytes)"
        )


def _texts(folder: Path | None) -> list[str]:
    if folder is None and (OFFICIAL / "INDEX.md").is_file():
        return [path.read_text() for path in _complete()]
    paths = [path for path in (folder or ROOT / "examples").rglob("*") if path.suffix in {".json", ".yaml", ".yml"}]
    return [text for text in (path.read_text() for path in paths) if _is_definition(text)]


def _complete() -> list[Path]:
    """Return the official examples that are said to be complete and valid."""
    paths = []
    dialect = ""
    for line in (OFFICIAL / "INDEX.md").read_text().splitlines():
        if line.startswith("## "):
            dialect = line.removeprefix("## ").strip()
        elif dialect.startswith("0.8") and "| valid CLEAN" in line:
            paths.append(OFFICIAL / dialect / line.split("`")[1])
    return paths


def _is_definition(text: str) -> bool:
    """Tell whether *text* is one definition that can run, and not a file of scenarios, in which there are some, too."""
    return "states" in text and check(text).definition is not None


def _parsed(text: str) -> Any:
    return json.loads(text) if text.lstrip().startswith("{") else yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe one


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _rate(validate: Callable[[str], object], texts: list[str]) -> float:
    before = time.process_time()
    for text in texts:
        validate(text)
    return len(texts) / (time.process_time() - before)


if __name__ == "__main__":
    main()
