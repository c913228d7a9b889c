"""Is every type in a public signature public?"""

import ast
import importlib
import inspect
import typing
from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Annotated, Any, TypeVar

import pytest

import swf_temporal
from tests.docs.api_page import PUBLIC, is_public


def _plain(thing: Any) -> Any:
    return typing.get_args(thing)[0] if typing.get_origin(thing) is Annotated else thing


THINGS = {name: _plain(getattr(swf_temporal, name)) for name in PUBLIC if name != "JSON"}


@cache
def _names_of(module: str) -> dict[str, Any]:
    """Return the globals of *module*, with those that it imports for type checkers alone."""
    found = dict(vars(importlib.import_module(module)))
    for node in ast.walk(ast.parse(inspect.getsource(importlib.import_module(module)))):
        if isinstance(node, ast.ImportFrom) and node.module:
            home = importlib.import_module(node.module)
            found |= {one.asname or one.name: getattr(home, one.name) for one in node.names if hasattr(home, one.name)}
    return found


def _hints(thing: Any, module: str) -> dict[str, Any]:
    written = dict(inspect.get_annotations(thing))
    return typing.get_type_hints(SimpleNamespace(__annotations__=written), _names_of(module))


def _signature(of: str, thing: Any) -> Iterator[tuple[str, Any]]:
    function = inspect.unwrap(thing)
    yield from ((of, hint) for hint in _hints(function, function.__module__).values())


def annotated(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield each annotation of a public function, or of the public members of a class, and where it is."""
    if not inspect.isclass(thing):
        yield from _signature(name, thing)
        return
    for kind in thing.__mro__:
        if kind.__module__.startswith("swf_temporal."):
            for field, hint in _hints(kind, kind.__module__).items():
                if is_public(name, field) and typing.get_origin(hint) is not typing.ClassVar:
                    yield f"{name}.{field}", hint
    for member, value in vars(thing).items():
        function = getattr(value, "fget", None) or getattr(value, "func", None) or getattr(value, "__func__", value)
        if is_public(name, member) and inspect.isfunction(function) and function.__doc__:
            yield from _signature(f"{name}.{member}", function)


def _classes(hint: Any) -> Iterator[type]:
    if isinstance(hint, TypeVar):
        for one in (hint.__bound__, *hint.__constraints__):
            yield from () if isinstance(one, typing.ForwardRef) else _classes(one)
    elif typing.get_args(hint) and typing.get_origin(hint) is not typing.Literal:
        for one in (typing.get_origin(hint), *typing.get_args(hint)):
            yield from _classes(one)
    elif isinstance(hint, list):
        for one in hint:
            yield from _classes(one)
    elif inspect.isclass(hint) and hint.__module__.startswith("swf_temporal."):
        yield hint


@pytest.mark.parametrize("name", THINGS)
def test_what_a_public_signature_names_is_public(name: str) -> None:
    """What public names take, return and hold can be imported from `swf_temporal`, too."""
    found = {f"{where}: {one.__qualname__}" for where, hint in annotated(name, THINGS[name]) for one in _classes(hint)
             if one not in THINGS.values()}  # fmt: skip
    assert found == set()


def test_signatures_are_walked() -> None:
    """Arguments, results, fields and properties are looked at, in unions and in what is imported for checkers alone."""
    found = {(where, one.__name__) for name in ("Plugin", "Simulation", "Worker", "simulate", "Client")
             for where, hint in annotated(name, THINGS[name]) for one in _classes(hint)}  # fmt: skip
    assert found >= {
        ("Plugin.__init__", "EventSettings"),
        ("Simulation.trace", "TraceEntry"),
        ("Worker.definitions", "Definitions"),
        ("Client.start", "Instance"),
        ("simulate", "Simulation"),
    }
