"""Rule: expressions compile (section "Workflow Expressions").

In a field that is an expression by definition, a text without `${ }` is one, too.
"""

import re
from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.expressions.evaluation import BadExpression
from swf_temporal.expressions.jq import builtins
from swf_temporal.expressions.targets import members
from swf_temporal.languages.expression_hints import (
    hint_for_path,
    hint_for_syntax,
    hint_for_variable,
)
from swf_temporal.languages.serverless_workflow.expressions import PATHS
from swf_temporal.languages.serverless_workflow.model.workflow import Function
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.languages.serverless_workflow.validation.fields import (
    Field,
    Sort,
    declaration_of_secrets,
    refusal_of_secrets,
)
from swf_temporal.text.suggestions import meant_or_known, nearest

_IN_FUNCTION = "in the expression function"
"""The beginning of a problem with the text of a function, which is reported separately."""

_NO_FUNCTION = re.compile(r"there is no expression function '(?P<name>[^']*)'")
_HYPHENATED = re.compile(r"""(?<![\w"])\.(?P<name>[A-Za-z_]\w*(?:-[A-Za-z_]\w*)+)""")
_UNDEFINED = re.compile(r"(?P<name>\w+)/(?P<arity>\d+) is not defined")

_SECRETS_MEANT = "did you mean '$SECRETS'?"


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each expression that does not compile."""
    for field, compiled in context.expressions:
        if isinstance(compiled, BadExpression):
            if compiled.message.startswith(_IN_FUNCTION) and not isinstance(field.node, Function):
                continue
            message = f"{field.owner}: the expression in {field.key} does not compile: {compiled.message}"
            position = field.at(compiled.offset, context.workflow.source)
            yield context.error("expression-syntax", message, position, _hint(context, field, compiled))


def _hint(context: Context, field: Field, bad: BadExpression) -> str | None:
    """Return a hint for what was probably meant: another function, a field of the data, or a text."""
    declared = () if context.compiler is None else [f"${name}" for name in context.compiler.declared - {"args"}]
    undefined = _UNDEFINED.fullmatch(bad.message)
    if undefined is not None and f"${undefined['name']}" in declared:
        return f"did you mean '${undefined['name']}'?"
    if undefined is not None:
        return _hyphenated(undefined["name"], field.text) or _known(undefined["name"], int(undefined["arity"]))
    missing = _NO_FUNCTION.fullmatch(bad.message)
    if missing is not None:
        names = [one.name for one in context.workflow.functions if one.type == "expression"]
        return meant_or_known(missing["name"], names, "define it in functions, with type: expression")
    if "is not a JSONPath" in bad.message and "${" in bad.message:
        return "it is read as a JSONPath: write expressionLang: jq at the top level if it is meant for jq"
    if field.sort is Sort.EXPRESSION and not field.text.strip():
        return "leave it out to select everything"
    if "is not a JSONPath" in bad.message:
        return hint_for_path(field.text.strip(" {}"), in_braces=context.workflow.expression_lang == PATHS)
    variable = hint_for_variable(bad.message, declared)
    if variable == _SECRETS_MEANT:
        return _secrets(context, field, bad.message)
    return variable or hint_for_syntax(
        bad.message, field.text, is_marked="${" in field.text, is_target=field.sort is Sort.TARGET
    )


def _secrets(context: Context, field: Field, message: str) -> str:
    """Return a hint for a use of secrets under another name, in *message*, which also avoids the next problem."""
    refusal = refusal_of_secrets(field, context.workflow.functions)
    if refusal is not None:
        _, instead = refusal
        return f"secrets are in $SECRETS, and cannot be used here: {instead}"
    declared = context.workflow.secrets
    written = message.removeprefix("$").partition(" ")[0]
    missing = sorted(set(members(field.text, written)) - set(declared))
    if not missing or "secrets" in context.workflow.externals:
        return _SECRETS_MEANT
    return f"{_SECRETS_MEANT} Declare what it names: {declaration_of_secrets([*declared, *missing])}"


def _hyphenated(name: str, text: str) -> str | None:
    """Return a hint for a field in *text* whose name has a hyphen before *name*."""
    for found in _HYPHENATED.finditer(text):
        if name in found["name"].split("-")[1:]:
            return f"a field with hyphens in its name is written '.\"{found['name']}\"'"
    return None


def _known(name: str, arity: int) -> str | None:
    counts = sorted(has for known, has in builtins() if known == name)
    if counts:
        return f"{name!r} takes {' or '.join(map(str, counts))} {'argument' if counts[-1] == 1 else 'arguments'}"
    meant = nearest(name, {known for known, _ in builtins()}, 0.8)
    if meant is not None:
        return f"did you mean {meant!r}?"
    return None if arity else f"a field of the data is written '.{name}', and a text '\"{name}\"'"
