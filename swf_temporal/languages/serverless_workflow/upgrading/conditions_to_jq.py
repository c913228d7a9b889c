"""Translation of conditions of the drafts of 2019 and 2020 to jq: comparisons, and the Spring Expression Language.

Values were mostly written as texts whatever they were compared with, so "18" means the number 18 if the path finds a
number. The written value is known here; the found one is not.
"""

from collections.abc import Callable, Mapping
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import show_json, write_json
from swf_temporal.expressions.comparing import FORMER_OPERATORS, number_in
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.spel_parsing import (
    Alone,
    Compared,
    Condition,
    Joined,
    Literal,
    Named,
    Operand,
    PathValues,
    parsed,
)
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError

_NUMBER: Final = "(strings | trim | tonumber?) // ."
"""The found value, converted to a number if it is a text that holds one."""
_SIGNS: Final = {"lessthan": "<", "lessthanorequals": "<=", "greaterthan": ">", "greaterthanorequals": ">="}
_NUMERIC: Final = {"LT": "<", "LTEQ": "<=", "GT": ">", "GTEQ": ">="}
_TEXTUAL: Final = {"StrEQ": "==", "StrLT": "<", "StrLTEQ": "<=", "StrGT": ">", "StrGTEQ": ">="}


def compared(path: str, operator: str, value: JSON, synonyms: Mapping[str, str] | None = None) -> str:
    """Return a comparison of the values at *path* with *value*. Raises NotInJqError."""
    finds = JqFinds(path, synonyms)
    if operator in _NUMERIC or operator in _TEXTUAL or operator == "EQ":
        return _of_2019(finds, operator, value)
    known = operator.lower()
    known = FORMER_OPERATORS.get(known, known)
    negative = known in ("notexists", "notequals", "notmatches")
    test = _test(finds, known.removeprefix("not") if negative else known, value)
    return f"({test} | not)" if negative else test


def _test(finds: JqFinds, operator: str, value: JSON) -> str:
    if operator == "exists":
        return f"any({finds.found}; true)"
    if operator == "null":
        return f"any({finds.found}; . == null)"
    if operator == "notnull":
        return f"any({finds.loose}; . != null)"
    if operator == "equals":
        return _any_equal(finds, value)
    if operator == "matches":
        return f"any({finds.loose}; strings | test({_json(str(value))}))"
    if operator not in _SIGNS:
        raise NotInJqError(f"the operator {operator!r} is not translated to jq")
    return f"any({finds.loose}; {_ordered(_SIGNS[operator], value)})"


def _any_equal(finds: JqFinds, value: JSON) -> str:
    if isinstance(value, str):
        word = value.strip().lower()
        if word == "null":
            return f"any({finds.found}; . == {_json(value)} or . == null)"
        number = number_in(value)
        other = word if word in ("true", "false") else None if number is None else _number(number)
        also = "" if other is None else f" or . == {other}"
        return f"any({finds.loose}; . == {_json(value)}{also})"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"any({finds.found if value is None else finds.loose}; . == {_json(value)})"
    return f"any({finds.loose}; {_NUMBER} | . == {_json(value)})"


def _ordered(sign: str, value: JSON) -> str:
    number = number_in(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return "false"
    if number is None:
        return f"strings | . {sign} {_json(value)}"
    if isinstance(value, str):
        return f"{_NUMBER} | (numbers | . {sign} {_number(number)}), (strings | . {sign} {_json(value)})"
    return f"{_NUMBER} | numbers | . {sign} {_json(value)}"


def _of_2019(finds: JqFinds, operator: str, value: JSON) -> str:
    number = number_in(value)
    if operator == "EQ":
        if number is not None:
            return f"any({finds.loose}; {_NUMBER} | . == {_number(number)})"
        return _any_equal(finds, value)
    if operator in _NUMERIC:
        if number is None:
            return "false"
        return f"any({finds.loose}; {_NUMBER} | numbers | . {_NUMERIC[operator]} {_number(number)})"
    text = value if isinstance(value, str) else write_json(value)
    return f"any({finds.found}; scalars | tostring | . {_TEXTUAL[operator]} {_json(text)})"


def _number(value: float) -> str:
    """Return a finite number in JSON. Raises NotInJqError for others."""
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - only NaN differs from itself
        raise NotInJqError(f"the number {value} is not translated to jq")
    return _json(int(value) if value.is_integer() else value)


def _json(value: JSON) -> str:
    return show_json(value)


def in_spel(text: str) -> str:
    """Return the condition *text*, in the Spring Expression Language. Raises NotInJqError."""
    try:
        return _condition(parsed(text))
    except BadExpression as error:
        raise NotInJqError(f"the expression {text!r}: {error.message}") from None


def _condition(condition: Condition) -> str:
    match condition:
        case Compared(operator, left, right):
            return _comparison(operator, left, right)
        case Alone(operand):
            return f"any({_found(operand)}; . != null and . != false)"
        case Joined(word, parts):
            return f"({f' {word} '.join(map(_condition, parts))})"
        case _:
            return f"({_condition(condition.inner)} | not)"


def _comparison(operator: str, left: Operand, right: Operand) -> str:
    if isinstance(left, Literal) and not isinstance(right, Literal):
        mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
        if operator == "matches":
            raise NotInJqError("a pattern from the data is not translated to jq")
        return _comparison(mirrored.get(operator, operator), right, left)
    if not isinstance(right, Literal):
        test = _between(operator)
        pairs = f"{_or_null(left)} as $left | {_or_null(right)} as $right | [$left, $right]"
        return _end(operator, f"any({pairs}; {test})")
    value = right.value
    if operator in ("==", "!="):
        found = _or_null(left) if value is None else _found(left)
        return _end(operator, f"any({found}; . == {_json(value)})")
    if operator == "matches":
        return f"any({_found(left)}; strings | test({_json(str(value))}))"
    if value is None:
        return "false"
    if isinstance(value, bool):
        raise NotInJqError(f"{_json(value)} has no order")
    kind = "string" if isinstance(value, str) else "number"
    test = f'if . == null then false elif type == "{kind}" then . {operator} {_json(value)} else error("no order") end'
    return f"any({_found(left)}; {test})"


def _between(operator: str) -> str:
    if operator in ("==", "!="):
        return ".[0] == .[1]"
    if operator == "matches":
        return "(.[0] | strings) as $text | .[1] as $pattern | $text | test($pattern)"
    order = (
        f'map(type) | unique | . == ["number"] or . == ["string"]) then .[0] {operator} .[1] else error("no order") end'
    )
    return f"if any(.[]; . == null) then false elif ({order}"


def _end(operator: str, test: str) -> str:
    return f"({test} | not)" if operator == "!=" else test


def _found(operand: Operand) -> str:
    """Return the expression for the values of *operand*, with null possible in place of nothing."""
    return _of(operand, lambda finds: finds.loose)


def _or_null(operand: Operand) -> str:
    """Return the expression for the values of *operand*; null if there are none."""
    if isinstance(operand, PathValues) and operand.of is None and JqFinds(operand.path.text).is_singular:
        return f"first(({_exact(operand)}), null)"
    return (
        _exact(operand)
        if isinstance(operand, Literal)
        else f"(([{_exact(operand)}] | if . == [] then [null] else . end)[])"
    )


def _exact(operand: Operand) -> str:
    return _of(operand, lambda finds: finds.found)


def _of(operand: Operand, in_jq: Callable[[JqFinds], str]) -> str:
    match operand:
        case Literal(value):
            return _json(value)
        case PathValues(path, of):
            inner = in_jq(JqFinds(path.text))
            return inner if of is None else f"{_exact(of)} | {inner}"
        case Named(first, path, whole):
            has = f"has({_json(first)})?"
            return f"if ([{has}] == [true]) then {in_jq(JqFinds(path.text))} else {in_jq(JqFinds(whole.text))} end"
