"""Paths, and texts with paths in them, as 0.8 writes them."""

from typing import Any, Final

from swf_temporal.base.strict_json import show_json
from swf_temporal.expressions.early_paths import PathInText, pieces_of
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds

SYNONYMS: Final = {"exception": "error"}
"""Names in the draft's examples that differ from its text."""


def path(text: Any) -> JqFinds:
    """Return what the path *text* finds. Raises NotInJqError."""
    return JqFinds(str(text), SYNONYMS)


def braced(jq: str) -> str:
    """Return an expression as definitions write it."""
    return f"${{ {jq} }}"


def value(text: Any) -> str:
    """Return the expression that yields what the path *text* finds. Raises NotInJqError."""
    return braced(path(text).value)


def template(given: Any) -> Any:
    """Return *given* with the paths in its texts in braces, changed in place where it can be. Raises NotInJqError."""
    if isinstance(given, dict):
        for key in given:
            given[key] = template(given[key])
    elif isinstance(given, list):
        given[:] = [template(item) for item in given]
    elif isinstance(given, str):
        return _text(given)
    return given


def literal(text: str) -> str:
    return text if "${" not in text else braced(show_json(text))


def _text(text: str) -> str:
    pieces = pieces_of(text)
    if len(pieces) == 1:
        piece = pieces[0]
        if not isinstance(piece, PathInText):
            return text if "${" not in text else literal(text)
        return value(piece)
    made = []
    for piece in pieces:
        if isinstance(piece, PathInText):
            finds = path(piece)
            made.append(braced(finds.found if finds.is_singular else finds.value))
        else:
            made.append(literal(piece))
    return "".join(made)
