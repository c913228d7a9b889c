"""Ways in which a secret might come back: how a definition sends it, and how a service repeats it."""

import html
import json
from base64 import b64encode, encodebytes, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote, quote_plus

from swf_temporal.base.data import JSON

KEY: Final = "p8Xz-41Lw/qT9+é&<'\"> %z"
PASSWORD: Final = "s3cr3t/Pass+w0rd&Zx"  # noqa: S105 - it is none
PIN: Final = 4839201755661
SECRETS: Final[dict[str, JSON]] = {
    "key": KEY,
    "login": {"username": "ada", "password": PASSWORD},
    "pin": {"number": PIN, "on": True},
    "word": "postgres",
}
RESEMBLING: Final = "postgres is a word, latest contest: 100% of p8Xz; ada & more &amp; less; a+b=c"
"""A text that has weak secrets in it, which nothing tells from words."""
BUSINESS: Final[JSON] = {
    "text": RESEMBLING,
    "url": "https://example.com/a%20b?on=true&pin=4839&user=ada",
    "numbers": [0, 1, -1, 4839, 0.5, 1e22, 48392017, True, False, None],
    "uuid": "0b8f1a52-6f0e-4f6a-9c27-0d4c5be6a1d9",
    "base64": "aGVsbG8gd29ybGQsIHRoaXMgaXMgbm8gc2VjcmV0",
    "words": ["adam", "number", "on", "true", "username", "password", "login", "key", "\\u0041 \\/ \\n"],
    "***": "***",
}
"""What a service answers beside the secret: none of it may be altered."""

Way = Literal["result", "error", "key", "log", "exception", "traceback"]


@dataclass(frozen=True, slots=True)
class Leak:
    name: str
    argument: str = "${ $SECRETS.key }"
    """The expression that the definition sends."""
    repeats: Callable[[str], str] = str
    """What the service makes of it before it repeats it."""
    way: Way = "result"
    within: str = "said: {}; no more"
    """The text in which the service repeats it."""


ENCODINGS: Final[dict[str, Callable[[str], str]]] = {
    "as it is": str,
    "in percents": lambda text: quote(text, safe=""),
    "in percents, small": lambda text: _small(quote(text, safe="")),
    "in percents, in part": lambda text: quote(text, safe="/+&'"),
    "in percents, every character": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "in percents, twice": lambda text: quote(quote(text, safe=""), safe=""),
    "in percents, three times": lambda text: quote(quote(quote(text, safe=""), safe=""), safe=""),
    "as a form": quote_plus,
    "in JSON": lambda text: json.dumps(text)[1:-1],
    "in JSON, unescaped": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "in JSON within JSON": lambda text: json.dumps(json.dumps(text))[3:-3],
    "in JSON, with escaped slashes": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "in JSON, all escaped": lambda text: "".join(f"\\u{ord(char):04X}" for char in text),
    "in XML": html.escape,
    "in XML, quotes as they are": lambda text: html.escape(text, quote=False),
    "in XML, in numbers": lambda text: html.escape(text).encode("ascii", "xmlcharrefreplace").decode(),
    "in XML, with names": lambda text: html.escape(text).replace("&#x27;", "&apos;").replace("é", "&eacute;"),
    "in XML within XML": lambda text: html.escape(html.escape(text)),
    "in base64": lambda text: b64encode(text.encode()).decode(),
    "in base64 for URLs": lambda text: urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "in base64, after another text": lambda text: b64encode(f"u:{text}".encode()).decode(),
    "in base64, between others": lambda text: b64encode(f'{{"a": "{text}"}}'.encode()).decode(),
    "in base64, in lines": lambda text: encodebytes(f"{'x' * 44}{text}{'y' * 44}".encode()).decode(),
    "in base64 of UTF-16": lambda text: b64encode(text.encode("utf-16-le")).decode(),
    "in hexadecimal": lambda text: text.encode().hex(),
    "as Python shows it": repr,
    "as Python shows bytes": lambda text: repr(text.encode()),
}


def _small(url: str) -> str:
    first, *escaped = url.split("%")
    return "%".join([first, *(part[:2].lower() + part[2:] for part in escaped)])


LEAKS: Final = (
    *(Leak(f"a result {name}", repeats=encode) for name, encode in ENCODINGS.items()),
    *(Leak(f"an error {name}", repeats=encode, way="error") for name, encode in ENCODINGS.items()),
    Leak("a result that is nothing else", within="{}"),
    Leak("a key of a result", way="key"),
    Leak("a line of the log of a library", way="log"),
    Leak("an exception, and what it came of", way="exception"),
    Leak("an exception in JSON, and what it came of", repeats=ENCODINGS["in JSON"], way="exception"),
    Leak("a traceback in the log", way="traceback"),
    Leak("a weak secret that is the result", "${ $SECRETS.word }", within="{}"),
    Leak("a weak secret in an error", "${ $SECRETS.word }", way="error"),
    Leak("a number", "${ $SECRETS.pin.number }", within="{}"),
    Leak("a number in an error", "${ $SECRETS.pin.number }", way="error"),
    Leak("a number that was made of one", "${ $SECRETS.pin.number * 2 }", within="{}"),
    Leak("a number as a float", "${ $SECRETS.pin.number }", lambda text: str(float(text)), within="{}"),
    Leak("a number as a float in an error", "${ $SECRETS.pin.number }", lambda text: str(float(text)), "error"),
    Leak("a number with an exponent", "${ $SECRETS.pin.number }", lambda text: f"{int(text):.12e}", within="{}"),
    Leak(
        "a number with an exponent in an error", "${ $SECRETS.pin.number }", lambda text: f"{int(text):.12e}", "error"
    ),
    Leak("a number in groups in an error", "${ $SECRETS.pin.number }", lambda text: f"{int(text):,}", "error"),
    Leak("a number as a text", "${ $SECRETS.pin.number | tostring }", within="{}"),
    Leak("a number in a text", '${ "no. \\($SECRETS.pin.number)" }', way="error"),
    Leak("a header", '${ "Bearer " + $SECRETS.key }'),
    Leak("a login", '${ "Basic " + ($SECRETS.login | "\\(.username):\\(.password)" | @base64) }'),
    Leak("base64 of a part", "${ $SECRETS.login.password[0:14] | @base64 }"),
    Leak("a part", "${ $SECRETS.key[0:13] }"),
    Leak("base64 twice", "${ $SECRETS.login.password | @base64 | @base64 }"),
    Leak("in capitals", "${ $SECRETS.login.password | ascii_upcase }"),
    Leak("reversed", "${ $SECRETS.login.password | explode | reverse | implode }", way="error"),
    Leak("for a shell", "${ $SECRETS.key | @sh }", way="error"),
    Leak("a query", '${ "https://example.com/?a=1&key=" + ($SECRETS.login.password | @base64 | @uri) }', way="error"),
    Leak("a part in an error", "${ $SECRETS.login.password[3:] }", way="error"),
    Leak("what an expression fails on", "${ $SECRETS.key | tonumber }"),
    Leak("what an expression fails with", "${ error($SECRETS.key) }"),
    Leak("what an expression fails with, as JSON", "${ $SECRETS | tojson | error }"),
    Leak("what an expression fails with, as an object", "${ error($SECRETS) }"),
    Leak("what an expression cannot index", "${ $SECRETS.login[$SECRETS.key].x.y | keys[$SECRETS.key] }"),
    Leak("what an expression cannot add", "${ $SECRETS.login + 1 }"),
    Leak("what an expression cannot read", "${ $SECRETS.key | fromjson }"),
)
"""All of them, each with a name of its own."""
