"""What of the arguments was made of secrets?"""

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.languages.performing import filled, made_of_secrets
from swf_temporal.runtime.host import FunctionCall, SecretTemplate

DATA: JSON = {"order": "order-4711-of-ada", "amount": 12345678}
SECRETS: dict[str, JSON] = {
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
    return made_of_secrets(call, SECRETS, filled(call, SECRETS))


@pytest.mark.parametrize(
    ("template", "made"),
    [
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
    ],
)
def test_words_that_would_be_others_with_other_secrets(template: JSON, made: tuple[str, ...]) -> None:
    assert _made(template) == made


def test_arguments_of_direktiv_are_traced_alike() -> None:
    made = _made({"auth": "jq(.secrets.key | @base64)", "of": "jq(.order)"}, "structured-jq", "direktiv")
    assert made == ("Y29ycmVjdCBob3JzZSBiYXR0ZXJ5",)
