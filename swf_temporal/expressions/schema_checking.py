"""Validates data against a JSON Schema, and describes each violation in a sentence: within a helper process.

Schemas may use the drafts 4 to 2020-12, by their `$schema`; the default is the latest. References are followed within
the schema and to the drafts themselves, and nowhere else: a run must not depend on a network.
jsonschema is imported only if there is a schema, since most definitions have none.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, time
from email.headerregistry import HeaderRegistry
from functools import cache
from ipaddress import ip_address
from itertools import islice
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from swf_temporal.base.data import JSON
from swf_temporal.expressions.patterns import BadPattern, compiled

if TYPE_CHECKING:
    from jsonschema import FormatChecker
    from jsonschema.protocols import Validator
    from referencing import Registry

_LABEL: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_HOSTNAME: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_MAX_HOSTNAME: Final = 255
_UUID: Final = re.compile(r"[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}")
_POINTER: Final = re.compile(r"(?:/(?:[^~/]|~0|~1)*)*")
_RELATIVE_POINTER: Final = re.compile(rf"(?:0|[1-9][0-9]*)(?:#|{_POINTER.pattern})")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME: Final = re.compile(r"(\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_NOT_IN_URLS: Final = re.compile(r"[\x00-\x1f\x7f\\]|%(?![0-9a-fA-F]{2})")
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_BRACES: Final = re.compile(r"[^{}]*(?:\{[^{}]*\}[^{}]*)*")


def _is_date(text: str) -> bool:
    return _DATE.fullmatch(text) is not None and _can(date.fromisoformat, text)


def _is_time(text: str) -> bool:
    match = _TIME.fullmatch(text)
    return match is not None and _can(time.fromisoformat, f"{match[1]}{match[2] or ''}")


def _is_date_time(text: str) -> bool:
    day, separator, clock = text.partition("T")
    if not separator:
        return _is_date(text) or _is_time(text)
    has_offset = clock.endswith("Z") or re.search(r"[+-]\d\d:\d\d$", clock) is not None
    return has_offset and _is_date(day) and _is_time(clock)


def _is_email(text: str) -> bool:
    try:
        header: Any = HeaderRegistry()("to", text)
        (address,) = header.addresses
    except Exception:  # noqa: BLE001 - the library's parser raises whatever comes, of texts that are not addresses
        return False
    return not header.defects and bool(address.username and address.domain)


def _is_address(text: str, separator: str) -> bool:
    return separator in text and "%" not in text and _can(ip_address, text)


def _is_reference(text: str) -> bool:
    if _NOT_IN_URLS.search(text):
        return False
    if ":" in text.partition("/")[0] and not _SCHEME.match(text):
        return False
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    return " " not in parts.netloc


def _is_regex(text: str) -> bool:
    try:
        compiled(text)
    except BadPattern:
        return False
    return True


FORMATS: Final[dict[str, Callable[[str], bool]]] = {
    "date": _is_date,
    "time": _is_time,
    "date-time": _is_date_time,
    "hostname": lambda text: _HOSTNAME.fullmatch(text) is not None and len(text) <= _MAX_HOSTNAME,
    "email": _is_email,
    "idn-email": _is_email,
    "ipv4": lambda text: _is_address(text, "."),
    "ipv6": lambda text: _is_address(text, ":"),
    "uri": lambda text: _SCHEME.match(text) is not None and _is_reference(text),
    "uri-reference": _is_reference,
    "iri": lambda text: _SCHEME.match(text) is not None and _is_reference(text),
    "iri-reference": _is_reference,
    "uri-template": lambda text: _is_reference(text) and _BRACES.fullmatch(text) is not None,
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
    "regex": _is_regex,
    "json-pointer": lambda text: _POINTER.fullmatch(text) is not None,
    "relative-json-pointer": lambda text: _RELATIVE_POINTER.fullmatch(text) is not None,
}
"""For each format, a function that says whether a text has it."""


@cache
def format_checker() -> "FormatChecker":
    """Return the checker of formats for a validator of JSON Schemas."""
    from jsonschema import FormatChecker  # noqa: PLC0415 - heavy, and seldom needed

    checker = FormatChecker(formats=())
    for name, has_format in FORMATS.items():
        checker.checks(name)(_of_texts(has_format))
    return checker


def _of_texts(has_format: Callable[[str], bool]) -> Callable[[object], bool]:
    return lambda value: not isinstance(value, str) or has_format(value)


def _can(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


MAX_VIOLATIONS = 5
"""The number of problems with data that are reported."""

MAX_PLACED = 100
"""The number of problems with the data of a form that are reported."""
_MAX_QUOTED = 200
_INCLUDED = re.compile(r"#/\$defs/([^/]*\.[^/]*)(.*)")
DATA_KEYWORDS = ("const", "enum", "default", "examples")
"""Keywords under which a `$ref` is data and refers to nothing."""


class BadSchema(ValueError):  # noqa: N818 - named for what it is about
    """A value is not a valid schema. `path` leads to the invalid part."""

    def __init__(self, message: str, path: Sequence[str | int] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = tuple(path)


class SchemaCheck:
    """A compiled JSON Schema. Only the limits of its process bound the time and memory of a validation."""

    def __init__(self, schema: JSON, formats: "FormatChecker | None" = None) -> None:
        """Compile *schema*, whose values of `format` are checked by *formats*, if given.

        Raises BadSchema if it is not valid, or refers to something outside itself.
        """
        self._validator = _validator(schema, formats)

    def violations(self, data: JSON) -> list[str]:
        """Return the violations in *data*, each with its path; a few at most."""
        try:
            found = [_sentence(error) for error in islice(self._validator.iter_errors(data), MAX_VIOLATIONS + 1)]
        except RecursionError:
            return [nested_too_deeply()]
        return found if len(found) <= MAX_VIOLATIONS else [*found[:MAX_VIOLATIONS], "and more"]

    def placed(self, data: JSON) -> list[list[Any]]:
        """Return the violations in *data* for a form: the path of each, its keyword, and what is wrong there."""
        try:
            return [_placed(error) for error in islice(self._validator.iter_errors(data), MAX_PLACED)]
        except RecursionError:
            return [[[], "", nested_too_deeply()]]


def nested_too_deeply() -> str:
    """Return the violation for endless recursion of the schema or the data."""
    return "$: the schema refers to itself in a cycle, or the data is nested too deeply"


def _validator(schema: Any, formats: "FormatChecker | None") -> "Validator":
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - heavy, and seldom needed
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # noqa: PLC0415 - has no types

    if not isinstance(schema, Mapping | bool):
        raise BadSchema("a JSON Schema is an object, or true or false")
    kind = _draft(schema)
    try:
        kind.check_schema(schema, format_checker=kind.FORMAT_CHECKER)
        _check_parts(schema, kind, REGISTRY)
    except SchemaError as error:
        raise BadSchema(_shortened(error.message), list(error.absolute_path)) from None
    except RecursionError:
        raise BadSchema("it is nested too deeply") from None
    if isinstance(schema, Mapping):
        # For a reference back to the root, the library would use its own validator of that draft.
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    ready: Validator = _bounded(kind)(schema, registry=REGISTRY, format_checker=formats)
    return ready


@cache
def _bounded(kind: Any) -> Any:
    """Return the validator *kind* with our regular expressions in place of Python's."""
    from jsonschema.exceptions import ValidationError  # noqa: PLC0415 - heavy, and seldom needed
    from jsonschema.validators import extend  # noqa: PLC0415 - as above

    def pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[Any]:
        if validator.is_type(instance, "string") and compiled(pattern).search(instance) is None:
            yield ValidationError(f"{instance!r} does not match {pattern!r}")

    return extend(kind, {"pattern": pattern})  # type: ignore[no-untyped-call]  # has no types


def _draft(schema: Any) -> Any:
    """Return the validator of the draft that *schema* is written in."""
    from jsonschema.validators import Draft202012Validator, validator_for  # noqa: PLC0415 - heavy, and seldom needed

    if isinstance(schema, bool) or "$schema" not in schema:
        return Draft202012Validator
    kind: Any = None
    if isinstance(schema["$schema"], str):
        with suppress(ValueError):  # not even a URI
            kind = validator_for(schema, default=None)  # type: ignore[arg-type]  # its types are too narrow
    if kind is None:
        raise BadSchema(f"{schema['$schema']!r} is not a draft of JSON Schema that is known here", ["$schema"])
    return kind


def _check_parts(schema: Any, kind: Any, registry: "Registry[Any]") -> None:
    """Refuse references that lead nowhere, and invalid patterns: in a run it would be too late."""
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - heavy, and seldom needed
    from referencing.jsonschema import specification_with  # noqa: PLC0415 - as above

    specification = specification_with(kind.META_SCHEMA.get("$schema") or kind.META_SCHEMA["id"])
    root = specification.create_resource(schema)
    resolver = registry.resolver_with_root(root)
    for path, part, base in _parts(schema, (), resolver, specification):
        _check_patterns(part, path)
        reference = part.get("$ref")
        if not isinstance(reference, str):
            continue
        try:
            base.lookup(reference)
        except Unresolvable:
            message = f"the reference {_as_written(reference)!r} leads to nothing within the schema"
            raise BadSchema(message, [*path, "$ref"]) from None


def _as_written(reference: str) -> str:
    """Return *reference* with the name of its document, if that was included under `$defs`."""
    found = _INCLUDED.fullmatch(reference)
    return reference if found is None else f"{unquote(found[1]).replace('~1', '/').replace('~0', '~')}#{found[2]}"


def _check_patterns(part: Mapping[str, JSON], path: tuple[str | int, ...]) -> None:
    named = part.get("patternProperties")
    written = [(one, (*path, "patternProperties", one)) for one in named] if isinstance(named, Mapping) else []
    if isinstance(part.get("pattern"), str):
        written.append((str(part["pattern"]), (*path, "pattern")))
    for pattern, place in written:
        try:
            compiled(pattern)
        except BadPattern as error:
            raise BadSchema(f"{pattern!r} is not a pattern: {error}", place) from None


def _parts(
    value: Any, path: tuple[str | int, ...], base: Any, specification: Any
) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, JSON], Any]]:
    """Yield every object in a schema, with its path and the base of references in it."""
    if isinstance(value, Mapping):
        if path and isinstance(value.get("$id", value.get("id")), str):  # and not properties with such a name
            base = base.in_subresource(specification.create_resource(value))
        yield path, value, base
        for key, item in value.items():
            if key not in DATA_KEYWORDS:
                yield from _parts(item, (*path, key), base, specification)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _parts(item, (*path, index), base, specification)


def _sentence(error: Any) -> str:
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    return f"${where}: {_shortened(error.message)}"


def _placed(error: Any) -> list[Any]:
    path, message = list(error.absolute_path), _shortened(error.message)
    if error.validator == "required":  # the property that is missing is the place
        named = [one for one in error.validator_value if error.message == f"{one!r} is a required property"]
        missing = next(iter(named), None)
        path, message = (path, message) if missing is None else ([*path, missing], "this is required")
    return [path, str(error.validator), message]


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}…"
