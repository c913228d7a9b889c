"""What is told of arguments that use secrets."""

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.languages.performing import filled
from swf_temporal.runtime.host import FunctionCall, SecretTemplate

SECRETS: dict[str, JSON] = {"KEY": "p8Xz-41Lw"}
HIDDEN = "(the reason is not shown, since it could show a secret)"


def _call(template: JSON, data: JSON = None, variables: dict[str, JSON] | None = None) -> FunctionCall:
    function, secrets = Function("pay"), SecretTemplate(template, data, variables or {}, "jq")
    return FunctionCall(
        id="1", function=function, arguments=template, state="S", action="a", secret_template=secrets,
        language="serverless-workflow",
    )  # fmt: skip


def test_arguments_are_filled_with_secrets_and_with_what_the_path_knew() -> None:
    template: JSON = {"key": "${ $SECRETS.KEY }", "item": "${ $item }", "order": "${ .order }", "now": "${ now }"}
    call = _call(template, {"order": 7}, {"item": "lamp", "__now": 5})
    assert filled(call, SECRETS) == {"key": "p8Xz-41Lw", "item": "lamp", "order": 7, "now": 5}
    assert filled(_call("${ $SECRETS.NONE // empty }"), SECRETS) is None


@pytest.mark.parametrize(
    "template",
    ["${ $SECRETS.KEY | keys }", ["a", "${ $SECRETS.KEY | keys }"], {"a": 1, "b": {"c": ["${ $SECRETS.KEY | keys }"]}}],
)
def test_an_argument_that_fails_is_shown_as_it_is_written(template: JSON) -> None:
    with pytest.raises(ExpressionFailed) as told:
        filled(_call(template), SECRETS)
    shown = "an argument of function 'pay' that uses secrets cannot be evaluated: ${ $SECRETS.KEY | keys }"
    assert told.value.message == f"{shown} {HIDDEN}"
    assert (told.value.name, told.value.code, told.value.retryable) == ("ExpressionFailed", "ExpressionFailed", False)
