"""The secrets of a worker, and how they are kept out of what people read."""

import html
import re
import sys
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html.entities import codepoint2name
from itertools import product
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote, quote_plus

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, UsageError, permanent_failure
from swf_temporal.base.files import why_unreadable
from swf_temporal.base.function_types import environment_name
from swf_temporal.base.strict_json import NotJSON, read_json, show_json, write_json
from swf_temporal.text.parsing import read_data

_SAFE: Final = ("", "/", "!'()*~", "!$&'()*+,;=:@", "!$&'()*+,;=:@/?")
"""What those who encode URLs leave as it is: Python, JavaScript, and RFC 3986 in a segment and in a query."""
_MIN_INNER: Final = 12
"""The least number of characters of base64 by which a text is known that was encoded within another."""
_MIN_SPELLED_DIGITS, _MAX_DIGITS = 8, 300
"""The numbers of digits of a number that is known in other spellings, too."""
_BREAK: Final = re.compile(r"\r?\n[ \t]*|(?:\\+r)?\\+n")
"""The end of a line, as it is or as JSON has it."""
_ESCAPING: Final = "%&\\"
"""A text without any of these has no character escaped."""


@lru_cache(maxsize=1024)
def spellings(text: str) -> frozenset[str]:
    """Return how *text* is written where all of it is encoded in one of the usual ways."""
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
    """Return what base64 of a longer text has of *text* in the middle of it, wherever it begins there."""
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
    """Return *text* with *hidden* for *spelling*, which is base64, where it is broken into lines."""
    if _BREAK.search(text) is None:
        return text
    return _broken(spelling).sub(hidden, text)


@lru_cache(maxsize=4096)
def _broken(spelling: str) -> re.Pattern[str]:
    return re.compile(f"(?:{_BREAK.pattern})?".join(map(re.escape, spelling)))


def without_escaped(text: str, secret: str, hidden: str) -> str:
    """Return *text* with *hidden* for *secret*, whichever of its characters are escaped, and in whichever ways."""
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
    """Yield how a number is written with an exponent, and in groups of digits."""
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
"""A secret of fewer characters is found in messages as a word of its own: it is a part of too many others."""
_MIN_DIGITS = 8
"""A number of fewer digits is not known from others."""
_HIDDEN = "***"

_STRONG = 40.0
"""The least entropy, in bits, of a secret that is hidden inside other texts of data."""
_WORD, _LONG_WORD = 14.0, 8
"""The entropy of a word, in bits, and its number of letters."""
_MIXED = 4.5
"""The least entropy of a character, in bits, in a text that has small letters, capitals and digits."""
_PARTS = re.compile(r"[^\W\d_]+|\d+|(?:[\W_])+")


class Secrets:
    """The secrets that a worker knows, by the names that definitions give them."""

    def __init__(self, values: Mapping[str, JSON] | None = None) -> None:
        self._values = {environment_name(name): value for name, value in (values or {}).items()}

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Self:
        """Return the secrets in the file that `SWF_SECRETS_FILE` names, and in variables `SWF_SECRET_<NAME>`.

        A variable wins over the file; one that holds a JSON object is read as that. Raises UsageError for a
        file that cannot be read as a JSON or YAML object.
        """
        values = _from_file(env["SWF_SECRETS_FILE"]) if env.get("SWF_SECRETS_FILE") else {}
        found = cls(values)
        for key, text in env.items():
            if key.startswith(_PREFIX):
                found._values[key.removeprefix(_PREFIX)] = _structured(text)
        return found

    def beneath(self, values: Mapping[str, JSON]) -> "Secrets":
        """Return these and *values*, which win."""
        both = Secrets(values)
        both._values = self._values | both._values
        return both

    def get(self, name: str) -> JSON:
        """Return the secret *name*, in any case, with dots or dashes. Raises KeyError if there is none."""
        return self._values[environment_name(name)]

    def as_mapping(self, names: Iterable[str]) -> dict[str, JSON]:
        """Return those of *names* that are known here, each under the name that was asked for."""
        return {name: self._values[environment_name(name)] for name in names if environment_name(name) in self._values}

    def unprotected(self) -> list[str]:
        """Return the names of those that are so short, or so common, that data may hold them by chance.

        Of a secret that is an object, each of its properties is one.
        """
        texts = [place for name, value in self._values.items() for place in _places(value, name)]
        return sorted({place for place, text in texts if not is_strong(text)})

    def entrusted(self, names: Iterable[str]) -> dict[str, JSON]:
        """Return all of *names* for a call. Raises CallFailed, which no repetition mends, if one is not known here."""
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

    A secret is also known as URLs, forms, XML, JSON and base64 have it; what stands under no name, such as the many
    tokens that a worker may hold, only as it is. One of less than four characters is replaced where it is a word of its
    own. A number that is a secret is one from eight digits on.
    """
    hidden = _hidden(secrets)
    if not hidden:
        return value
    return _with(value, lambda text: _without(text, hidden), lambda key: _replaced(key, hidden), _digits(secrets))


def withhold(value: JSON, secrets: Mapping[str, JSON]) -> JSON:
    """Return *value*, with which a workflow goes on, without secrets: each of them is replaced by `***`.

    Only where it is one for sure, since these are data: a text that is a secret and nothing else, a number of eight
    digits or more that is one, and a strong secret in any text or key.
    """
    hidden = _hidden(secrets)
    if not hidden:
        return value

    def without(text: str) -> str:
        alone = text.strip()
        return _HIDDEN if alone in hidden or alone.rstrip("=") in hidden else _replaced(text, hidden)

    return _with(value, without, lambda key: _replaced(key, hidden), _digits(secrets))


def withhold_strong(text: str, secrets: Mapping[str, JSON]) -> str:
    """Return *text*, by which a definition decides, without strong secrets."""
    return _replaced(text, _hidden(secrets))


def scrubbed(fault: CallFailed, secrets: Mapping[str, JSON]) -> CallFailed:
    """Return *fault* without secrets: of its code and name, by which definitions decide, without strong ones alone."""
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
    """Whether it is hidden inside other texts of data, too."""
    is_plain: bool = False
    """Whether it is the secret as it is, which may have some of its characters escaped."""
    is_base64: bool = False
    """Whether it is base64 of it, which may be broken into lines."""


def _hidden(secrets: Mapping[str, JSON]) -> dict[str, _Known]:
    """Return all that is to be hidden, the longest first."""
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
    """Return the numbers among *secrets* that are long enough to be known by."""
    texts = list(_texts(list(secrets.values())))
    return frozenset(text for text in texts if len(text) >= _MIN_DIGITS and text.replace(".", "", 1).isdecimal())


@lru_cache(maxsize=4096)
def is_strong(secret: str) -> bool:
    """Tell whether *secret* is so hard to guess that a text which holds it can only have it from there.

    That takes forty bits, in a coarse estimate: a word has as many as a place in a dictionary, and another text has
    those of its characters. Runs of letters that chance has made look like words, so a text of small letters, capitals
    and digits has no fewer than a part of what its characters could have.
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
    """Return *value* with all its texts and keys made into others, and `***` for numbers that are among *digits*."""
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
    """Return a list of the numbers of characters, as `explode` makes it of a text, without those that *text* replaces.

    None if it is no such list, or nothing of it is replaced.
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
    """Return *text* without the *secret* in spellings that are too many to list."""
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
    """Yield the texts in *value*, and its numbers from eight digits on as they are written."""
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
    """Yield the texts in *value*, each with where it stands."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _places(item, f"{place}.{name}")
    else:
        yield from ((place, text) for text in _texts(value))


def _readable(text: JSON) -> str:
    """Return *text* without halves of characters: JSON can have them, and what people read cannot."""
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
        # The parser's message would show the line, and what stands there is secret.
        raise UsageError(f"the secrets file {name} is neither JSON nor YAML", "see SWF_SECRETS_FILE") from None
    if not isinstance(values, dict):
        raise UsageError(f"the secrets file {name} does not hold an object", "see SWF_SECRETS_FILE")
    return {str(key): value for key, value in values.items()}
