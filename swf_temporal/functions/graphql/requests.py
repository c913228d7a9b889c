"""GraphQL operations as texts, and as requests of HTTP."""

import re
from collections.abc import Mapping

from swf_temporal.base.data import JSON, plain_numbers
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.strict_json import write_json
from swf_temporal.functions.graphql.type import is_name
from swf_temporal.functions.http.requests import Request

_TOKEN = re.compile(r'"""(?:\\"""|[^"]|"(?!""))*"""|"(?:\\.|[^"\\\n])*"|#[^\n]*|[{}"]')
_ACCEPTED = "application/graphql-response+json, application/json;q=0.9"


def post(url: str, document: str, variables: Mapping[str, JSON] | None = None) -> Request:
    """Return the request that sends *document*, with its *variables*, to the endpoint at *url*."""
    body: dict[str, JSON] = {"query": document}
    if variables:
        body["variables"] = dict(variables)
    typed = (("Accept", _ACCEPTED), ("Content-Type", "application/json"))
    return Request("POST", url, typed, write_json(body).encode())


def operation(kind: str, field: str, arguments: Mapping[str, JSON], types: Mapping[str, str], selection: str) -> str:
    """Return the document that asks for one *field*; *kind* is `query` or `mutation`.

    Arguments that have one of the *types* become variables; the others are written into the document.
    """
    declared = ", ".join(f"${name}: {types[name]}" for name in arguments if name in types)
    given = ", ".join(
        f"{name_of(name)}: ${name}" if name in types else f"{name_of(name)}: {literal(value)}"
        for name, value in arguments.items()
    )
    head = f"{kind}({declared})" if declared else kind
    call = f"{field}({given})" if given else field
    return f"{head} {{ {call} {selection} }}" if selection else f"{head} {{ {call} }}"


def literal(value: JSON) -> str:
    """Return *value* as it stands in a document. A text is a string there; nothing tells that it means an enum."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name_of(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    return write_json(plain_numbers(value))  # an argument of the type Int may be 2, and not 2.0


def name_of(text: str) -> str:
    """Return *text* if it can be a name in GraphQL. Raises CallFailed otherwise."""
    if not is_name(text):
        raise permanent_failure("BadArguments", f"'{text}' cannot be the name of an argument in GraphQL")
    return text


def selection_set(text: JSON) -> str:
    """Return a selection set with its braces, or nothing where none is given.

    Raises CallFailed for what is not a selection set, and for one that would end before its text does: data that
    is written into it must not be able to add an operation of its own.
    """
    if text is None:
        return ""
    if not isinstance(text, str):
        raise permanent_failure(
            "BadArguments", f"the selectionSet must be a text such as '{{ id, name }}', but is {text!r}"
        )
    selection = text.strip()
    if not selection:
        return ""
    if not selection.startswith("{"):
        selection = f"{{ {selection} \n}}"
    depth = 0
    for token in _TOKEN.finditer(selection):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if token[0] == '"' or (depth == 0 and token[0] == "}" and selection[token.end() :].strip()):
            raise _not_balanced(text)
    if depth:
        raise _not_balanced(text)
    return selection


def _not_balanced(text: str) -> CallFailed:
    return permanent_failure(
        "BadArguments", f"the selectionSet {text!r} is not one: its braces or quotation marks do not match"
    )
