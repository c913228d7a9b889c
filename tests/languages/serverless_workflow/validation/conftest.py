"""What the tests of the rules share: asking what one rule has to say about a small definition."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from swf_temporal.languages.loading import check

Found: TypeAlias = Callable[[str, str], list[str]]


@pytest.fixture
def found() -> Found:
    """Return a function that lists the problems of one code in a definition, as `line:column severity message`."""

    def problems(code: str, text: str) -> list[str]:
        return [
            f"{problem.position.line}:{problem.position.column} {problem.severity} {problem.message}"
            + (f" | {problem.hint}" if problem.hint else "")
            for problem in check(text).problems
            if problem.code == code
        ]

    return problems
