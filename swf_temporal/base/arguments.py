"""Checks of the arguments of public functions, with messages that name the argument and its type."""

from collections.abc import Callable, Iterable, Mapping

from swf_temporal.base.errors import UsageError
from swf_temporal.base.grammar import with_article


def check_kind(name: str, given: object, *kinds: type) -> None:
    """Raise UsageError if the argument *name* is neither None nor of one of *kinds*."""
    if given is not None and not isinstance(given, kinds):
        named = " or ".join(with_article(kind.__name__) for kind in kinds)
        raise UsageError(f"{name} must be {named}, and is {kind_of(given)}")


def check_text(name: str, given: object, *, is_required: bool = False) -> None:
    """Raise UsageError if the argument *name* is not a text, or blank; None is one that is left out."""
    if given is None and not is_required:
        return
    if not isinstance(given, str):
        raise UsageError(f"{name} must be a text, and is {kind_of(given)}")
    if not given.strip():
        raise UsageError(f"{name} is empty")


def check_each(name: str, given: object, what: str, is_one: Callable[[object], bool]) -> None:
    """Raise UsageError if the argument *name* is not a list of *what*, which `is_one` checks."""
    check_list(name, given)
    for number, one in enumerate(given):  # type: ignore[arg-type,var-annotated]  # it is a list
        if not is_one(one):
            raise UsageError(f"{name}[{number}] is {kind_of(one)}, and not {what}")


def check_list(name: str, given: object) -> None:
    """Raise UsageError if the argument *name* is not a list, or anything else that yields its members."""
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | Mapping):
        raise UsageError(f"{name} must be a list, and is {kind_of(given)}")


def check_functions(given: object) -> None:
    """Raise UsageError if *given* is not a mapping of names to functions."""
    if given is None:
        return
    check_kind("functions", given, Mapping)
    for name, function in given.items():  # type: ignore[attr-defined]  # it is a mapping
        if not isinstance(name, str):
            raise UsageError(f"the name of a function must be a text, and {name!r} is {kind_of(name)}")
        if not callable(function):
            raise UsageError(f"functions[{name!r}] is {kind_of(function)}, and not a function")


def kind_of(given: object) -> str:
    """Return the type of *given* with an article: `a dict`, `an int`."""
    return "None" if given is None else with_article(type(given).__name__)
