"""Where secrets come from, and that nobody reads them."""

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from string import ascii_letters, digits
from traceback import format_exception

import pytest

from swf_temporal.base.calls import Auth, AuthRef, Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed, UsageError
from swf_temporal.functions.calling import Call, Calls, Functions
from swf_temporal.functions.secrets import Secrets, is_strong, scrub, withhold
from swf_temporal.languages.serverless_workflow.language import LANGUAGE
from swf_temporal.runtime.host import FunctionCall, SecretTemplate
from swf_temporal.settings.calls import Settings
from tests.failing import failing, fault_of
from tests.sampling import chance

SHOWN: dict[str, JSON] = {"hideSecrets": False}


def test_variables_are_secrets() -> None:
    secrets = Secrets.from_environment(
        {"SWF_SECRET_API_KEY": "12345", "SWF_SECRET_DB": '{"user": "u"}', "SWF_SECRET_ODD": "{x", "OTHER": "no"}
    )
    assert secrets.get("api-key") == "12345"
    assert secrets.get("db") == {"user": "u"}
    assert secrets.as_mapping(["api.key", "odd", "missing"]) == {"api.key": "12345", "odd": "{x"}
    with pytest.raises(KeyError):
        secrets.get("missing")


def test_all_secrets_or_none() -> None:
    secrets = Secrets({"key": "k"})
    assert secrets.entrusted(["KEY"]) == {"KEY": "k"}
    with failing(
        "UnknownSecret", r"'my.db' is not known here: a worker is given it by SWF_SECRET_MY_DB", retryable=False
    ):
        secrets.entrusted(["KEY", "my.db"])


@pytest.mark.parametrize("text", ["db: {user: u}\nkey: k\n", '{"db": {"user": "u"}, "key": "k"}'])
def test_a_file_holds_secrets_and_variables_win(tmp_path: Path, text: str) -> None:
    file = tmp_path / "secrets"
    file.write_text(text, encoding="utf-8")
    secrets = Secrets.from_environment({"SWF_SECRETS_FILE": str(file), "SWF_SECRET_KEY": "variable"})
    assert secrets.as_mapping(["db", "key"]) == {"db": {"user": "u"}, "key": "variable"}


@pytest.mark.parametrize("text", [None, "- a list", "key: 'hunter2\n"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "secrets.yaml"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"secrets\.yaml") as caught:
        Secrets.from_environment({"SWF_SECRETS_FILE": str(file)})
    assert "hunter2" not in str(caught.value)


STRONG = "p8Xz-41Lw-qT9"
SECRET = "s3cr3t/Pass+w0rd&Zx"  # noqa: S105 - it is none


def test_messages_lose_every_secret() -> None:
    """Nested texts lose them; the longest goes first. The shortest are part of too many words, and are words here."""
    secrets: dict[str, JSON] = {"a": "hunter2", "b": {"token": "hunter2-long", "n": 5}, "c": ["abc"], "d": "", "e": " "}
    scrubbed = scrub({"hunter2": ["x hunter2-long y", 5, None, "abc", "abcd: (abc)", "a b"], STRONG: ""}, secrets)
    assert scrubbed == {"hunter2": ["x *** y", 5, None, "***", "abcd: (***)", "a b"], STRONG: ""}
    # A service may name what is wrong by what it was sent.
    assert scrub({f"field {STRONG}": "unknown"}, {"a": STRONG}) == {"field ***": "unknown"}


def test_nothing_is_copied_without_secrets() -> None:
    value: JSON = {"a": ["b"]}
    assert scrub(value, {}) is withhold(value, {}) is value


def test_results_keep_what_only_resembles_a_secret() -> None:
    """Of business data nothing is altered but a text that is the secret."""
    secrets: dict[str, JSON] = {"env": "test", "db": {"user": "postgres", "region": "eu-central-1"}, "pin": "42"}
    data: JSON = {
        "test": "latest contest", "testResult": ["attested", "test it", "42nd", 42, True, None],
        "postgres": {"url": "postgres://db.eu-central-1.example.com"},
    }  # fmt: skip
    assert withhold(data, secrets) == data
    assert withhold({"a": "test", "b": [" postgres\n", "42"], "c": "Test"}, secrets) == {
        "a": "***", "b": ["***", "***"], "c": "Test",
    }  # fmt: skip


def test_results_lose_the_numbers_of_characters() -> None:
    """A service may answer with what `explode` has made of a secret, or a library with its bytes."""
    around: list[JSON] = [*map(ord, f"a {STRONG} b")]
    assert withhold({"data": around}, {"key": STRONG}) == {"data": [97, 32, "***", 32, 98]}
    assert scrub([[*map(ord, "hunter2")]], {"key": "hunter2"}) == [["***"]]
    kept: list[list[JSON]] = [[*around, 0.5], [*around, True], [*around, -1], [42, 42, 42], []]
    for others in kept:
        assert withhold(others, {"key": STRONG}) == others


def test_results_lose_strong_secrets_wherever_they_stand() -> None:
    secrets: dict[str, JSON] = {"a": {"token": STRONG}, "": ["a-token-4711-Zx81Q"]}
    result: list[JSON] = [f"Bearer {STRONG}", b64encode(STRONG.encode()).decode(), "x=a-token-4711-Zx81Q&y"]
    assert withhold({STRONG: result}, secrets) == {"***": ["Bearer ***", "***", "x=***&y"]}


def test_a_weak_secret_is_weak_in_every_spelling() -> None:
    """Base64 of a word is four letters that any other base64 may hold."""
    assert withhold("xdGVzdAx", {"a": "test"}) == "xdGVzdAx"
    assert [withhold(text, {"a": "test"}) for text in ("dGVzdA", "dGVzdA==")] == ["***", "***"]


def random_texts() -> Iterator[str]:
    """Return texts of nine random characters of all kinds, whatever runs of letters chance makes of them."""
    random, kinds = chance("secrets"), (str.islower, str.isupper, str.isdigit)
    drawn = ("".join(random.choices(ascii_letters + digits, k=9)) for _ in range(20_000))
    return (one for one in drawn if all(any(map(is_kind, one)) for is_kind in kinds))


def test_strong_and_weak_secrets() -> None:
    strong = (
        STRONG, "correct-horse-battery-staple", "sk_live_4eC39HqLyjWDarjtT1zdp7dc", "qzkfhwtbxmvlrp",
        "8f14e45fceea167a", "0af7651916cd43dd8448eb211c80319c", "aB3dE5fG7", "x7$Kp!2vQ", "2f1b6c1e-3c6d-4a57",
        "493027164850273",
    )  # fmt: skip
    weak = (
        "test", "password", "postgres", "postgres1", "Admin123", "eu-central-1", "orders-service", "hunter2",
        "production", "2026-11-22", "localhost:5432", "admin123", "true", "a", "TEST-KEY", "confirmation",
    )  # fmt: skip
    assert [one for one in (*strong, *random_texts()) if not is_strong(one)] == []
    assert [one for one in weak if is_strong(one)] == []


def test_an_operator_learns_which_secrets_are_weak() -> None:
    secrets = Secrets({"env": "test", "shop": {"user": "orders", "password": STRONG, "more": [STRONG]}, "key": STRONG})
    assert secrets.unprotected() == ["ENV", "SHOP.user"]


@pytest.mark.parametrize(("metadata", "result"), [({}, "***"), ({"hideSecrets": True}, "***"), (SHOWN, STRONG)])
async def test_a_function_may_have_its_results_left_alone(metadata: dict[str, JSON], result: str) -> None:
    """Then a result is what the function returned, secrets and all; its errors have none."""

    def echo(*, text: str, fails: bool) -> str:
        if fails:
            raise ValueError(f"not {text}")
        return text

    functions = Functions({"echo": echo})
    function = Function(name="echo", type="custom", metadata=metadata)
    call = Call(function, {"text": STRONG, "fails": False}, secrets={"key": STRONG})

    assert await functions.call(call) == result
    assert (
        await fault_of(functions.call(replace(call, arguments={"text": STRONG, "fails": True})))
    ).message == "not ***"


async def test_what_an_error_is_called_stays() -> None:
    """A definition decides by the code what to do: a word that is a secret too does not change it."""

    class TestError(Exception):
        pass

    def fail() -> None:
        raise TestError("the test failed")

    doing = Functions({"f": fail}).call(Call(Function(name="f", type="custom"), secrets={"env": "Test", "e": "test"}))
    fault = await fault_of(doing)
    assert (fault.code, fault.message) == ("TestError", "the *** failed")


DISGUISED: dict[str, JSON] = {"a": 'pä s/s"x\\\n', "pin": {"number": 4839201755661}}


@pytest.mark.parametrize("text", [
    "p%C3%A4+s%2Fs%22x%5C%0A", "p%C3%A4%20s%2Fs%22x%5C%0A", "p%C3%A4%20s/s%22x%5C%0A", r"p\u00e4 s/s\"x\\\n",
    'pä s/s\\"x\\\\\\n', "cMOkIHMvcyJ4XAo=", "cMOkIHMvcyJ4XAo",
    "4.839201755661e+12", "4.839201755661E12", "4839201755661.0", "4,839,201,755,661", "4 839 201 755 661",
    "4839201755661e0",
])  # fmt: skip
def test_secrets_are_known_in_disguise(text: str) -> None:
    scrubbed = str(scrub(f"<{text}>, sorry", DISGUISED))
    assert "***" in scrubbed
    assert text not in scrubbed
    assert "201" not in scrubbed


FAILING = [
    "${ $SECRETS.token | tonumber }",
    "${ $SECRETS.token | error }",
    "${ $SECRETS.token | ascii_upcase | error }",
    "${ [1] | .[$SECRETS.token] }",
    "${ $SECRETS.token[:9] | error }",
]


@pytest.mark.parametrize("expression", FAILING)
async def test_an_expression_that_fails_on_a_secret_does_not_tell_it(expression: str) -> None:
    secret_template = SecretTemplate({"a": {"b": [expression]}, "c": "x"}, {}, {}, "jq")
    call = FunctionCall(
        id="a/f#1", function=Function(name="f", type="custom"), arguments=None, state="a", action="f",
        secret_template=secret_template, secrets=("token",), language="serverless-workflow",
    )  # fmt: skip
    calls = Calls({"f": lambda: None}, settings=Settings(), secrets=Secrets({"token": STRONG}))
    with pytest.raises(ExpressionFailed) as caught:
        await calls.perform(call, source="<text>", key="k", attempt=1)
    told = "".join(format_exception(caught.value))
    assert caught.value.message.startswith("an argument of function 'f' that uses secrets cannot be evaluated: ${ ")
    assert expression in caught.value.message
    assert STRONG[:9].lower() not in told.lower()


@pytest.mark.parametrize("expression", FAILING)
async def test_credentials_that_fail_on_a_secret_do_not_tell_it(expression: str) -> None:
    """An auth has expressions of its own, over nothing but secrets."""
    auth = Auth(name="a", scheme="bearer", properties={"token": expression})
    function = Function(name="f", type="http", operation="GET:http://127.0.0.1:9/", auth_ref=AuthRef(invocation="a"))
    call = Call(function, auth=(auth,), secrets={"token": STRONG}, fill_auth=LANGUAGE.fill_auth)
    fault = await fault_of(Functions().call(call), "BadAuth")
    assert STRONG[:9].lower() not in "".join(format_exception(fault)).lower()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\\n", "\n  "])
def test_base64_is_known_where_it_is_broken_into_lines(end: str) -> None:
    encoded = b64encode(b"x" * 44 + SECRET.encode() + b"y" * 44).decode()
    for at in range(60, 90):
        broken = encoded[:at] + end + encoded[at:]
        assert withhold(broken, {"key": SECRET}) != broken
