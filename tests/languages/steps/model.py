"""Steps, as they are read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

NAME = "steps"
"""The name of the language."""
LISTS = ("do", "catch")
"""The keys under which a step has lists of steps; side by side, each list has a name."""
SIDE_BY_SIDE = ("beside", "race")


@dataclass(frozen=True, slots=True)
class Step:
    kind: str
    value: Any
    lists: "Mapping[str, Steps]"
    """The steps that it holds, by the key under which they stand."""


Steps: TypeAlias = tuple[Step, ...]


def id_of(written: Any, kitchen: str | None) -> str:
    """Return an id that is known everywhere: it has two parts, the first of which may be that of its own *kitchen*."""
    if isinstance(written, list):
        return ".".join(written)
    return written if kitchen is None else f"{kitchen}.{written}"


def steps_in(written: Any) -> Steps:
    return tuple(_step(*next(iter(one.items()))) for one in written)


def _step(kind: str, value: Any) -> Step:
    if kind == "do":
        return Step(kind, value, {"do": steps_in(value)})
    keys = tuple(value) if kind in SIDE_BY_SIDE else LISTS if isinstance(value, dict) and kind != "set" else ()
    return Step(kind, value, {key: steps_in(value[key]) for key in keys if key in value})


def every_step(steps: Steps, path: str = "") -> Iterator[tuple[str, Step]]:
    """Yield all steps, each with its path, before those that it holds."""
    for index, one in enumerate(steps):
        own = f"{path}/{index} {one.kind}" if path else f"{index} {one.kind}"
        yield own, one
        for name, inner in one.lists.items():
            yield from every_step(inner, f"{own}/{name}")
