"""Documents with something wrong anywhere in them."""

from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.function_types import Callee
from swf_temporal.functions.documents.documents import check_openapi
from swf_temporal.functions.documents.parts import Document
from swf_temporal.functions.openapi.operations import find_operation
from swf_temporal.functions.openapi.requests import build_request
from swf_temporal.functions.openapi.servers import server_url
from swf_temporal.settings.calls import Settings
from swf_temporal.text.parsing import read_data

FOLDER = Path(__file__).parents[1] / "data"
JUNK = st.sampled_from(
    [None, True, 5, -1.5, "", "text", "#/paths", [], [5], ["a"], [None], {}, {"a": 5}, {"$ref": "#"}]
)
ARGUMENTS: dict[str, JSON] = {"id": 7, "item": "mouse", "X-Trace": "t", "user": "ada", "roles": ["a"], "picture": "x"}
OPERATIONS = ("getOrder", "putOrder", "readOrder", "login", "upload", "addNote", "checkStock")


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in entries for place in places(item, (*path, key)))]


def damaged(content: Any, path: tuple[Any, ...], junk: Any) -> Any:
    changed = deepcopy(content)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = junk
    return changed


@pytest.mark.parametrize("name", ["shop-2.0.json", "shop-3.0.yaml", "shop-3.1.yaml"])
@given(data=st.data())
def test_what_is_wrong_is_a_fault(name: str, data: st.DataObject) -> None:
    content = read_data((FOLDER / name).read_bytes())
    path = data.draw(st.sampled_from(places(content)[1:]))
    document = Document(name, f"https://shop.example.com/{name}", damaged(content, path, data.draw(JUNK)))
    with suppress(CallFailed):
        check_openapi(document)
        operation = find_operation(document, data.draw(st.sampled_from(OPERATIONS)))
        if operation.responses is not None:
            operation.responses.expected()
        named = {parameter.name for parameter in operation.parameters}
        arguments = {key: value for key, value in ARGUMENTS.items() if operation.body or key in named}
        build_request(operation, server_url(Settings(), Callee("f"), document, operation), arguments)
