"""Rules about expressions: they compile, what they use has a value, secrets stay out, and no text was meant as one."""

import re
from collections.abc import Iterator
from typing import Final

from swf_temporal.base.errors import Position
from swf_temporal.expressions.compiled import BadExpression, Compiled
from swf_temporal.expressions.js import EngineMissing
from swf_temporal.expressions.targets import members
from swf_temporal.languages.dsl.expressions import ARGUMENTS, RuntimeExpressions
from swf_temporal.languages.dsl.model.workflow import Workflow
from swf_temporal.languages.dsl.names import LIKE_ZIGFLOW
from swf_temporal.languages.dsl.validation.fields import Field, fields_of
from swf_temporal.languages.dsl.validation.walk import Report, Walk
from swf_temporal.languages.expression_hints import hint_for_syntax, hint_for_variable, hint_for_word, meant, names_in
from swf_temporal.text.origin import Source
from swf_temporal.text.suggestions import meant_or_known

_SECRETS: Final = "secrets"
_WHERE: Final = {
    "input": "before the input of a task is transformed, '.' is its input",
    "output": "only export.as has it; in output.as, '.' is the output",
    "task": "only tasks have it",
    "context": "where events start instances, there is only the event, '.'",
    "workflow": "where events start instances, there is only the event, '.'",
    "runtime": "where events start instances, there is only the event, '.'",
    "authorization": "only a call with an authentication policy has it",
}
"""Hints for arguments without a value."""
_ALLOWED: Final = (
    "only the arguments of calls and processes, their input.from and authentication policies may have secrets: use it "
    "there"
)
_FOREIGN: Final = ("code", "command")
"""The keys of processes whose texts are in other languages."""
_OF_ZIGFLOW: Final = tuple(
    f"{name} is not defined" for name in ("$data", "$env", "uuid/0", "timestamp/0", "timestamp_iso8601/0")
)
"""What the compiler says about the variables and functions of zigflow."""
_JS_MEMBER: Final = re.compile(r"\$secrets(?:\.([A-Za-z_]\w*)|\[\s*[\"']([^\"']+)[\"']\s*\])")


_FILTERS: Final = ("catch.when", "catch.exceptWhen")
"""The fields that decide about an error, and whose data are the input of the task."""
_OF_ERROR: Final = re.compile(r"(?<![\w$)\]?.])\.(?:status|type|title|detail|instance)\b")


def check_expressions(walk: Walk, report: Report) -> None:
    """Add the problems of the expressions in a definition."""
    workflow, fields = walk.workflow, list(fields_of(walk))
    # A retry policy that no task uses is written for the usual name of an error.
    evaluate, variables = workflow.evaluate, walk.variables | {"error"}
    is_loose = evaluate.mode == "loose"
    try:
        expressions = RuntimeExpressions(
            variables, evaluate.language, is_loose=is_loose, texts=lambda: _together(fields)
        )
    except BadExpression as error:
        hint = "leave it out for jq, or write js"
        report.error("expression-lang", f"evaluate.language: {error.message}", evaluate.where.value("language"), hint)
        return
    known = ARGUMENTS.union(variables)
    names = frozenset[str]().union(
        *(names_in(field.text) for field in fields if field.is_expression or "${" in field.text)
    )
    for field in fields:
        try:
            compiled = _compiled(field, expressions)
        except EngineMissing as error:
            message = f"{field.owner}: {field.key}: {error.message}"
            report.error("expression-syntax", message, field.position)
            return
        except BadExpression as error:
            report_syntax(field, error, known, report)
            continue
        if not (field.is_expression or is_loose or "${" in field.text):
            _plain(field, expressions, names, report)
        if field.key in _FILTERS and not compiled.mentions and (found := _OF_ERROR.search(field.text)):
            message = f"{field.owner}: {field.key} reads {found[0]} of the task's input"
            hint = f"the error is a variable: $error{found[0]}, or with the name that catch.as gives it"
            report.warning("error-in-data", message, field.position, hint)
        if compiled.mentions:
            is_perhaps = is_loose and not field.is_expression and "${" not in field.text
            _mentions(field, compiled, workflow, report, is_perhaps=is_perhaps)


def _plain(field: Field, expressions: RuntimeExpressions, names: frozenset[str], report: Report) -> None:
    """Report a text that looks like an expression; *names* are those of fields in the definition's expressions."""
    found = None if field.key in _FOREIGN else meant(field.text, expressions, names)
    if found is not None:
        message = f"{field.owner}: {field.key} is the text {field.text.strip()!r}"
        report.warning("plain-text", message, field.position, f"did you mean '${{ {found} }}'?")


def _compiled(field: Field, expressions: RuntimeExpressions) -> Compiled:
    return expressions.expression(field.text) if field.is_expression else expressions.template(field.text)


def _together(fields: list[Field]) -> Iterator[str]:
    """Yield the texts with expressions, which are compiled together."""
    for field in fields:
        if "${" in field.text:
            yield field.text
        elif field.is_expression:
            yield f"${{{field.text}}}"


def report_syntax(field: Field, error: BadExpression, known: frozenset[str], report: Report) -> None:
    """Report that the expression of *field* does not compile; *known* are the variables that it may name."""
    message = f"{field.owner}: the expression in {field.key} does not compile: {error.message}"
    hint = (
        "write an expression, such as '.'"
        if field.is_expression and not field.text.strip()
        else LIKE_ZIGFLOW
        if error.message in _OF_ZIGFLOW
        else hint_for_variable(error.message, [f"${name}" for name in known])
        or hint_for_word(error.message, field.text, known, is_command=field.is_command)
        or hint_for_syntax(error.message, field.text, is_marked="${" in field.text, is_target=False)
    )
    position = _at(field, error.offset, report.source)
    if hint is None:
        hint = "write what closes it, '}'" if "is not closed" in error.message else "correct the expression"
    report.error("expression-syntax", message, position, hint)


def _at(field: Field, offset: int | None, source: Source) -> Position:
    """Return the position of the character at *offset* of the text, if the text is in one line and unescaped."""
    line = source.problem("", "", field.position).line
    for skipped in (0, 1):
        start = field.position.column - 1 + skipped
        if (
            offset is not None
            and type(field.position) is Position
            and line[start : start + len(field.text)] == field.text
        ):
            return Position(field.position.line, field.position.column + skipped + offset)
    return field.position


def _mentions(field: Field, compiled: Compiled, workflow: Workflow, report: Report, *, is_perhaps: bool) -> None:
    if _SECRETS in compiled.mentions:
        _secrets(field, compiled, workflow, report)
    if is_perhaps:
        return  # a text that cannot be evaluated is the text itself
    for name in sorted(compiled.mentions - field.known - {_SECRETS}):
        if name == "context" and "workflow" in field.known:
            message = f"{field.owner}: {field.key} uses $context, which is null there"
            report.warning("variable-unset", message, field.position, "the input, '.', becomes the context after it")
            continue
        message = f"{field.owner}: {field.key} uses ${name}, which has no value there"
        hint = _WHERE.get(name, f"the task that defines ${name} has it only for the tasks in it")
        report.error("variable-unset", message, field.position, hint)


def _secrets(field: Field, compiled: Compiled, workflow: Workflow, report: Report) -> None:
    if not field.has_secrets:
        message = f"{field.owner}: {field.key} uses $secrets, and what it yields is stored"
        report.error("secrets-in-expression", message, field.position, _ALLOWED)
        return
    others = sorted(compiled.mentions - {_SECRETS})
    if field.is_credential and others:
        message = f"{field.owner}: {field.key} uses ${others[0]} beside $secrets, which alone has a value there"
        report.error("variable-unset", message, field.position, "write the secret alone")
    declared = workflow.use.secrets
    for name in dict.fromkeys(_members(field.text)):
        if name not in declared:
            message = f"{field.owner}: {field.key} uses the secret {name!r}, which use.secrets does not name"
            hint = meant_or_known(name, declared, f"write use: {{secrets: [{name}]}}")
            report.error("secret-undefined", message, field.position, hint)


def _members(text: str) -> Iterator[str]:
    """Yield the secrets that *text* names."""
    yield from members(text, _SECRETS)
    yield from (found[1] or found[2] for found in _JS_MEMBER.finditer(text))
