"""Expressions in JavaScript: the body of a function of `data`, whose `return` is the result, or a single expression.

They run in helper processes, as jq does, within the same limits. A script has access only to the data and the language:
`js_process` replaces whatever would make the result of a replay differ.
"""

import re
from collections.abc import Collection
from hashlib import sha256
from typing import Final

from swf_temporal.base.accounting import current_account
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed, MissingExtra
from swf_temporal.base.strict_json import NotJSON, read_json
from swf_temporal.expressions.compiled import ANY, BadExpression, EvaluationOutcome, Variables
from swf_temporal.expressions.guarding.deferring import UNBOUNDED, ask
from swf_temporal.expressions.guarding.guard import JAVASCRIPT, guard, written
from swf_temporal.expressions.guarding.jq_process import FAILED, NOT_COMPILED

_NAME: Final = re.compile(r"\$([A-Za-z_]\w*)")


class EngineMissing(BadExpression):
    """The engine is not installed here."""


class JsProgram:
    __slots__ = ("_text",)

    constant = False
    kinds = ANY
    mentions: frozenset[str] = frozenset()

    def __init__(self, text: str) -> None:
        self._text = text
        try:
            answer = guard(JAVASCRIPT).run(text, None)
        except ModuleNotFoundError:
            raise EngineMissing(MissingExtra("js", "JavaScript", JAVASCRIPT.package).line) from None
        except UnicodeEncodeError:
            raise BadExpression("the script holds half of a surrogate pair") from None
        if answer.status == NOT_COMPILED:
            raise BadExpression(answer.text)

    def __call__(self, data: JSON, variables: Variables) -> EvaluationOutcome:
        """Return the result of the script on *data*; `__now` is the time of its clock."""
        now = variables["__now"]
        milliseconds = round(now * 1000) if isinstance(now, int | float) else 0
        try:
            text = written(data)
        except (NotJSON, TypeError) as error:
            raise ExpressionFailed(f"the data cannot be written as JSON ({error})", retryable=False) from None
        # Random numbers are derived from all inputs of the script: they vary, and are the same on a replay.
        seed = int.from_bytes(sha256(f"{self._text}\n{text}\n{milliseconds}".encode()).digest()[:4])
        answer = ask(self._text, f"[{text},{milliseconds},{seed}]", UNBOUNDED, JAVASCRIPT)
        current_account().charge_helper(len(text), len(answer.text))
        if answer.status in (FAILED, NOT_COMPILED):
            raise ExpressionFailed(answer.text, retryable=False)
        try:
            value: JSON = read_json(answer.text)
        except NotJSON as error:
            raise ExpressionFailed(f"the result cannot be read as JSON ({error})", retryable=False) from None
        return value


class JsExpression:
    """A single expression in JavaScript, in which `$` is the data, and `$name` a variable."""

    __slots__ = ("_program", "_text", "mentions")

    constant = False
    kinds = ANY

    def __init__(self, text: str, declared: Collection[str]) -> None:
        self._text = text.strip()
        self.mentions = frozenset(_NAME.findall(text)).intersection(declared)
        given = "".join(f"const ${name} = data[1].{name};" for name in sorted(self.mentions))
        # The expression is in a line of its own, so that a comment in it ends there.
        self._program = JsProgram(f"const $ = data[0];{given}return [(\n{text}\n) ?? null];")

    def __call__(self, data: JSON, variables: Variables) -> EvaluationOutcome:
        """Return the value of the expression; undefined is null."""
        try:
            given = {name: variables[name] for name in sorted(self.mentions)}
        except KeyError as missing:
            why = f"${missing.args[0]} has no value here"
            raise ExpressionFailed(f"{why}: ${{ {self._text} }}", retryable=False) from None
        try:
            found = self._program([data, given], variables)
        except ExpressionFailed as fault:
            raise ExpressionFailed(f"{fault.message}: ${{ {self._text} }}", retryable=False) from None
        return found[0] if isinstance(found, list) else None


def closing(text: str, start: int) -> int | None:
    """Return the offset of the bracket that closes the script which begins at *start*, or None.

    Brackets in texts and comments of the script do not count.
    """
    depth = 0
    at = start
    while at < len(text):
        ended = _end_of_literal(text, at)
        if ended is not None:
            at = ended
            continue
        if text[at] == "(":
            depth += 1
        elif text[at] == ")":
            if depth == 0:
                return at
            depth -= 1
        at += 1
    return None


def _end_of_literal(text: str, at: int) -> int | None:
    """Return the end of the text or comment that begins at *at*, or None if there is none."""
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if text.startswith("/*", at):
        end = text.find("*/", at + 2)
        return len(text) if end < 0 else end + 2
    quote = text[at]
    if quote not in "'\"`":
        return None
    at += 1
    while at < len(text) and text[at] != quote:
        at += 2 if text[at] == "\\" else 1
    return at + 1
