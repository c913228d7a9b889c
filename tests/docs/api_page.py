"""Put into the page about the Python API what docstrings say: `python -m tests.docs.api_page`.

The page has the names; signatures, fields and texts are those of the code.
"""

import ast
import builtins
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Final, TypeAlias, get_args, get_origin

import swf_temporal

PAGE: Final = Path(__file__).parents[2] / "docs" / "api.md"
_REFERENCE: Final = re.compile(r"<!-- reference: (?P<names>[^>]+) -->\n.*?<!-- end of reference -->", re.DOTALL)
_RAISES: Final = re.compile(r"Raises (?P<what>[^.]*)")
_CLASS: Final = re.compile(r"\b[A-Z][a-z]+[A-Z]\w+\b")
PUBLIC: Final = tuple(swf_temporal.__all__)
"""The public names."""
_OF_THE_PACKAGE: Final = {
    "Call": "folder",
    "Callee": "services",
    "CallSettings": "document_lifetime merged credentials for_function for_service for_callee base_url_for "
    "shared_folder_for for_host options_for reaching chooses_local_calls hosts_decide_local_calls urls named",
    "Client": "of server warn_if_unserved",
    "ConsumerSettings": "dead_letter_address",
    "Definition": "language consumed_events event_start outline meant_by schedule words has_attribute cancellation "
    "correlation_value placed_at with_source problem input_of picture keep",
    "Definitions": "check catalogue are_own",
    "EventSettings": "merged",
    "HostPattern": "block has has_address is_single is_broad",
    "Network": "named local check allowed_addresses",
    "Plugin": "opened",
    "Resources": "fetch",
    "SinkSettings": "takes",
    "Source": "problem",
    "Tls": "context",
    "TraceEntry": "lane",
    "Worker": "catalogue functions",
    "WorkerSettings": "version limits",
}
"""By class, the members that other parts of the package use. They are not on the page, and not public."""
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def names_in(page: str) -> list[str]:
    return [name for found in _REFERENCE.finditer(page) for name in found["names"].split()]


def written(page: str) -> str:
    return _REFERENCE.sub(
        lambda found: "\n\n".join(
            [f"<!-- reference: {found['names']} -->",
             *(part for name in found["names"].split() for part in _reference(name)), "<!-- end of reference -->"]
        ),
        page,
    )  # fmt: skip


def unknown_errors() -> list[str]:
    """Return what public docstrings say is raised, and what neither is public nor Python's."""
    known = {*PUBLIC, *dir(builtins)}
    return [
        f"{name}: {error}"
        for name in PUBLIC
        for part in _reference(name)
        for raised in _RAISES.findall(part.replace("\n", " "))
        for error in _CLASS.findall(raised)
        if error not in known
    ]


def _reference(name: str) -> Iterator[str]:
    node, described = _definition(name)
    if isinstance(node, ast.ClassDef):
        yield f"### `{name}`"
        bases = [ast.unparse(base) for base in node.bases]
        public = [f"`{base}`" for base in bases if base in PUBLIC]
        yield _wrapped((f"A kind of {' and '.join(public)}. " if public else "") + _text(described))
        yield from _members(name, node)
    elif isinstance(node, _Function):
        yield f"### `{name}`"
        yield _signature(node, name)
        yield _wrapped(_text(described))
    else:
        yield f"### `{name}`"
        yield _wrapped(_text(described))


def is_public(name: str, member: str) -> bool:
    """Return whether the *member* of the public class *name* is public, too."""
    return member not in _OF_THE_PACKAGE.get(name, "").split() and (
        member in ("__init__", "__aenter__") or not member.startswith("_")
    )


def _members(name: str, node: ast.ClassDef) -> Iterator[str]:
    fields = []
    for member, after in zip(node.body, [*node.body[1:], None], strict=True):
        match member:
            case ast.AnnAssign(target=ast.Name(id=field)) if _is_field(member) and is_public(name, field):
                fields.append(_field(field, member.annotation, _string(after)))
            case ast.FunctionDef() | ast.AsyncFunctionDef() if _is_property(member) and is_public(name, member.name):
                fields.append(_field(member.name, member.returns, ast.get_docstring(member)))
    if fields:
        yield "\n".join(fields)
    for member in node.body:
        if isinstance(member, _Function) and _is_shown(member) and is_public(name, member.name):
            yield _signature(member, name if member.name == "__init__" else f"{name}.{member.name}")
            yield _wrapped(_text(ast.get_docstring(member)))


def _is_field(member: ast.AnnAssign) -> bool:
    text = ast.unparse(member)
    return not text.startswith("_") and "ClassVar" not in text


def _is_shown(member: _Function) -> bool:
    return not _is_property(member) and ast.get_docstring(member) is not None


def _is_property(member: _Function) -> bool:
    return any(ast.unparse(one) in ("property", "cached_property") for one in member.decorator_list)


def _plain(annotation: ast.expr) -> ast.expr:
    match annotation:
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=said)):
            return said[0]
    return annotation


def _field(name: str, annotation: ast.expr | None, described: str | None) -> str:
    kind = "" if annotation is None else f": {ast.unparse(_plain(annotation)).strip(chr(39))}"
    text = f"- `{name}{kind}`" + (f": {_text(described)}" if described else "")
    return textwrap.fill(text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _signature(node: _Function, name: str) -> str:
    arguments = ast.parse(ast.unparse(node)).body[0]
    assert isinstance(arguments, _Function)
    _unquote(arguments)
    given = arguments.args
    is_static = any(ast.unparse(one) == "staticmethod" for one in node.decorator_list)
    if ("." in name or name[0].isupper()) and not is_static:
        given.args = given.args[1:]
    prefix = "await " if isinstance(node, ast.AsyncFunctionDef) else ""
    returns = "" if arguments.returns is None or node.name == "__init__" else f" -> {ast.unparse(arguments.returns)}"
    text = f"{prefix}{name}({ast.unparse(given)}){returns}".replace("'", '"')
    if len(text) > 116:
        text = f"{prefix}{name}(\n" + "".join(f"    {part},\n" for part in _parts(given)) + f"){returns}"
    return f"```text\n{text}\n```"


def _unquote(function: _Function) -> None:
    for one in [*ast.walk(function.args), function]:
        field = "returns" if isinstance(one, _Function) else "annotation"
        written = getattr(one, field, None)
        if isinstance(written, ast.Constant) and isinstance(written.value, str):
            setattr(one, field, ast.parse(written.value, mode="eval").body)


def _parts(given: ast.arguments) -> list[str]:
    positional = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [*[None] * (len(positional) - len(given.defaults)), *given.defaults]
    parts = [_parameter(one, default) for one, default in zip(positional, defaults, strict=True)]
    if given.vararg:
        parts.append(f"*{ast.unparse(given.vararg)}")
    elif given.kwonlyargs:
        parts.append("*")
    parts += [_parameter(one, default) for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return [*parts, f"**{ast.unparse(given.kwarg)}"] if given.kwarg else parts


def _parameter(one: ast.arg, default: ast.expr | None) -> str:
    return (ast.unparse(one) + ("" if default is None else f" = {ast.unparse(default)}")).replace("'", '"')


@cache
def _definition(name: str) -> tuple[ast.AST, str | None]:
    thing = getattr(swf_temporal, name)
    if get_origin(thing) is Annotated:
        thing, name = get_args(thing)[0], get_args(thing)[0].__name__
    module = importlib.import_module(getattr(thing, "__module__", "") if name != "JSON" else "swf_temporal.base.data")
    body = ast.parse(inspect.getsource(module)).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef() if node.name == name:
                return node, ast.get_docstring(node)
            case ast.AnnAssign(target=ast.Name(id=found)) if found == name:
                return node, _string(after)
    raise LookupError(name)


def _string(node: ast.AST | None) -> str | None:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return inspect.cleandoc(text)
    return None


def _text(described: str | None) -> str:
    return described or ""


def _wrapped(text: str) -> str:
    """Return *text* in lines of at most 120 characters; what is indented is a program."""
    parts: list[str] = []
    for part in text.split("\n\n"):
        if part.startswith("    ") and parts and parts[-1].startswith("    "):
            parts[-1] += f"\n\n{part}"
        else:
            parts.append(part)
    return "\n\n".join(
        f"```text\n{textwrap.dedent(part)}\n```"
        if part.startswith("    ")
        else textwrap.fill(" ".join(part.split()), 120, break_long_words=False, break_on_hyphens=False)
        for part in parts
    )


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
