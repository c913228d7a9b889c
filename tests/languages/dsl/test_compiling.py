"""What a definition needs compiled is compiled once, however often it is used."""

from collections.abc import Callable

import pytest

from swf_temporal import simulate
from swf_temporal.base.data import JSON
from swf_temporal.expressions import template
from swf_temporal.expressions.compiled import Compiled


@pytest.mark.parametrize("call", [
    {"call": "http", "with": {"method": "post", "endpoint": "https://shop.example/{n}", "body": {"n": "${ $n }"}}},
    {"call": "pack:1.0.0@default", "with": {"n": "${ $n }"}},
])  # fmt: skip
def test_the_arguments_of_a_call_are_compiled_once(call: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[JSON] = []
    filled = template.filled

    def noted(value: JSON, compile_text: Callable[[str], Compiled]) -> Compiled:
        compiled.append(value)
        return filled(value, compile_text)

    monkeypatch.setattr(template, "filled", noted)

    def parts(calls: int) -> int:
        compiled.clear()
        document = {"dsl": "1.0.3", "namespace": "shop", "name": "pack", "version": "1.0.0"}
        loop = {"for": {"each": "n", "in": f"${{ [range({calls})] }}"}, "do": [{"pack": call}]}
        simulation = simulate({"document": document, "do": [{"packAll": loop}]}, functions={"pack": lambda _: 1})
        assert simulation.output == 1
        return len(compiled)

    assert parts(2) == parts(20) > 0
