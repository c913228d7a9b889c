"""Does each of the mistakes that authors make most give the one message that helps?"""

import pytest

from swf_temporal.languages.loading import check

CORRECT = """
id: orders
specVersion: "0.8"
functions:
- name: payments
  operation: payments.json#charge
states:
- name: Check stock
  type: operation
  actionMode: sequential
  actions:
  - functionRef: payments
    actionDataFilter:
      results: ${ .paid }
  transition: Wait
- name: Wait
  type: sleep
  duration: PT10S
  transition: Ship order
- name: Ship order
  type: operation
  actions: []
  end: true
""".lstrip()


@pytest.mark.parametrize(
    ("correct", "wrong", "told"),
    [
        (
            "transition: Ship order",
            "transition: Shp order",
            """
orders.yaml:18:15  error  transition-target  state 'Wait' leads to 'Shp order', which is not a state here
    transition: Shp order
                ^ did you mean 'Ship order'?
""",
        ),
        (
            "functionRef: payments",
            "functionRef: payment",
            """
orders.yaml:11:18  error  function-undefined  state 'Check stock' refers to the function 'payment', which is not defined
    - functionRef: payment
                   ^ did you mean 'payments'?
""",
        ),
        (
            "${ .paid }",
            "${ .a | }",
            """
orders.yaml:13:24  error  expression-syntax  state 'Check stock': the expression in results does not compile: \
syntax error, unexpected end of the expression
    results: ${ .a | }
                     ^ write what follows '|', or remove it
""",
        ),
        (
            "${ .paid }",
            "${ .paid-by }",
            """
orders.yaml:13:25  error  expression-syntax  state 'Check stock': the expression in results does not compile: \
by/0 is not defined
    results: ${ .paid-by }
                      ^ a field with hyphens in its name is written '."paid-by"'
""",
        ),
        (
            "id: orders",
            " id: orders",
            """
orders.yaml:2:1  error  syntax  this line is indented less than the first one
    specVersion: "0.8"
    ^ indent them alike
""",
        ),
        (
            "duration: PT10S",
            "duration: 10s",
            """
orders.yaml:17:13  error  duration  state 'Wait': duration '10s' is not a duration in ISO 8601
    duration: 10s
              ^ did you mean 'PT10S'?
""",
        ),
        (
            "type: operation\n  actionMode",
            "type: operatoin\n  actionMode",
            """
orders.yaml:8:9  error  enum  state 'Check stock': state type 'operatoin' is not one of event, operation, switch, \
sleep, parallel, inject, foreach or callback
    type: operatoin
          ^ did you mean 'operation'?
""",
        ),
        (
            "actionMode",
            "actonMode",
            """
orders.yaml:9:3  warning  unknown-property  state 'Check stock': 'actonMode' is not a property of a state of the \
type operation
    actonMode: sequential
    ^ did you mean 'actionMode'?
""",
        ),
        (
            "  actions: []\n",
            "",
            """
orders.yaml:19:3  error  missing  state 'Ship order' has no actions
    - name: Ship order
      ^ write at least one, as in 'actions: [{functionRef: {refName: ...}}]'
""",
        ),
    ],
)
def test_usual_mistakes(correct: str, wrong: str, told: str) -> None:
    assert correct in CORRECT
    problems = [
        problem
        for problem in check(CORRECT.replace(correct, wrong), name="orders.yaml").problems
        if problem.code not in ("unused-definition", "unreachable-state")
    ]
    assert [str(problem) for problem in problems] == [told.strip()]


def test_the_correct_one() -> None:
    assert check(CORRECT).problems == ()
