"""What the pages about functions show of Python, of scripts and of types of one's own works as it stands there."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.custom.modules import offered_by
from swf_temporal.languages.loading import load
from swf_temporal.settings.calls import Settings
from tests.functions.conftest import Calling

PAGES = Path(__file__).parents[2] / "docs" / "functions"


def _blocks(section: str, language: str) -> list[str]:
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted(PAGES.glob("*.md")))
    _, level, rest = re.split(rf"^(##?) {section}\n", text, maxsplit=1, flags=re.MULTILINE)
    part = re.split(rf"^#{{1,{len(level)}}} [A-Z]", rest, maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)


def _module(code: str) -> ModuleType:
    module = ModuleType("shown")
    exec(compile(code, str(PAGES), "exec"), vars(module))  # noqa: S102 - our own text
    return module


def _call(section: str, arguments: JSON) -> Call:
    [definition] = _blocks(section, "yaml")
    return Call(load(definition).functions[0].function, arguments)


@pytest.mark.parametrize(("section", "arguments", "expected"), [
    ("Python", {"name": "Ada"}, {"greeting": "Hello, Ada!"}),
    ("Adding a function type", {"symbol": "SWF"},
     {"service": "https://example.com/quotes", "method": "GetQuote", "body": {"symbol": "SWF"}}),
])  # fmt: skip
async def test_registered_in_a_module(calling: Calling, section: str, arguments: JSON, expected: JSON) -> None:

    assert await calling(offered_by(_module(_blocks(section, "python")[0]))).call(_call(section, arguments)) == expected


async def test_typed_arguments() -> None:
    module: Any = _module(_blocks("Python", "python")[1])
    lines: JSON = [{"item": "pen", "price": "1.50"}, {"item": "ink", "price": 2}]
    call = _call("Python", {"placed": "2026-03-01T10:00:00Z", "lines": lines})
    assert await Functions({"greet": module.total}).call(call) == {"year": 2026, "total": "3.50"}


async def test_scripts() -> None:
    arguments: JSON = {"lines": [{"price": 10, "count": 2}], "factor": 1.19}
    result = await Functions(settings=Settings(scripts=True)).call(_call("Scripts", arguments))
    assert result == {"net": 20, "gross": 23.8}
