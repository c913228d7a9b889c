"""What is told of arguments that use secrets."""

from dataclasses import replace

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.languages.performing import filled, made_of_secrets
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


@pytest.mark.parametrize("template", [
    "${ $SECRETS.KEY | keys }", ["a", "${ $SECRETS.KEY | keys }"], {"a": 1, "b": {"c": ["${ $SECRETS.KEY | keys }"]}},
])  # fmt: skip
def test_an_argument_that_fails_is_shown_as_it_is_written(template: JSON) -> None:
    with pytest.raises(ExpressionFailed) as told:
        filled(_call(template), SECRETS)
    shown = "an argument of function 'pay' that uses secrets cannot be evaluated: ${ $SECRETS.KEY | keys }"
    assert told.value.message == f"{shown} {HIDDEN}"
    assert (told.value.name, told.value.code, told.value.retryable) == ("ExpressionFailed", "ExpressionFailed", False)


@pytest.mark.parametrize("language", ["serverless-workflow", "dsl"])
def test_a_variable_without_a_value_fails_the_call(language: str) -> None:
    template: JSON = {"key": "${ $SECRETS.KEY }", "item": "${ $item }"}
    if language == "dsl":
        given: JSON = {"key": "${ $secrets.KEY }", "item": "${ $item }"}
        template = {"arguments": given, "uris": [], "verbatim": [], "from": None}
    call = replace(_call(template), language=language)
    with pytest.raises(ExpressionFailed, match="uses secrets cannot be evaluated"):
        filled(call, SECRETS)


DATA: JSON = {"order": "order-4711-of-ada", "amount": 12345678}
MADE_OF_SECRETS_SECRETS: dict[str, JSON] = {
    "key": "correct horse battery",
    "pin": {"number": 48392017, "on": True},
    "ends": ["aaaaAAAA0000", "yyyyYYYY8888", "zzzzZZZZ9999"],
}


def _made(template: JSON, dialect: str = "jq", language: str = "serverless-workflow") -> tuple[str, ...]:
    given = SecretTemplate(template, DATA, {"__now": 0.0}, dialect)
    call = FunctionCall(
        id="a#1", function=Function("f", "custom", None), arguments=template, state="A", action="f",
        secret_template=given, language=language,
    )  # fmt: skip
    return made_of_secrets(call, MADE_OF_SECRETS_SECRETS, filled(call, MADE_OF_SECRETS_SECRETS))


@pytest.mark.parametrize(("template", "made"), [
    ({"a": "${ .order }", "b": "a text that stays"}, ()),
    ("${ {order: .order, login: ($SECRETS.key | @base64)} }", ("Y29ycmVjdCBob3JzZSBiYXR0ZXJ5",)),
    ('${ "Basic " + ("ada:" + $SECRETS.key | @base64) }', ("YWRhOmNvcnJlY3QgaG9yc2UgYmF0dGVyeQ",)),
    ("${ $SECRETS.pin.number * 2 }", ("96784034",)),
    ("${ if $SECRETS.pin.on then .order else null end }", ()),
    ("${ {(.order + $SECRETS.key[0:7]): .amount} }", ("order-4711-of-adacorrect",)),
    ('${ "length-is-\\($SECRETS.key | length)" }', ()),
    ('${ "first-is-\\($SECRETS.key | .[0:1])" }', ("first-is-c",)),
    ('${ $SECRETS.ends[0] + "made" }', ("aaaaAAAA0000made",)),
    ('${ $SECRETS.ends[1] + "made" }', ("yyyyYYYY8888made",)),
    ('${ $SECRETS.ends[2] + "made" }', ("zzzzZZZZ9999made",)),
    ('${ "length-is-\\($SECRETS.ends | add | @uri | length)" }', ()),
    ('${ if $SECRETS.key == "correct horse battery" then "as expected" else error("no") end }', ()),
])  # fmt: skip
def test_words_that_would_be_others_with_other_secrets(template: JSON, made: tuple[str, ...]) -> None:
    assert _made(template) == made


def test_arguments_of_direktiv_are_traced_alike() -> None:
    made = _made({"auth": "jq(.secrets.key | @base64)", "of": "jq(.order)"}, "structured-jq", "direktiv")
    assert made == ("Y29ycmVjdCBob3JzZSBiYXR0ZXJ5",)
