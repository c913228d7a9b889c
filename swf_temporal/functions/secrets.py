"""The secrets of a worker, also from a provider such as a vault; hiding them from results, messages and logs."""

import asyncio
import html
import logging
import re
import sys
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from html.entities import codepoint2name
from itertools import product
from pathlib import Path
from typing import Final, Protocol, Self, runtime_checkable
from urllib.parse import quote, quote_plus

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, UsageError, permanent_failure
from swf_temporal.base.files import why_unreadable
from swf_temporal.base.function_types import environment_name
from swf_temporal.base.strict_json import NotJSON, read_json, show_json, write_json
from swf_temporal.functions.call import Call
from swf_temporal.text.parsing import read_data

MAX_AGE: Final = 60.0
"""Seconds for which a secret is cached."""
MAX_LOOKING_UP: Final = 10.0
"""Seconds within which a provider has to answer: all calls with the secret wait for it, otherwise for up to a day."""

_log = logging.getLogger("swf.function")


@runtime_checkable
class SecretProvider(Protocol):
    """Looks up secrets by their names, for the calls of a worker. Its answers are cached for a minute."""

    async def secret(self, name: str) -> JSON:
        """Return the secret that definitions call *name*; None to use the one in the environment.

        An exception fails the attempt at the call with the code `SecretsUnavailable`, and so does an answer that takes
        more than 10 seconds; the next attempt looks it up again. The exception's message is not shown, as it might
        contain a secret.
        """


@dataclass(slots=True)
class _Kept:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    value: JSON = None
    until: float = 0.0


class ProvidedSecrets:
    """The secrets of a provider, each cached for a while for all calls that need it."""

    def __init__(self, provider: SecretProvider) -> None:
        self._provider = provider
        self._kept: dict[str, _Kept] = {}

    async def of(self, names: Iterable[str]) -> dict[str, JSON]:
        """Return those of *names* that the provider has. Raises CallFailed if it fails at the moment."""
        found = {name: await self._secret(name) for name in names}
        return {name: value for name, value in found.items() if value is not None}

    async def _secret(self, name: str) -> JSON:
        kept = self._kept.setdefault(name, _Kept())
        async with kept.lock:
            if kept.until <= time.monotonic():
                try:
                    async with asyncio.timeout(MAX_LOOKING_UP):
                        kept.value = await self._provider.secret(name)
                except Exception as error:
                    kind = type(error).__name__
                    message = f"the secret {name!r} cannot be looked up at the moment: {kind}"
                    raise CallFailed(message, code="SecretsUnavailable", cause=kind) from error
                kept.until = time.monotonic() + MAX_AGE
            return kept.value


_SAFE: Final = ("", "/", "!'()*~", "!$&'()*+,;=:@", "!$&'()*+,;=:@/?")
"""The characters that URL encoders leave unchanged: Python, JavaScript, and RFC 3986 in a segment and in a query."""
_MIN_INNER: Final = 12
"""The minimum number of base64 characters to detect a text that was encoded within another."""
_MIN_SPELLED_DIGITS, _MAX_DIGITS = 8, 300
"""The minimum and maximum number of digits of a number that is also detected in other notations."""
_BREAK: Final = re.compile(r"\r?\n[ \t]*|(?:\\+r)?\\+n")
"""The end of a line, raw or as in JSON."""
_ESCAPING: Final = "%&\\"
"""The characters that begin escapes: a text without any has no character escaped."""


@lru_cache(maxsize=1024)
def spellings(text: str) -> frozenset[str]:
    """Return *text* in all usual encodings of the whole text."""
    content = text.encode(errors="replace")
    urls = [quote(content, safe=safe) for safe in _SAFE] + [quote_plus(content)]
    urls += [_lower_escapes(url) for url in urls] + [quote(url, safe="") for url in urls]
    contents = (content, text.encode("utf-16-le", errors="replace"))
    encoded = [encode(one).decode().rstrip("=") for encode in (b64encode, urlsafe_b64encode) for one in contents]
    quoted = (show_json(text, ensure_ascii=True)[1:-1], show_json(text)[1:-1])
    twice = [show_json(one, ensure_ascii=True)[1:-1] for one in quoted]
    shown = (repr(text)[1:-1], ascii(text)[1:-1], repr(content)[2:-1])
    xml = (html.escape(text), html.escape(text, quote=False), _numbered(html.escape(text)))
    hexadecimal = (content.hex(), content.hex().upper())
    return frozenset({text, *urls, *encoded, *quoted, *twice, *shown, *xml, *hexadecimal, *_numbers(text)})


@lru_cache(maxsize=1024)
def within_base64(text: str) -> frozenset[str]:
    """Return the base64 characters that represent *text* within a longer text, for each alignment."""
    found = set()
    for content, before in product(
        (text.encode(errors="replace"), text.encode("utf-16-le", errors="replace")), range(3)
    ):
        encoded = b64encode(b"\0" * before + content).decode()
        whole = (before + len(content)) // 3 * 4
        inner = encoded[(before * 8 + 5) // 6 : whole]
        if len(inner) >= _MIN_INNER:
            found |= {inner, inner.replace("+", "-").replace("/", "_")}
    return frozenset(found)


def without_broken(text: str, spelling: str, hidden: str) -> str:
    """Return *text* with *hidden* for *spelling*, which is base64, even if it is broken into lines."""
    if _BREAK.search(text) is None:
        return text
    return _broken(spelling).sub(hidden, text)


@lru_cache(maxsize=4096)
def _broken(spelling: str) -> re.Pattern[str]:
    return re.compile(f"(?:{_BREAK.pattern})?".join(map(re.escape, spelling)))


def without_escaped(text: str, secret: str, hidden: str) -> str:
    """Return *text* with *hidden* for *secret*, whichever of its characters are escaped, and in whichever way."""
    if not any(sign in text for sign in _ESCAPING):
        return text
    return _tolerant(secret).sub(hidden, text)


@lru_cache(maxsize=1024)
def _tolerant(secret: str) -> re.Pattern[str]:
    return re.compile("".join(f"(?:{'|'.join(_forms(char))})" for char in secret))


def _forms(char: str) -> Iterator[str]:
    """Yield the forms of one character as regular expressions: plain, as in URLs, in XML, in JSON."""
    yield re.escape(char)
    code, encoded = ord(char), char.encode(errors="replace")
    yield "".join(f"%(?:25)*(?i:{byte:02x})" for byte in encoded)
    if char == " ":
        yield r"\+"
    yield f"&(?:amp;)*(?:#0*{code}|(?i:#x0*{code:x}));"
    if code in codepoint2name:
        yield f"&(?:amp;)*{codepoint2name[code]};"
    if char == "'":
        yield "&(?:amp;)*apos;"
    escaped = show_json(char, ensure_ascii=True)[1:-1]
    yield r"\\+" + re.escape(escaped.lstrip("\\") if len(escaped) > 1 else char)
    wide = char.encode("utf-16-be", errors="replace").hex()
    yield "".join(rf"\\+u(?i:{wide[at : at + 4]})" for at in range(0, len(wide), 4))


def _numbers(text: str) -> Iterator[str]:
    """Yield the notations of a number with an exponent, and in groups of digits."""
    if len(text) < _MIN_SPELLED_DIGITS or not text.isdecimal() or not text.isascii() or len(text) > _MAX_DIGITS:
        return
    digits, exponent = f"{int(text):.{len(text) - 1}e}".split("e")
    for mantissa in {digits, digits.rstrip("0").rstrip(".")}:
        yield from (
            f"{mantissa}{sign}{int(exponent):{width}}" for sign in ("e+", "E+", "e", "E") for width in ("d", "02d")
        )
    yield from (f"{int(text):,}".replace(",", mark) for mark in ",._' \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}")


def _lower_escapes(url: str) -> str:
    return re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), url)


def _numbered(text: str) -> str:
    return text.encode("ascii", "xmlcharrefreplace").decode()


_PREFIX = "SWF_SECRET_"
_MIN_LENGTH = 4
"""A secret of fewer characters is only detected as a whole word in messages: it is a part of too many others."""
_MIN_DIGITS = 8
"""A number of fewer digits cannot be distinguished from others."""
_HIDDEN = "***"

_STRONG = 40.0
"""The minimum entropy, in bits, of a secret that is hidden within other texts of data."""
_WORD, _LONG_WORD = 14.0, 8
"""The entropy of a word, in bits, and the number of letters of a long one."""
_MIXED = 4.5
"""The minimum entropy of a character, in bits, in a text with lower-case and upper-case letters and digits."""
_PARTS = re.compile(r"[^\W\d_]+|\d+|(?:[\W_])+")


class Secrets:
    """The secrets of a worker, by the names that definitions give them."""

    def __init__(self, values: Mapping[str, JSON] | None = None) -> None:
        self._values = {environment_name(name): value for name, value in (values or {}).items()}

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Self:
        """Return the secrets in the file `SWF_SECRETS_FILE`, and in variables `SWF_SECRET_<NAME>`.

        A variable overrides the file; one that holds a JSON object is parsed. Raises UsageError for a file that
        cannot be read as a JSON or YAML object.
        """
        values = _from_file(env["SWF_SECRETS_FILE"]) if env.get("SWF_SECRETS_FILE") else {}
        found = cls(values)
        for key, text in env.items():
            if key.startswith(_PREFIX):
                found._values[key.removeprefix(_PREFIX)] = _structured(text)
        return found

    def beneath(self, values: Mapping[str, JSON]) -> "Secrets":
        """Return these secrets and *values*, which override them."""
        both = Secrets(values)
        both._values = self._values | both._values
        return both

    def get(self, name: str) -> JSON:
        """Return the secret *name*, in any case, with dots or dashes. Raises KeyError if it is unknown."""
        return self._values[environment_name(name)]

    def as_mapping(self, names: Iterable[str]) -> dict[str, JSON]:
        """Return those of *names* that are known, each under the requested name."""
        return {name: self._values[environment_name(name)] for name in names if environment_name(name) in self._values}

    def unprotected(self) -> list[str]:
        """Return the names of secrets so short, or so common, that data may contain them by chance.

        If a secret is an object, each of its properties counts.
        """
        texts = [place for name, value in self._values.items() for place in _places(value, name)]
        return sorted({place for place, text in texts if not is_strong(text)})

    def entrusted(self, names: Iterable[str]) -> dict[str, JSON]:
        """Return all of *names* for a call. Raises CallFailed, which is not retryable, if one is unknown."""
        wanted = list(names)
        known = self.as_mapping(wanted)
        for name in wanted:
            if name not in known:
                variable = f"{_PREFIX}{environment_name(name)}"
                how = f"a worker is given it by {variable} or SWF_SECRETS_FILE"
                raise permanent_failure("UnknownSecret", f"the secret {name!r} is not known here: {how}")
        return known


def scrub(value: JSON, secrets: Mapping[str, JSON]) -> JSON:
    """Return *value*, which is for people to read, with every secret in its texts replaced by `***`.

    A secret is also detected as encoded in URLs, forms, XML, JSON and base64; a secret without a name, such as an older
    one of the many tokens of a worker, only in its original form. One of less than four characters is only replaced as
    a whole word. A secret number is only replaced from eight digits on.
    """
    hidden = _hidden(secrets)
    if not hidden:
        return value
    return _with(value, lambda text: _without(text, hidden), lambda key: _replaced(key, hidden), _digits(secrets))


def withhold(value: JSON, secrets: Mapping[str, JSON]) -> JSON:
    """Return *value*, with which a workflow continues, with each secret replaced by `***`.

    Only certain matches are replaced, since this is data: a text that equals a secret, a number of eight digits or more
    that equals one, and a strong secret in any text or key.
    """
    hidden = _hidden(secrets)
    if not hidden:
        return value

    def without(text: str) -> str:
        alone = text.strip()
        return _HIDDEN if alone in hidden or alone.rstrip("=") in hidden else _replaced(text, hidden)

    return _with(value, without, lambda key: _replaced(key, hidden), _digits(secrets))


def withhold_strong(text: str, secrets: Mapping[str, JSON]) -> str:
    """Return *text*, which a definition uses in decisions, without strong secrets."""
    return _replaced(text, _hidden(secrets))


def scrubbed(fault: CallFailed, secrets: Mapping[str, JSON]) -> CallFailed:
    """Return *fault* without secrets; its code and name, on which definitions decide, only without strong ones."""
    return CallFailed(
        _readable(scrub(fault.message, secrets)),
        code=_readable(withhold_strong(fault.code, secrets)),
        name=_readable(withhold_strong(fault.name, secrets)),
        status=fault.status,
        body=scrub(fault.body, secrets),
        attempt=fault.attempt,
        function=fault.function,
        retryable=fault.retryable,
        retry_after=fault.retry_after,
        cause=None if fault.cause is None else _readable(scrub(fault.cause, secrets)),
    )


@dataclass(frozen=True, slots=True)
class _Known:
    is_strong: bool
    """Whether it is also hidden within other texts of data."""
    is_plain: bool = False
    """Whether it is the secret in its original form, some of whose characters may be escaped."""
    is_base64: bool = False
    """Whether it is base64 of the secret, which may be broken into lines."""


def _hidden(secrets: Mapping[str, JSON]) -> dict[str, _Known]:
    """Return all texts to hide, the longest first."""
    found: dict[str, _Known] = {}
    for name, secret in secrets.items():
        for text in _texts(secret):
            strong = is_strong(text)
            for spelling in spellings(text) if name else (text,):
                is_known = spelling in found and found[spelling].is_strong
                found[spelling] = _Known(strong or is_known, bool(name) and spelling == text)
            for spelling in within_base64(text) if name and strong else ():
                found.setdefault(spelling, _Known(is_strong=True, is_base64=True))
    return dict(sorted(found.items(), key=lambda one: len(one[0]), reverse=True))


def _digits(secrets: Mapping[str, JSON]) -> frozenset[str]:
    """Return the numbers among *secrets* that are long enough to be detected."""
    texts = list(_texts(list(secrets.values())))
    return frozenset(text for text in texts if len(text) >= _MIN_DIGITS and text.replace(".", "", 1).isdecimal())


@lru_cache(maxsize=4096)
def is_strong(secret: str) -> bool:
    """Return whether *secret* is so hard to guess that a text cannot contain it by chance.

    That takes forty bits, in a coarse estimate: a word counts as an entry in a dictionary, and other text by its
    characters. Random runs of letters look like words, so a text of lower-case and upper-case letters and digits has at
    least a fraction of the entropy of its characters.
    """
    parts = _PARTS.findall(secret)
    kinds = (str.islower, str.isupper, str.isdigit)
    least = _MIXED if all(any(is_kind(char) for char in secret) for is_kind in kinds) else 0.0
    return max(sum(map(_bits, parts)), least * len(secret)) >= _STRONG


def _bits(part: str) -> float:
    if part.isdigit():
        return 3.3 * len(part)
    if not part.isalpha():
        return 5.0 * len(part)
    if part.islower() or part.isupper() or part.istitle():
        return min(4.7 * len(part), _WORD + 4.7 * max(0, len(part) - _LONG_WORD))
    return 5.7 * len(part)


def _with(value: JSON, text: Callable[[str], str], key: Callable[[str], str], digits: Container[str]) -> JSON:
    """Return *value* with all its texts and keys converted, and `***` for numbers among *digits*."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return _without_code_points(value, text) or [_with(item, text, key, digits) for item in value]
    if isinstance(value, dict):
        return {key(name): _with(item, text, key, digits) for name, item in value.items()}
    if isinstance(value, int | float) and not isinstance(value, bool) and _written(value) in digits:
        return _HIDDEN
    return value


def _without_code_points(value: list[JSON], text: Callable[[str], str]) -> list[JSON] | None:
    """Return a list of code points, such as `explode` makes of a text, without those that *text* replaces.

    None if it is not such a list, or nothing in it is replaced.
    """
    if not all(type(item) is int and 0 <= item <= sys.maxunicode for item in value):
        return None
    before = "".join(map(chr, value))  # type: ignore[arg-type]  # these are numbers
    after = text(before)
    if after == before:
        return None
    first, *others = after.split(_HIDDEN)
    found: list[JSON] = [*map(ord, first)]
    for part in others:
        found += [_HIDDEN, *map(ord, part)]
    return found


def _without(text: str, hidden: Mapping[str, _Known]) -> str:
    for secret, known in hidden.items():
        if len(secret) >= _MIN_LENGTH:
            text = text.replace(secret, _HIDDEN)
            text = _without_others(text, secret, known)
        elif secret in text:
            text = re.sub(rf"(?<![^\W_]){re.escape(secret)}(?![^\W_])", _HIDDEN, text)
    return text


def _without_others(text: str, secret: str, known: _Known) -> str:
    """Return *text* without the *secret* in encodings that are too many to list."""
    if known.is_plain:
        return without_escaped(text, secret, _HIDDEN)
    return without_broken(text, secret, _HIDDEN) if known.is_base64 else text


def _replaced(text: str, hidden: Mapping[str, _Known]) -> str:
    for secret, known in hidden.items():
        if known.is_strong:
            text = text.replace(secret, _HIDDEN)
            text = _without_others(text, secret, known)
    return text


def _written(number: float) -> str:
    return write_json(number).removesuffix(".0")


def _texts(value: JSON) -> Iterable[str]:
    """Yield the texts in *value*, and its numbers of eight digits or more as texts."""
    if isinstance(value, str) and value.strip():
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if len(text := _written(value)) >= _MIN_DIGITS:
            yield text
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))


def _places(value: JSON, place: str) -> Iterable[tuple[str, str]]:
    """Yield the texts in *value*, each with its place."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _places(item, f"{place}.{name}")
    else:
        yield from ((place, text) for text in _texts(value))


def _readable(text: JSON) -> str:
    """Return *text* without lone surrogates, which JSON can contain, but not text for people."""
    return str(text).encode(errors="replace").decode()


def _structured(text: str) -> JSON:
    """Return the object that *text* is as JSON, or else *text*: a password of digits stays a text."""
    try:
        value = read_json(text) if text.lstrip().startswith("{") else text
    except NotJSON:
        return text
    return value if isinstance(value, dict) else text


def _from_file(name: str) -> dict[str, JSON]:
    try:
        text = Path(name).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = why_unreadable(error)
        raise UsageError(f"the secrets file {name} cannot be read: {reason}", "see SWF_SECRETS_FILE") from error
    try:
        values = read_data(text)
    except ValueError:
        # The parser's message would show the line, which contains secrets.
        raise UsageError(f"the secrets file {name} is neither JSON nor YAML", "see SWF_SECRETS_FILE") from None
    if not isinstance(values, dict):
        raise UsageError(f"the secrets file {name} does not hold an object", "see SWF_SECRETS_FILE")
    return {str(key): value for key, value in values.items()}


def write_line(call: Call, level: int, text: str) -> None:
    """Write *text* as one line that names the function and the instance, without the secrets of *call*."""
    # Data must not look like a separate line.
    line = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    _log.log(
        level,
        "%s: %s [%s]",
        call.function.name,
        scrub(line, {**call.secrets, "": [call.secrets.get(""), *call.made_of_secrets]}),
        call.idempotency_key or "no instance",
    )
