"""Functions as calls name them: the priority in their metadata, and the credentials that fetch their document."""

import pytest

from swf_temporal.base.calls import AuthRef, Function
from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.execution.functions import priority_of, with_shared_auth


@pytest.mark.parametrize("priority", [1, 2, 3, 4, 5])
def test_a_priority(priority: int) -> None:
    assert priority_of(Function("f", metadata={"priority": priority})) == priority


@pytest.mark.parametrize("value", [0, 6, -1, 2.0, 2.5, True, "1", "high", None, [1], {"a": 1}])
def test_none(value: JSON) -> None:
    assert priority_of(Function("f", metadata={"priority": value})) is None
    assert priority_of(Function("f")) is None


def _function(name: str, operation: str, **auth: str) -> Function:
    return Function(name=name, operation=operation, auth_ref=AuthRef(**auth) if auth else None)


def test_one_says_it_for_all() -> None:
    """How a document is fetched is said by one function, and holds for the others; how each is called is its own."""
    functions = with_shared_auth(
        [_function("list", "https://shop/api.json#list"),
         _function("order", "https://shop/api.json#order", invocation="orders"),
         _function("stock", "https://shop/api.json#stock", resource="reader", invocation="stocks")]
    )  # fmt: skip

    assert functions["list"].auth_ref == AuthRef(resource="reader")
    assert functions["order"].auth_ref == AuthRef(resource="reader", invocation="orders")
    assert functions["stock"].auth_ref == AuthRef(resource="reader", invocation="stocks")


def test_what_a_function_says_itself_counts() -> None:
    """A function that names authentication for its document keeps it."""
    functions = with_shared_auth(
        [_function("a", "api.json#a", resource="reader"), _function("b", "api.json#b", resource="other")]
    )

    assert functions["b"].auth_ref == AuthRef(resource="other")


def test_other_documents_are_fetched_as_before() -> None:
    functions = with_shared_auth(
        [_function("a", "api.json#a", resource="reader"), _function("b", "other.json#b"),
         _function("c", "rest:GET:https://shop/api.json"),
         Function(name="d", type="expression", operation="api.json#d")]
    )  # fmt: skip

    assert functions["b"].auth_ref is None
    assert functions["c"].auth_ref is None
    assert functions["d"].auth_ref is None
