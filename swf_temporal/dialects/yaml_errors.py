"""What is wrong with a text that does not read as YAML, in the words of someone typing it?"""

import yaml

from swf_temporal.errors import Position, Problem
from swf_temporal.model.workflow import Source

_TAB = "YAML is indented with blanks: replace the tab"
_EXPLAINED = {
    "mapping values are not allowed": (
        "a colon cannot stand here",
        "is a line above indented differently, or does a text with ': ' need quotes?",
    ),
    "found character that cannot start any token": (
        "this character cannot start a value",
        "put the text in quotes",
    ),
    "did not find expected key": (
        "a key is expected here",
        "is this line indented like the ones it belongs to, and are quotes and brackets closed?",
    ),
    "did not find expected '-' indicator": (
        "an element of a list is expected here",
        "start the line with '- ', or indent it like the keys it belongs to",
    ),
    "could not find expected ':'": ("a colon is missing after a key", "write 'key: value'"),
    "found undefined alias": ("this alias refers to nothing", None),
    "found unexpected end of stream": ("a text has no closing quote", None),
    "did not find expected ',' or": ("a comma or a closing bracket is missing", None),
    "did not find expected node content": (
        "a value is missing here",
        "is a bracket not closed, or is there a comma too many?",
    ),
    "found unknown escape character": (
        "a backslash in double quotes must be doubled",
        "or put the text in single quotes, where a backslash means itself",
    ),
    "block sequence entries are not allowed": (
        "a list cannot start here",
        "put the '-' on a line of its own, indented under its key",
    ),
    "did not find expected <document start>": ("there is more after the end of the definition", None),
}  # fmt: skip


def explain(error: yaml.YAMLError, source: Source) -> Problem:
    """Return what *error* means to the author of *source*."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    position = Position(mark.line + 1, mark.column + 1) if mark else Position()
    said = str(getattr(error, "problem", None) or "this is not YAML")
    message, hint = next((told for found, told in _EXPLAINED.items() if found in said), (said, None))
    problem = source.problem("syntax", message, position, hint)
    return source.problem("syntax", message, position, _TAB) if _tabbed(problem) else problem


def _tabbed(problem: Problem) -> bool:
    indentation = problem.line[: len(problem.line) - len(problem.line.lstrip())]
    return "\t" in indentation or problem.line[problem.position.column - 1 : problem.position.column] == "\t"
