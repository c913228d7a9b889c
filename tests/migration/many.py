"""Migrates many definitions, and many broken projects: `python -m tests.migration.many --files 300 --broken 500`.

The definitions are those of the projects here, of the examples and of the scenarios. Prints how long it takes to
migrate and to write them, how many files change when what was written is migrated once more, and which broken projects
ended in a traceback. Exits with 1 if any did, or if a file changes.
"""

import argparse
import random
import resource
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

from swf_temporal.base.errors import SwfError
from swf_temporal.migration.migrate import migrate, write
from swf_temporal.migration.report import as_data, as_html, as_text
from swf_temporal.simulation.model.scenario import InlineDefinition
from swf_temporal.simulation.scenario import find_scenarios
from swf_temporal.text.origin import plain
from swf_temporal.text.parsing import read_data
from swf_temporal.text.yaml_text import write_yaml
from tests.migration.__main__ import readable

ROOT: Final = Path(__file__).parents[2]
PROJECTS: Final = Path(__file__).parent / "projects"
WORDS: Final = (
    "kind", "items", "- ", "{", "}", "[", "${", "null", "5", '"', "\n", ":", "actions", "true", "data", "end",
    "{{ .x }}", "metadata", "functionRef", "\\", "'", "%", "&a ", "*a", "<<: ", "1e999", "\t", "\u2028", "!x ",
)  # fmt: skip
"""What is put into texts."""
VALUES: Final[tuple[Any, ...]] = (
    None, True, 5, "", "text", "${ .a }", [], [5], [[]], {}, {"a": 5}, [{"a": None}], "a\nb", 1e300,
)  # fmt: skip
_PROPERTIES: Final = """quarkus.http.port=8080
quarkus.rest-client.orders_yaml.url=https://orders.example
mp.messaging.incoming.told.connector=smallrye-kafka
kogito.sw.functions.f.host=example
"""


def texts() -> Iterator[str]:
    for folder in (PROJECTS, ROOT / "examples"):
        for file in sorted(folder.rglob("*.sw.*")):
            if file.suffix in (".json", ".yaml", ".yml"):
                yield file.read_text()
    for topic in (ROOT / "tests/scenarios/sonataflow", ROOT / "tests/scenarios"):
        for scenario in find_scenarios([topic]):
            if isinstance(scenario.workflow, InlineDefinition) and "direktiv" not in scenario.file.parts:
                yield write_yaml(plain(scenario.workflow.definition))


def project_of(count: int, folder: Path) -> None:
    resources = folder / "src/main/resources"
    resources.mkdir(parents=True)
    for number, text in enumerate(islice(cycle(_definitions()), count)):
        ending = "json" if text.startswith("{") else "yaml"
        (resources / f"{number}.sw.{ending}").write_text(text)
    (resources / "application.properties").write_text(_PROPERTIES)


def changed_again(written: Path) -> list[str]:
    """Return the files that are another text when what was *written* is migrated once more."""
    again = migrate(written)
    return [one.path for one in again.files if (written / one.path).read_bytes() != one.content]


def broken_project(seed: int, folder: Path) -> None:
    chance = random.Random(seed)  # noqa: S311 - of a test
    if chance.random() < 0.5:
        files = {"shown.sw.yaml": chance.choice(_definitions())}
    else:
        project = chance.choice(sorted(PROJECTS.glob("*/project")))
        found = sorted(one for one in project.rglob("*") if one.is_file())
        files = {one.relative_to(project).as_posix(): one.read_text() for one in found}
    victim = chance.choice(list(files))
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_broken(text, chance) if name == victim else text)


@cache
def _definitions() -> list[str]:
    return list(texts())


def _broken(text: str, chance: random.Random) -> str:
    if chance.random() < 0.5:
        with suppress(ValueError):
            root = read_data(text)
            for _ in range(chance.randint(1, 3)):
                _with_other_value(root, chance)
            return write_yaml(root)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(WORDS) + text[at + chance.randint(0, 12) :]
    return text


def _with_other_value(root: Any, chance: random.Random) -> None:
    places = list(_places(root))
    if places:
        parent, key = chance.choice(places)
        parent[key] = deepcopy(chance.choice(VALUES))


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield node, key
        yield from _places(value)


def reported(folder: Path, into: Path) -> str:
    """Migrate the project in *folder*, write it, and return what is told: a report, or a usage error.

    Its definitions are read in the mode of SonataFlow, too.
    """
    for file in folder.rglob("*.sw.*"):
        readable(file, "sonataflow")
    try:
        migration = migrate(folder)
        as_html(migration)
        as_data(migration)
        write(migration, into)
        return as_text(migration)
    except SwfError as error:
        return str(error)


def tracebacks(seeds: range) -> list[str]:
    found = []
    for seed in seeds:
        with tempfile.TemporaryDirectory() as place:
            broken_project(seed, Path(place, "project"))
            try:
                reported(Path(place, "project"), Path(place, "migrated"))
            except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
                found.append(f"seed {seed}:\n{traceback.format_exc()}")
    return found


def processor() -> float:
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.migration.many", description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--broken", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="The first of the seeds by which projects are broken.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        project_of(options.files, Path(place, "project"))
        clock, spent = time.monotonic(), processor()
        migration = migrate(Path(place, "project"))
        write(migration, Path(place, "migrated"))
        clock, spent = time.monotonic() - clock, processor() - spent
        again = changed_again(Path(place, "migrated"))
    broken = tracebacks(range(options.seed, options.seed + options.broken))
    lines = [
        f"{len(migration.definitions)} definitions migrated in {clock:.1f} s, {spent:.1f} s of processor time",
        f"changed when migrated once more: {len(again)}", *again,
        f"tracebacks in {options.broken} broken projects: {len(broken)}", *broken,
    ]  # fmt: skip
    sys.stdout.write("\n".join([*lines, ""]))
    return int(bool(again or broken))


if __name__ == "__main__":
    sys.exit(main())
