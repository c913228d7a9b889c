"""Functions that installed packages offer."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.errors import UsageError
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.custom.modules import installed

Install = Callable[..., None]

SHOP = """
from swf_temporal.functions.registry import Registry

registry = Registry()


@registry.custom("charge")
def charge(amount: float) -> dict:
    return {"charged": amount}


def greet(name: str) -> str:
    return f"Hello, {name}!"


class Echo:
    async def perform(self, call):
        return [call.function.operation, call.arguments]
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))

    def put(package: str, code: str, functions: str = "", types: str = "") -> None:
        (tmp_path / f"{package}.py").write_text(code, encoding="utf-8")
        facts = tmp_path / f"{package}-1.0.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
        groups = f"[swf_temporal.functions]\n{functions}\n[swf_temporal.function_types]\n{types}\n"
        (facts / "entry_points.txt").write_text(groups, encoding="utf-8")

    yield put
    for name in set(sys.modules) - before:
        del sys.modules[name]


async def test_packages_offer_functions_and_types(install: Install) -> None:
    install("swf_shop", SHOP, "greet = swf_shop:greet\nall = swf_shop:registry", "echo = swf_shop:Echo")
    install("swf_more", "def sums(a, b):\n    return a + b\n", "anything = swf_more")
    offered = installed()
    functions = Functions(offered)
    assert set(offered) == {"greet", "charge", "sums"}
    assert await functions.call(Call(Function(name="greet", type="custom"), {"name": "Ada"})) == "Hello, Ada!"
    assert await functions.call(Call(Function(name="charge", type="custom"), {"amount": "2"})) == {"charged": 2.0}
    assert await functions.call(Call(Function(name="e", type="echo", operation="x"), 1)) == ["x", 1]
    greet = Function(name="g", type="custom", operation="swf_shop:greet")
    assert await functions.call(Call(greet, {"name": "Ada"})) == "Hello, Ada!"
    sums = Function(name="s", type="custom", operation="swf_more:sums")
    assert await functions.call(Call(sums, {"a": 1, "b": 2})) == 3


@pytest.mark.parametrize(("code", "functions", "types", "told"), [
    ("import no_such_module_here", "f = swf_bad:f", "", "'f' (swf_bad:f) of swf_bad cannot be loaded: ModuleNot"),
    ("f = 1", "f = swf_bad:f", "", "it is an int, not a function"),
    ("", "f = swf_bad:f", "", "has no attribute 'f'"),
    ("def f(): pass", "", "soap = swf_bad:f", "must have `async def perform(call)`"),
    ("class F:\n  async def perform(self, call): pass", "", "rest = swf_bad:F", "'rest' is reserved"),
])  # fmt: skip
def test_what_cannot_be_loaded_stops_the_worker(
    code: str, functions: str, types: str, told: str, install: Install
) -> None:
    """A worker without a function would fail the instances that call it: it does not start, and says why."""
    install("swf_bad", code, functions, types)
    with pytest.raises(UsageError) as caught:
        installed()
    assert told in caught.value.message
    assert "SWF_FUNCTION_MODULES" in (caught.value.hint or "")


def test_a_name_is_offered_once(install: Install) -> None:
    """Operators limit the packages: code of one that is not allowed does not even run."""
    install("swf_one", "def f(): pass", "f = swf_one:f")
    install("swf_two", "def f(): pass", "f = swf_two:f")
    install("swf_bad", "raise RuntimeError", "f = swf_bad:f")
    with pytest.raises(UsageError, match=r"'f' is offered by .*swf_one.*swf_two|'f' is offered by .*swf_two.*swf_one"):
        installed(("swf_one", "swf_two"))
    assert list(installed(("swf_two",))) == ["f"]
    assert list(installed(())) == []
