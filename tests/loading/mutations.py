"""Definitions of each version that are broken at random, and what has to come of each.

It has to load, and be described then as text and as a diagram, or be refused with problems that stand in a line of it,
are told in our words, and say what to do: by a hint (`did you mean`, what there is to choose from, what to write), or
in their message where that names what is expected (`must be a text`, `is not one of`, `is read as`, `is written`). What
is read as another version is told as that. The same seed makes the same definitions; `python -m tests.mutated` makes
as many as one likes.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any, Final

import yaml

from swf_temporal import InvalidDefinition, Simulation
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.describing import Description
from swf_temporal.languages.loading import check, load
from swf_temporal.languages.port import Checked, Definition
from tests.loading.documents import MAY_2020, NOVEMBER_2019, PRESENT, as_parent
from tests.upgrading.older import older

_NOW: Final = datetime(2030, 1, 1, tzinfo=UTC)
_RAW = re.compile(r"Input should|validation error|Traceback|<class|object at 0x")
"""What libraries say to us, and not to an author."""
_SAYS_WHAT_TO_DO = re.compile(r"must be|has to be|is not one of|read as|is written")
"""How a message itself names what is expected."""
_ODD: Final[list[Any]] = [
    None, True, 0, -1, 1.5, 10**40, "", "x", "${ .a | }", "${ .x }", "fn:big", "PT1S", "P", "true", [], {}, [None],
    [[]], {"@": 1}, {"type": "event"}, {"nextState": {}}, {"schema": {}}, [{"name": "x"}], "classpath:x",
]  # fmt: skip
_NAMES: Final = [
    "@", "where", "source", "languageVersion", "externals", "function_ref", "type", "name", "timeout", "args", "x",
]  # fmt: skip


def _older(version: str) -> Callable[[int], Any]:
    return lambda seed: older(seed, version)["workflow"]


VERSIONS: Final[Mapping[str, Callable[[int], Any]]] = {
    "November 2019": lambda _: deepcopy(NOVEMBER_2019),
    "May 2020": lambda _: deepcopy(MAY_2020),
    "May 2020, with states": lambda _: as_parent(MAY_2020),
    **{version: _older(version) for version in ("0.5", "0.6", "0.7", "0.8")},
    "0.8-next": lambda _: deepcopy(PRESENT) | {"dataOutputSchema": {"schema": {"type": "object"}}},
}
"""For each version what is broken, by the seed."""


def mutated(version: str, seed: int) -> str:
    chance = random.Random(f"{version} {seed}")  # noqa: S311 - the same mutations every time
    return broken(VERSIONS[version](seed), chance, _ODD, _NAMES)


def broken(document: Any, chance: random.Random, odd: Sequence[Any], names: Sequence[str]) -> str:
    """Return *document* broken in one to four places, in JSON or YAML."""
    for _ in range(chance.choice([1, 1, 2, 4])):
        places = list(_places(document))
        if not places:
            break
        owner, key = chance.choice(places)
        match chance.choice(["delete", "replace", "copy", "rename"]):
            case "delete":
                del owner[key]
            case "replace":
                owner[key] = deepcopy(chance.choice(odd))
            case "copy":
                other, its = chance.choice(places)
                owner[key] = deepcopy(other[its])
            case "rename" if isinstance(key, str):
                owner[chance.choice([*names, f"{key}s"])] = owner.pop(key)
    text: str = json.dumps(document) if chance.random() < 0.5 else yaml.safe_dump(document)
    return text


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        yield value, key
        yield from _places(item)


def assert_helpful(text: str, checked: Checked) -> None:
    """Assert that problems stand in a line of *text*, and are told in our words."""
    lines = [*text.splitlines(), ""]  # what is missing may be missing at the end
    for problem in checked.problems:
        assert 1 <= problem.position.line <= len(lines), f"{problem} has no line"
        assert 1 <= problem.position.column <= len(lines[problem.position.line - 1]) + 1, f"{problem} has no column"
        assert not _RAW.search(str(problem)), f"{problem} is not told in our words"


def loaded(text: str) -> Definition | None:
    """Load a definition; return None if it is refused. Raises AssertionError if that helps nobody."""
    checked = check(text)
    assert_helpful(text, checked)
    try:
        definition = load(text)
    except InvalidDefinition:
        assert checked.errors, "it is refused, and validation finds nothing"
        return None
    assert not checked.errors, "it is loaded, and validation finds errors"
    return definition


def status_of(run: Simulation) -> str:
    """Return the status of a run. Raises AssertionError if its error is one of ours, or says nothing."""
    assert run.error is None or (run.error.name and run.error.code and run.error.message), "the error says nothing"
    assert run.error is None or run.error.name != "InternalError", run.error
    return run.status


def outcome(version: str, text: str) -> str:
    """Check, and describe, the definition in *text*; return what came of it. What helps nobody is an AssertionError."""
    checked = check(text)
    assert_helpful(text, checked)
    for problem in checked.problems:
        assert problem.hint is not None or _SAYS_WHAT_TO_DO.search(problem.message), f"{problem} says nothing to do"
    read_as = "0.8" if checked.written_in is None else checked.written_in.version
    is_told = checked.written_in is not None or any(one.code == "spec-version" for one in checked.problems)
    recognized = "of its version" if read_as == version.partition(",")[0] else "of another"
    assert recognized == "of its version" or is_told, "it is read as another version, and nothing says so"
    definition = checked.definition
    if definition is None:
        assert checked.errors, "it is refused, and nothing says why"
        return f"refused, {recognized}"
    description = Description(definition, Catalogue([definition]), _NOW, lambda _: {})
    assert definition.id in description.text()
    assert description.mermaid()
    assert definition.outline.parts
    return f"loaded, {recognized}"


def outcomes(version: str, seeds: Sequence[int]) -> Counter[str]:
    """Break a definition of *version* for each of *seeds*; return what came of them."""
    came: Counter[str] = Counter()
    for seed in seeds:
        try:
            came[outcome(version, mutated(version, seed))] += 1
        except Exception as error:
            raise AssertionError(f"{version}, seed {seed}: {type(error).__name__}: {error}") from error
    return came
