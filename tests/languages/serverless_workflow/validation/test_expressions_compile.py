"""Expressions compile."""

from collections.abc import Callable

import pytest

CASES: dict[str, tuple[str, list[str]]] = {
    "an unfinished one": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - {functionRef: f, actionDataFilter: {results: "${ .a | }"}}
  end: true
""",
        [
            (
                "8:59 error state 'A': the expression in results does not compile: syntax error, "
                "unexpected end of the expression"
            ),
        ],
    ),
    "in an argument": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - functionRef: {refName: f, arguments: {deep: [1, {x: "${ .a + }"}]}}
  end: true
""",
        [
            (
                "8:66 error state 'A': the expression in arguments does not compile: syntax error, "
                "unexpected end of the expression"
            ),
        ],
    ),
    "in a selection set": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, type: graphql, operation: "/graphql#query#pet"}]
states:
- name: A
  type: operation
  actions:
  - functionRef: {refName: f, selectionSet: "{ name(short: ${ .a + }) }"}
  end: true
""",
        [
            (
                "8:68 error state 'A': the expression in selectionSet does not compile: syntax error, "
                "unexpected end of the expression"
            ),
        ],
    ),
    "an unknown function": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: switch
  dataConditions:
  - condition: ${ lenght > 2 }
    end: true
  defaultCondition: {end: true}
""",
        [
            (
                "7:19 error state 'A': the expression in condition does not compile: lenght/0 is not defined"
                " | did you mean 'length'?"
            ),
        ],
    ),
    "a condition that is a text": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: switch
  dataConditions:
  - condition: '.a >'
    end: true
  defaultCondition: {end: true}
""",
        [
            (
                "7:21 error state 'A': the expression in condition does not compile: syntax error, "
                "unexpected end of the expression"
            ),
        ],
    ),
    "a call with too few arguments": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: inject, data: {x: "${ sub }"}, stateDataFilter: {output: "leaf_path(1)"}, end: true}
""",
        [
            (
                "4:41 error state 'A': the expression in data does not compile: sub/0 is not defined"
                " | 'sub' takes 2 or 3 arguments"
            ),
            (
                "4:77 error state 'A': the expression in output does not compile: leaf_path/1 is not defined"
                " | did you mean 'leaf_paths'?"
            ),
        ],
    ),
    "brackets that do not match": (
        """
id: a
specVersion: "0.8"
states:
- {name: A, type: inject, data: {}, stateDataFilter: {output: "{a: (.b}"}, transition: B}
- {name: B, type: inject, data: {}, stateDataFilter: {input: "(.b"}, end: true}
""",
        [
            "4:71 error state 'A': the expression in output does not compile: '}' closes nothing",
            "5:63 error state 'B': the expression in input does not compile: '(' is not closed",
        ],
    ),
    "a text that is not one": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - {functionRef: f, actionDataFilter: {results: ".a >"}}
  end: true
""",
        [
            (
                "8:55 error state 'A': the expression in results does not compile: syntax error, unexpected "
                "end of the expression"
            ),
        ],
    ),
    "a place that is none": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, operation: a.json#f}]
states:
- name: A
  type: operation
  actions:
  - {functionRef: f, actionDataFilter: {toStateData: "1 +"}}
  end: true
""",
        [
            (
                "8:58 error state 'A': the expression in toStateData does not compile: syntax error, "
                "unexpected end of the expression"
            ),
        ],
    ),
    "an expression function, once": (
        """
id: a
specVersion: "0.8"
functions: [{name: f, type: expression, operation: ".a |"}]
states:
- name: A
  type: inject
  data: {}
  stateDataFilter: {output: "fn:f"}
  end: true
""",
        [
            (
                "3:57 error function 'f': the expression in operation does not compile: syntax error, "
                "unexpected end of the expression"
            ),
        ],
    ),
    "an iteration parameter": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: foreach
  inputCollection: .xs
  iterationParam: x
  actions: [{subFlowRef: s, condition: $x.ok}]
  end: true
""",
        [],
    ),
    "several lines": (
        """
id: a
specVersion: "0.8"
states:
- name: A
  type: inject
  data:
    x: |
      ${ .a
         | }
  end: true
""",
        [
            (
                "7:8 error state 'A': the expression in data does not compile: syntax error, unexpected "
                "end of the expression"
            ),
        ],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_expressions_compile(found: Callable[[str, str], list[str]], text: str, expected: list[str]) -> None:
    """Expressions compile."""
    assert found("expression-syntax", text.lstrip()) == expected
