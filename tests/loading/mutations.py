"""Definitions of each version that are broken at random: `python -m tests.loading.mutations --count 500 --seed 0`.

Each is checked as `swf validate` does it. It has to load, and be described then as text and as a diagram, or be refused
with problems that stand in a line of it and are told in our words. The same seed makes the same definitions.

A line for each version says how many there were, what came of them, and how they were told apart: how many were read as
that version, how many as another, which the answer names with its reason (a note or a warning, as `swf validate` prints
them), and how many as another without a word, of which there may be none. It says also how many problems say what to
do: by a hint (`did you mean`, what there is to choose from, what to write), or in their message where that names what
is expected (`must be a text`, `is not one of`, `is read as`, `is written`). Then a line for each code of which some say
neither. What does otherwise is printed, and the command ends with 1.
"""

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any, Final

import typer
import yaml

from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.describing import Description
from swf_temporal.languages.loading import check
from swf_temporal.languages.port import Checked
from tests.loading import test_robust_may_2020, test_robust_november_2019
from tests.loading.test_robustness import DOCUMENT, NAMES, ODD
from tests.upgrading.older import older

_NOW: Final = datetime(2030, 1, 1, tzinfo=UTC)
_RAW = re.compile(r"Input should|validation error|Traceback|<class|object at 0x")
"""What libraries say to us, and not to an author."""
_SAYS_WHAT_TO_DO = re.compile(r"must be|has to be|is not one of|read as|is written")
"""How a message itself names what is expected."""
_RIGHT, _WITH_REASON, _WITHOUT = "of its version", "read as another and told why", "read as another untold"
_CODE, _SILENT = "of ", "silent "
_OF_PARENT: Final = {"tasks": "states", "nextTask": "nextState", "taskDataFilter": "stateDataFilter"}


def _older(version: str) -> Callable[[int], Any]:
    return lambda seed: older(seed, version)["workflow"]


def _of_parent(value: Any) -> Any:
    if isinstance(value, dict):
        return {_OF_PARENT.get(key, key): _of_parent(item) for key, item in value.items()}
    return [_of_parent(item) for item in value] if isinstance(value, list) else value


VERSIONS: Final[Mapping[str, Callable[[int], Any]]] = {
    "November 2019": lambda _: deepcopy(test_robust_november_2019.DOCUMENT),
    "May 2020": lambda _: deepcopy(test_robust_may_2020.DOCUMENT),
    "May 2020, with states": lambda _: _of_parent(test_robust_may_2020.DOCUMENT),
    "0.5": _older("0.5"),
    "0.6": _older("0.6"),
    "0.7": _older("0.7"),
    "0.8": _older("0.8"),
    "0.8-next": lambda _: deepcopy(DOCUMENT) | {"dataOutputSchema": {"schema": {"type": "object"}}},
}
"""For each version what is broken, by the seed."""


def mutated(version: str, seed: int) -> str:
    """Return a definition of *version* that is broken in one to four places, in JSON or YAML."""
    chance = random.Random(f"{version} {seed}")  # noqa: S311 - the same mutations every time
    document = VERSIONS[version](seed)
    for _ in range(chance.choice([1, 1, 2, 4])):
        places = list(_places(document))
        if places:
            _change(*chance.choice(places), places, chance)
    text: str = json.dumps(document) if chance.random() < 0.5 else yaml.safe_dump(document)
    return text


def outcome(version: str, text: str, told: Counter[str]) -> None:
    """Check, and describe, the definition in *text*, and count in *told*. Raises where that helps nobody."""
    checked = check(text)
    lines = [*text.splitlines(), ""]  # what is missing may be missing at the end
    for problem in checked.problems:
        assert 1 <= problem.position.line <= len(lines), f"{problem} has no line"
        assert not _RAW.search(str(problem)), f"{problem} is not told in our words"
        told["problems"] += 1
        says = problem.hint is not None or _SAYS_WHAT_TO_DO.search(problem.message) is not None
        told["say what to do"] += says
        told[f"{_CODE}{problem.code}"] += 1
        told[f"{_SILENT}{problem.code}"] += not says
    told[_recognized(version.partition(",")[0], checked)] += 1
    definition = checked.definition
    if definition is None:
        assert checked.errors, "it is refused, and nothing says why"
        told["refused"] += 1
        return
    told["loaded"] += 1
    description = Description(definition, Catalogue([definition]), _NOW, lambda _: {})
    assert definition.id in description.text()
    assert description.mermaid()


def _recognized(version: str, checked: Checked) -> str:
    """Return whether what is written in *version* was read as that, or whether an author learns as what it was."""
    found = "0.8" if checked.written_in is None else checked.written_in.version
    if found == version:
        return _RIGHT
    is_told = checked.written_in is not None or any(one.code == "spec-version" for one in checked.problems)
    return _WITH_REASON if is_told else _WITHOUT


def run(version: str, count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Break *count* definitions of *version*; return what came of them, and what should not have."""
    told: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(seed, seed + count):
        text = mutated(version, number)
        try:
            outcome(version, text, told)
        except Exception as error:  # noqa: BLE001 - any is one too many
            wrong.append(f"{version}, seed {number}: {type(error).__name__}: {error}")
    return told, wrong


def _change(owner: Any, key: Any, places: list[tuple[Any, Any]], chance: random.Random) -> None:
    match chance.choice(["delete", "replace", "copy", "rename"]):
        case "delete":
            del owner[key]
        case "replace":
            owner[key] = deepcopy(chance.choice(ODD))
        case "copy":
            other, its = chance.choice(places)
            owner[key] = deepcopy(other[its])
        case "rename" if isinstance(key, str):
            owner[chance.choice([*NAMES, f"{key}s"])] = owner.pop(key)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        yield value, key
        yield from _places(item)


def main() -> int:
    """Break as many as the command line says, and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="how many of each version")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    failed = 0
    codes: Counter[str] = Counter()
    for version in VERSIONS:
        told, wrong = run(version, asked.count, asked.seed)
        facts = ", ".join(
            f"{told[key]} {key}"
            for key in ("loaded", "refused", _RIGHT, _WITH_REASON, _WITHOUT, "problems", "say what to do")
        )
        typer.echo(f"{version}: {asked.count} definitions, {facts}, {len(wrong)} wrong")
        for line in wrong:
            typer.echo(f"  {line}", err=True)
        failed += len(wrong) + told[_WITHOUT]
        codes += told
    for code in sorted(key.removeprefix(_SILENT) for key in codes if key.startswith(_SILENT)):
        typer.echo(f"{code}: {codes[_SILENT + code]} of {codes[_CODE + code]} do not say what to do")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
