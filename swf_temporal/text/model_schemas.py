"""The shared parts of all JSON Schemas: their dialect, and descriptions, which are the texts under the fields."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def field_docs(kind: type) -> Iterator[tuple[str, str]]:
    """Yield the fields of *kind* that have a text under them in its source, each with the text."""
    body: list[Any] = getattr(ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0], "body", [])
    for node, following in pairwise(body):
        match node, following:
            case ast.AnnAssign(target=ast.Name(id=field)), ast.Expr(value=ast.Constant(value=str(text))):
                yield field, " ".join(text.split())
