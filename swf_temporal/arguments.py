"""Arguments that programs give: one of another kind is named at once, in a sentence."""

from collections.abc import Mapping

from swf_temporal.errors import UsageError
from swf_temporal.grammar import with_article


def check_kind(name: str, given: object, kind: type) -> None:
    """Raise UsageError if the argument *name* is neither None nor of its *kind*."""
    if given is not None and not isinstance(given, kind):
        raise UsageError(f"{name} must be {with_article(kind.__name__)}, and is {kind_of(given)}")


def check_functions(given: object) -> None:
    """Raise UsageError if *given* are not functions by name."""
    if given is None:
        return
    check_kind("functions", given, Mapping)
    for name, function in given.items():  # type: ignore[attr-defined]  # it is a mapping
        if not isinstance(name, str) or not callable(function):
            raise UsageError(f"functions[{name!r}] is {kind_of(function)}, and not a function")


def kind_of(given: object) -> str:
    """Return what *given* is, as a sentence names it: `a dict`, `an int`."""
    return "None" if given is None else with_article(type(given).__name__)
