"""Expressions of 0.8 in DSL 1.0: the same jq with other variables, and without constants and expression functions."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import read_json, show_json
from swf_temporal.expressions import template
from swf_temporal.expressions.evaluation import BadExpression, Expressions
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow


class Inexpressible(Exception):  # noqa: N818 - named for what it is about
    """A part of a definition that has no counterpart in 1.0."""


_TEXT: Final = r'"(?:[^"\\]|\\.)*"'
_VARIABLE: Final = re.compile(r"\$(?P<name>CONST|WORKFLOW|SECRETS|args)\b(?P<path>(?:\.[A-Za-z_]\w*)*)")
_WORKFLOW: Final = {
    "instanceId": "$workflow.id",
    "runId": "$workflow.id",
    "startTime": "$workflow.startedAt.epoch.seconds",
    "input": "$workflow.input",
    "version": "$workflow.definition.document.version",
}
_OF_1_0: Final = ("context", "input", "output", "secrets", "authorization", "task", "workflow", "runtime")
_PATH: Final = r"(?:\.\w+|\[\d+\])*"
_SIMPLE: Final = (
    rf"(?:\$\w+{_PATH}|\.[A-Za-z_]\w*{_PATH}|{_TEXT}|\d+|\w+(?=\s*:)|(?:and|or|true|false|null)\b|[-+*/<>=!(),:{{}}\s])"
)
"""A token of jq in which paths begin at the data, as nothing is passed on to another expression."""
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_SEVERAL: Final = re.compile(
    r"\[\s*\]|\.\.|,|\b(?:range|recurse|limit|scan|splits|match|paths|combinations|inputs|env|empty|select|error)\b"
)
_ERROR: Final = {
    "message": "$context.error.detail",
    "status": "$context.error.status",
    "name": "$context.error.title",
    "code": "$context.error.type",
    "state": "$context.error.instance",
    "action": "$context.error.instance",
    "body": "$context.error.body",
}
"""The expressions over `$context`, set by handlers, for the members of `$WORKFLOW.error` in 0.8."""
MESSAGES: Final = "the detail of an error is another text than its message in 0.8"
ERROR_PARTS: Final = (
    "of an error, the name is its title, the code its type, the state and the action its instance, and there is no body"
)
_UNCLEAR: Final = "a condition with several outputs holds if all are true: in 0.8 it fails if only some of them are"
_BEFORE_OPERAND: Final = re.compile(
    r"(?:^|[(\[{:,;|=<>+*/%-]|\b(?:and|or|if|then|elif|else|try|catch|as|reduce|foreach))$"
)
"""What an operand follows: a bracket after anything else is an index, or iterates."""


class Translator:
    """Translates the expressions of one definition."""

    def __init__(
        self, workflow: Workflow, compiled: Expressions, tell: Callable[[str], None], *, may_use_secrets: bool = False
    ) -> None:
        """*tell* is called with each difference of an expression that is translated."""
        self._workflow = workflow
        self._tell = tell
        self._compiled = compiled
        self._may_use_secrets = may_use_secrets
        self._within: tuple[str, ...] = ()
        self._operations = {one.name: one.operation for one in workflow.functions if one.type == "expression"}

    def with_secrets(self) -> "Translator":
        """Return a translator for texts that may use secrets."""
        return Translator(self._workflow, self._compiled, self._tell, may_use_secrets=True)

    # Texts

    def field(self, value: Any) -> Any:
        """Return a field that holds an expression by definition: without braces if it is one expression."""
        return self.template(value) if not isinstance(value, str) else self.jq(value)

    def condition(self, value: Any) -> Any:
        """Return a condition, which holds in 0.8 if all its outputs are true."""
        if isinstance(value, bool):
            return "true" if value else "false"
        found = self.jq(value)
        if not (yields_several(found) and "[]" in found):
            return found
        self._tell(_UNCLEAR)
        return f"[{found}] | all"

    def jq(self, value: Any) -> str:
        """Return the jq of a field that holds an expression by definition."""
        if not isinstance(value, str):
            return self.construction(value)
        stripped = value.strip()
        if stripped.startswith("{{") and stripped.endswith("}}"):
            return self._source(stripped[2:-2])
        if not stripped.startswith("${"):
            try:
                self._compiled.expression(value)
                if "${" not in value or self._is_bare(value):
                    return self._source(value)
            except BadExpression:
                pass
        return self._interpolated(value)

    def template(self, value: Any) -> Any:
        """Return JSON in whose texts the expressions in `${ }` are translated."""
        if isinstance(value, Mapping):
            return {key: self.template(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.template(item) for item in value]
        if not isinstance(value, str) or "${" not in value:
            return value
        only = template.sole(template.split(value))
        if only is not None:
            return braced(self._source(only.text))
        return "".join(
            piece if isinstance(piece, str) else braced(self._source(piece.text)) for piece in template.split(value)
        )

    def construction(self, value: Any) -> str:
        """Return jq that constructs the template *value*."""
        if isinstance(value, Mapping):
            items = (f"{_key(str(key))}: {_in_object(self.construction(item))}" for key, item in value.items())
            return "{" + ", ".join(items) + "}"
        if isinstance(value, list | tuple):
            return "[" + ", ".join(_in_object(self.construction(item)) for item in value) + "]"
        if isinstance(value, str) and "${" in value:
            return self._interpolated(value)
        return show_json(value)

    def arguments(self, value: Any) -> Any:
        """Return the arguments of a call as an object also if they are one expression that constructs it."""
        if not isinstance(value, str) or "${" not in value:
            return {} if value is None else value
        only = template.sole(template.split(value))
        found = None if only is None else members(only.text.strip())
        return value if found is None else found

    def kinds(self, value: Any, *, is_template: bool = False) -> frozenset[str]:
        """Return the kinds of value that an expression of 0.8, or a template, can yield."""
        return (self._compiled.template if is_template else self._compiled.expression)(value).kinds

    def has_expressions(self, value: Any) -> bool:
        """Return whether *value*, a template, has expressions."""
        return not _is_constant(value)

    def edited(self, value: Any, edit: Callable[[str], str]) -> Any:
        """Return *value*, a template that was translated, with *edit* done to the jq of its expressions."""
        if isinstance(value, Mapping):
            return {key: self.edited(item, edit) for key, item in value.items()}
        if isinstance(value, list):
            return [self.edited(item, edit) for item in value]
        if not isinstance(value, str) or "${" not in value:
            return value
        return "".join(one if isinstance(one, str) else braced(edit(one.text.strip())) for one in template.split(value))

    def texts_in(self, value: Any) -> Iterator[str]:
        """Yield the jq of the expressions in *value*, a template that was translated."""
        if isinstance(value, Mapping):
            for item in value.values():
                yield from self.texts_in(item)
        elif isinstance(value, list):
            for item in value:
                yield from self.texts_in(item)
        elif isinstance(value, str) and "${" in value:
            yield from (one.text for one in template.split(value) if not isinstance(one, str))

    def _is_bare(self, value: str) -> bool:
        return template.sole(template.split(value)) is None and all(
            isinstance(piece, str) for piece in template.split(value)
        )

    def _interpolated(self, value: str) -> str:
        pieces = template.split(value)
        only = template.sole(pieces)
        if only is not None:
            return self._source(only.text)
        texts = (
            show_json(piece)[1:-1] if isinstance(piece, str) else f"\\({self._source(piece.text)})" for piece in pieces
        )
        return '"' + "".join(texts) + '"'

    # Variables

    def _source(self, source: str) -> str:
        if self._workflow.expression_lang != "jq":
            raise Inexpressible(f"the expression {source.strip()!r} in {self._workflow.expression_lang}")
        text = source.strip()
        if text.startswith("fn:"):
            return self._function(text[3:].strip())
        return self._with_variables(text)

    def _with_variables(self, text: str) -> str:
        """Return jq with other variables; those in plain parts of its texts are no variables."""
        found: list[str] = []
        depths: list[int | None] = [0]
        """The parentheses that are open in each expression that is read, and None for each text around it."""
        at = 0
        while at < len(text):
            sign, end = text[at], at + 1
            depth = depths[-1]
            if depth is None:
                end += sign == "\\"
                if text[at:end] == "\\(":
                    depths.append(0)
                elif sign == '"':
                    depths.pop()
            elif sign == '"':
                depths.append(None)
            elif sign == ")" and depth == 0 and len(depths) > 1:
                depths.pop()
            elif sign in "()":
                depths[-1] = depth + (1 if sign == "(" else -1)
            variable = _VARIABLE.match(text, at) if depth is not None and sign == "$" else None
            if variable is not None:
                end = variable.end()
            found.append(text[at:end] if variable is None else self._variable(variable))
            at = end
        return "".join(found)

    def _function(self, name: str) -> str:
        if name in self._within:
            raise Inexpressible(f"the expression function {name!r} leads back to itself")
        self._within = (*self._within, name)
        try:
            return self.jq(self._operations[name])
        finally:
            self._within = self._within[:-1]

    def _variable(self, match: re.Match[str]) -> str:
        name, path = match["name"], match["path"]
        steps = [step for step in (path or "").split(".") if step]
        if name == "CONST":
            return self._constant(steps)
        if name == "SECRETS":
            if not self._may_use_secrets:
                raise Inexpressible("$SECRETS outside of auth and the arguments of calls")
            return f"$secrets{path}"
        return match[0] if name == "args" else self._of_instance(steps)

    def _of_instance(self, steps: list[str]) -> str:
        """Return the counterpart of `$WORKFLOW` with the *steps* that lead into it."""
        if not steps:
            raise Inexpressible("$WORKFLOW as a whole")
        if steps[0] in ("id", "name"):
            value = self._workflow.id if steps[0] == "id" else self._workflow.name
            return _group(show_json(value)) + "".join(f".{step}" for step in steps[1:])
        known, rest = _WORKFLOW.get(steps[0]), steps[1:]
        if steps[0] == "runId":
            self._tell("1.0 has no id of a run: $WORKFLOW.runId is the id of the instance")
        if steps[0] == "error" and rest:
            self._tell(self._about_error(rest))
            known, rest = _ERROR.get(rest[0]), rest[1:]
        elif steps[0] == "error":
            self._tell(ERROR_PARTS)
            known = "($context.error | {name: .title, code: .type, message: .detail, status})"
        if known is None:
            raise Inexpressible("$WORKFLOW." + ".".join(steps))
        return known + "".join(f".{step}" for step in rest)

    def _about_error(self, steps: list[str]) -> str:
        """Return how the part of an error that *steps* lead to differs in 1.0."""
        if steps[0] == "body":
            written = "$WORKFLOW.error." + ".".join(steps)
            return f"an error of 1.0 has no body: what stands for {written} is null; use $context.error.detail, a text"
        return MESSAGES if steps[0] in ("message", "status") else ERROR_PARTS

    def _constant(self, steps: list[str]) -> str:
        value: JSON = dict(self._workflow.constants)
        rest = list(steps)
        while rest and isinstance(value, dict):
            value = value.get(rest.pop(0))
        if not _is_constant(value):
            raise Inexpressible("a constant with the characters '${'")
        # A step into what is no object fails, and one into null is null.
        return _group(show_json(value)) + "".join(f".{step}" for step in rest if value is not None)


def check_variable(name: str) -> None:
    """Raise Inexpressible if a variable of iterations has a *name* that 1.0 gives another meaning."""
    if name in _OF_1_0 or not _PLAIN_NAME.fullmatch(name):
        raise Inexpressible(f"the iterationParam {name!r}, whose name 1.0 uses otherwise")


def literal(text: str) -> str:
    """Return *text*, which is no expression in 0.8, so that it is none in 1.0."""
    return braced(show_json(text)) if "${" in text else text


def braced(jq: str) -> str:
    """Return an expression in `${ }`."""
    return f"${{ {jq} }}"


def uses_root(jq: str, name: str) -> bool:
    """Return whether *jq* may use the key *name* of the data, or the data as a whole, as far as its text shows."""
    return re.fullmatch(rf"(?:(?!\.{name}\b){_SIMPLE})*", jq) is None or "\\(" in jq


def with_variable(jq: str, name: str) -> str:
    """Return *jq* with the variable *name* in place of the key *name* of the data, where its text shows that it is."""
    if re.fullmatch(rf"(?:{_SIMPLE})*", jq) is None or "\\(" in jq:
        return jq
    return re.sub(_SIMPLE, lambda token: re.sub(rf"^\.(?={name}\b)", "$", token[0]), jq)


def piped(*parts: str) -> str:
    """Return jq that passes data through *parts*; those that only pass them on are left out."""
    return " | ".join(part for part in parts if part.strip() != ".") or "."


_MEMBER: Final = re.compile(rf"\s*(?P<key>{_PLAIN_NAME.pattern}|{_TEXT})\s*:(?P<value>.+)", re.DOTALL)


def members(jq: str) -> dict[str, Any] | None:
    """Return the members of the object that *jq* constructs, as templates; None if it is anything else."""
    if not (jq.startswith("{") and jq.endswith("}")):
        return None
    inner = jq[1:-1]
    hidden = re.sub(_TEXT, lambda text: "_" * len(text[0]), inner)
    depth, begin, parts = 0, 0, []
    for index, sign in enumerate(f"{hidden},"):
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0:
            return None
        if sign == "," and depth == 0:
            parts.append(inner[begin:index])
            begin = index + 1
    found: dict[str, Any] = {}
    for part in parts:
        member = _MEMBER.fullmatch(part)
        if member is None:
            return None
        text = member["value"].strip()
        key = member["key"]
        literal = re.fullmatch(rf"{_TEXT}|-?\d+(?:\.\d+)?|true|false|null", text)
        is_plain = literal is not None and "\\(" not in text and "${" not in text
        found[read_json(key) if key.startswith('"') else key] = read_json(text) if is_plain else braced(text)
    return found


def yields_several(jq: str) -> bool:
    """Return whether *jq* may yield any number of values but one, as far as its text shows."""
    text = re.sub(_TEXT, '""', jq)
    kept, depth, braces, begun = [], 0, 0, []
    for index, sign in enumerate(text):
        if sign == "[":
            is_list = _BEFORE_OPERAND.search(text[:index].rstrip()) is not None
            begun.append(is_list)
            depth += is_list
        if sign == "{":
            braces += 1
        if depth == 0 and not (sign == "," and braces):
            kept.append(sign)
        if sign == "}":
            braces -= 1
        if sign == "]" and begun:
            depth -= begun.pop()
    return bool(_SEVERAL.search("".join(kept)))


def single(jq: str) -> str:
    """Return *jq* so that it yields one value: a list of several, as 0.8 has them, and null for none."""
    return f"([{jq}] | if length > 1 then . else .[0] end)" if yields_several(jq) else jq


def or_all(jq: str) -> str:
    """Return jq that yields what *jq* does, and all data if that is null or nothing, as filters of 0.8 do."""
    found = single(jq)
    if _is_simple(found):
        return f"if {found} == null then . else {found} end"
    return f"{grouped(found)} as $selected | if $selected == null then . else $selected end"


def _key(key: str) -> str:
    return key if _PLAIN_NAME.fullmatch(key) else show_json(key)


def _in_object(jq: str) -> str:
    """Return *jq* as the value of a key or an element, in parentheses if it needs them."""
    return jq if _is_simple(jq) else f"({jq})"


def _group(jq: str) -> str:
    return f"({jq})" if jq.startswith(("{", "[", "-")) else jq


def _is_simple(jq: str) -> bool:
    return re.fullmatch(rf"[$.]?[\w.]*(?:\[\d+\])*|{_TEXT}|-?\d+(?:\.\d+)?", jq) is not None or (
        jq[:1] + jq[-1:] in ("{}", "[]") and jq.count(jq[0]) == 1
    )


def grouped(jq: str) -> str:
    """Return *jq* as an operand, in parentheses unless it is a path, a literal or one construction."""
    return jq if _is_simple(jq) else f"({jq})"


def _is_constant(value: JSON) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_constant, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_constant, value))
    return not (isinstance(value, str) and "${" in value)
