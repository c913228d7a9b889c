"""What the rules say: of each, what is told where, and what is let pass."""

import json
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.languages.loading import check, load
from swf_temporal.languages.port import Concurrency
from swf_temporal.languages.serverless_workflow.validation import rules
from swf_temporal.languages.serverless_workflow.validation.rules import RULES
from swf_temporal.runtime.ids import ACTIVITY_TYPES, WORKFLOW_TYPES
from swf_temporal.temporal import (
    constants,
    instance_signals,
    mailbox_records,
    place_records,
    publishing,
    records,
    search_attributes,
    variables,
)
from tests.languages.serverless_workflow.models import checked_model, found

# What a definition says of how many instances run at once can be had.

CONCURRENCY_DEFINITION = """
id: a
specVersion: "0.8"
metadata: {{concurrency: {asked}}}
states:
- {{name: A, type: inject, data: {{}}, end: true}}
"""


@pytest.mark.parametrize(("asked", "meant"), [
    ("3", Concurrency(3)),
    ('" 3"', Concurrency(3)),
    ("{limit: 1000}", Concurrency(1000)),
    ('{limit: "2", key: "${ .customer }"}', Concurrency(2, "${ .customer }")),
])  # fmt: skip
def test_concurrency_what_can_be_had(asked: str, meant: Concurrency) -> None:
    text = CONCURRENCY_DEFINITION.format(asked=asked).lstrip()
    assert found("concurrency", text) == []
    assert load(text).concurrency == meant


@pytest.mark.parametrize(("asked", "told"), [
    ("0", "is 0, and must be"),
    ("true", "is True, and must be"),
    ("1001", "is 1001, and must be a whole number from 1 to 1,000"),
    ("[2]", "is [2], and must be"),
    ("{key: '${ .a }'}", "metadata.concurrency has no limit"),
    ("{limit: 1.5}", "the limit of metadata.concurrency is 1.5, and must be"),
    ("{limit: 1, key: customer}", "is 'customer', and must be an expression over the input"),
    ("{limit: 1, key: 5}", "is 5, and must be an expression"),
    ("{limit: 1, keys: 5}", "metadata.concurrency has no 'keys'"),
])  # fmt: skip
def test_concurrency_what_cannot(asked: str, told: str) -> None:
    [problem] = found("concurrency", CONCURRENCY_DEFINITION.format(asked=asked).lstrip())
    assert told in problem


def test_concurrency_secrets_make_no_key() -> None:
    text = CONCURRENCY_DEFINITION.format(asked="{limit: 1, key: '${ $SECRETS.a }'}").lstrip() + "secrets: [a]\n"
    [problem] = found("secrets-in-expression", text)
    assert "metadata.concurrency.key uses $SECRETS" in problem


# Conditions are expressions.

CONDITION_DOCUMENT = """\
id: a
specVersion: "0.8"
states:
- name: A
  type: switch
  dataConditions:
  - condition: {condition}
    end: true
  defaultCondition: {{end: true}}
"""

CONDITION_CASES: dict[str, tuple[str, list[str]]] = {
    "one of several kinds": (
        "if .x then 1 else [] end",
        [("7:16 error state 'A': the condition 'if .x then 1 else [] end' yields a list or a number, and so "
          "always holds | a condition yields true or false, as a comparison does")],
    ),
    "nothing": (
        "null",
        ["7:16 error state 'A': the condition is null | a condition is an expression that yields true or false"],
    ),
    "what may be null": (".x // null", []),
    "false as a text": ('"false"', []),
    "an expression": ('"${ .x > 3 }"', []),
    "a bare path": (".x > 3", []),
    "a boolean": ("true", []),
}  # fmt: skip


@pytest.mark.parametrize(("condition", "expected"), CONDITION_CASES.values(), ids=CONDITION_CASES)
def test_conditions_decide(condition: str, expected: list[str]) -> None:
    """A condition that would always hold, or never, whatever the data, is refused."""
    assert found("condition", CONDITION_DOCUMENT.format(condition=condition)) == expected


# Custom functions that begin with a known word go on as it demands.

CUSTOM_FUNCTION = """
id: a
specVersion: "0.8"
functions:
- {{name: f, type: custom, operation: "{operation}"{more}}}
states:
- {{name: A, type: operation, actions: [{{functionRef: f}}], end: true}}
"""

CUSTOM_FINE = [
    ("greet", ""),
    ("module:function", ""),
    ("sysout", ""),
    ("sysout:info", ""),
    ("script:python", ""),
    ("service:python:shop::charge", ""),
    ("rest:GET:https://example.com", ""),
    ("script:python:1 + 1", ""),
    ("temporal:ChargeCard", ""),
    ("temporal:workflow:Ship@warehouse", ", metadata: {startToCloseTimeout: PT1M}"),
    ("temporal:Charge@Card@payments", ", metadata: {startToCloseTimeout: PT1M, owner: shop}"),
    ("temporal:a@b", ", metadata: {retryPolicy: {initialInterval: PT1S, maximumAttempts: 0, backoffCoefficient: 1}}"),
]

CUSTOM_WRONG = [
    ("temporal:", "", "4:38 error function 'f': the operation 'temporal:' names no activity"),
    ("temporal:@q", "", "names no activity: it is temporal:ACTIVITY@QUEUE"),
    ("temporal:workflow:@q", "", "names no workflow: it is temporal:workflow:NAME@QUEUE"),
    ("temporal:workflow:A", ", metadata: {heartbeatTimeout: PT1S}", "heartbeatTimeout applies to activities, and 'A'"),
    ("temporal:a", ", metadata: {startToCloseTimeout: PT0S}", "startToCloseTimeout is 'PT0S', and must be"),
    ("temporal:a", ", metadata: {retryPolicy: often}", "retryPolicy must be an object with some of initial"),
    ("temporal:a", ", metadata: {retryPolicy: {attempts: 1}}", "retryPolicy has no 'attempts'; it has initial"),
    ("temporal:a", ", metadata: {retryPolicy: {maximumAttempts: -1}}", "maximumAttempts is -1, and must be a"),
    ("temporal:a", ", metadata: {retryPolicy: {backoffCoefficient: 0.5}}", "backoffCoefficient is 0.5, and"),
    ("temporal:a", ", metadata: {retryPolicy: {nonRetryableErrorTypes: A}}", "must be an array of strings"),
    ("temporal:a", ", metadata: {retryPolicy: {initialInterval: PT2S, maximumInterval: PT1S}}",
     "maximumInterval is shorter than initialInterval"),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "more"), CUSTOM_FINE)
def test_custom_operations_that_are_fine(operation: str, more: str) -> None:
    assert found("custom-operation", CUSTOM_FUNCTION.format(operation=operation, more=more).lstrip()) == []


@pytest.mark.parametrize(("operation", "more", "told"), CUSTOM_WRONG)
def test_custom_operations_that_are_not(operation: str, more: str, told: str) -> None:
    [problem] = found("custom-operation", CUSTOM_FUNCTION.format(operation=operation, more=more).lstrip())
    assert told in problem


@pytest.mark.parametrize("operation", ["knative:services/x", "camel:direct:x"])
def test_custom_what_is_for_other_runtimes(operation: str) -> None:
    """It may still be the name of a Python function, so it is a warning, with what to do."""
    told = found("foreign-operation", CUSTOM_FUNCTION.format(operation=operation, more=""))
    assert len(told) == 1
    assert told[0].startswith(f"5:38 warning function 'f': '{operation}' is a ")
    assert "'temporal:ACTIVITY@QUEUE'" in told[0]


# Data schemas are JSON Schemas that can be compared with data.

SCHEMA_CASES: dict[str, tuple[str, str | None]] = {
    "a good one": ("{schema: {type: object, properties: {a: {$ref: '#/$defs/a'}}, $defs: {a: {type: integer}}}}", None),
    "one that was not found": ("in.json", None),
    "a reference to nothing": ("{schema: {$ref: '#/$defs/gone'}}",
                               ("34 /$ref: the reference '#/$defs/gone' leads to nothing within the schema"
                                " | define it under $defs of this schema, or correct the reference")),
    "a draft that is not known": (
        "{schema: {$schema: 'https://example.com/draft'}}",
        ("37 /$schema: 'https://example.com/draft' is not a draft of JSON Schema that is known here"
         " | leave it out, or write https://json-schema.org/draft/2020-12/schema"),
    ),
    "a pattern that is none": (
        "{schema: {pattern: '('}}",
        "37 /pattern: '(' is not a 'regex' | write a regular expression, such as '^[A-Z]{3}-[0-9]+$'",
    ),
    "a number": ("{schema: 3}",
                 "27 a JSON Schema is an object, or true or false | write one, such as '{type: object}'"),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "expected"), SCHEMA_CASES.values(), ids=SCHEMA_CASES)
def test_data_schema(schema: str, expected: str | None) -> None:
    states = "states:\n- {name: Z, type: inject, data: {}, end: true}\n"
    problems = found("data-schema", f'id: a\nspecVersion: "0.8"\ndataInputSchema: {schema}\n{states}')
    if expected is None:
        assert problems == []
    else:
        column, _, what = expected.partition(" ")
        assert problems == [f"3:{column} error dataInputSchema is not a usable JSON Schema: {what}"]


# Durations are in ISO 8601, wherever one stands.

DURATION_SLEEP = 'id: a\nspecVersion: "0.8"\nstates:\n- {{name: A, type: sleep, duration: {duration}, end: true}}\n'

DURATION_EVERYWHERE = """\
id: a
specVersion: "0.8"
timeouts: {workflowExecTimeout: a, stateExecTimeout: b, eventTimeout: c}
retries: [{name: r, delay: d, maxDelay: e, increment: f}]
events: [{name: e, type: t, kind: produced}, {name: g, type: t}]
states:
- name: A
  type: operation
  timeouts: {actionExecTimeout: g}
  actions:
  - sleep: {before: h, after: i}
    retryRef: r
    eventRef: {produceEventRef: e, consumeEventRef: g, consumeEventTimeout: j}
  end: {continueAs: {workflowId: w, workflowExecTimeout: {duration: k}}}
"""


@pytest.mark.parametrize(("duration", "meant"), [
    ("10s", "PT10S"), ("5 minutes", "PT5M"), ("2d", "P2D"), ("pt5m", "PT5M"), ("3 weeks", "P3W"),
])  # fmt: skip
def test_duration_what_is_meant(duration: str, meant: str) -> None:
    """One that is written in another way is refused with the way in which it is written here."""
    assert found("duration", DURATION_SLEEP.format(duration=duration)) == [
        f"4:36 error state 'A': duration {duration!r} is not a duration in ISO 8601 | did you mean {meant!r}?"
    ]


def test_duration_one_too_long() -> None:
    [problem] = found("duration", DURATION_SLEEP.format(duration="PT99999999999H"))
    assert "duration 'PT99999999999H' is longer than 999,999,999 days" in problem


def test_duration_an_expression() -> None:
    assert found("duration", DURATION_SLEEP.format(duration='"${ .wait }"')) == []


def test_duration_everywhere() -> None:
    assert [one.partition(" is not a duration")[0] for one in found("duration", DURATION_EVERYWHERE)] == [
        "3:33 error the workflow: duration 'a'", "3:54 error the workflow: stateExecTimeout 'b'",
        "3:71 error the workflow: eventTimeout 'c'", "4:28 error retry 'r': delay 'd'",
        "4:41 error retry 'r': maxDelay 'e'", "4:55 error retry 'r': increment 'f'",
        "9:33 error state 'A': actionExecTimeout 'g'", "11:21 error state 'A': before 'h'",
        "11:31 error state 'A': after 'i'", "13:77 error state 'A': consumeEventTimeout 'j'",
        "14:58 error state 'A': workflowExecTimeout 'k'",
    ]  # fmt: skip


# Functions ask for what can be had.

METADATA_FUNCTION = """
id: a
specVersion: "0.8"
functions:
- {{name: f, type: {kind}, operation: "{operation}", metadata: {metadata}}}
states:
- {{name: A, type: operation, actions: [{{functionRef: f}}], end: true}}
"""


@pytest.mark.parametrize(("kind", "operation", "metadata"), [
    ("rest", "a.json#f", "{failOnStatusCode: false, checkResponse: true, serverVariables: {region: eu}}"),
    ("openapi", "a.json#f", "{failOnStatusCode: null, team: orders, response: yes please}"),
    ("http", "GET:/a", "{failOnStatusCode: true, checkResponse: whatever}"),
    ("openapi", "a.json#f", "{output: response, redirect: true}"),
    ("custom", "f", "{output: json, redirect: never}"),
    ("asyncapi", "a.yaml#f", "{result: message, failOnStatusCode: 5}"),
    ("rpc", "a.proto#A#B", "{result: 5, failOnStatuscode: 5}"),
    ("custom", "f", "{failOnStatusCode: 5}"),
])  # fmt: skip
def test_metadata_what_can_be_had(kind: str, operation: str, metadata: str) -> None:
    assert (
        found("function-metadata", METADATA_FUNCTION.format(kind=kind, operation=operation, metadata=metadata).lstrip())
        == []
    )


@pytest.mark.parametrize(("kind", "operation", "metadata", "told"), [
    ("rest", "rest:GET:/a", "{failOnStatusCode: never}", "failOnStatusCode is 'never', and must be true or false"),
    ("openapi", "a.json#f", "{output: json}", "output is 'json', and must be 'content', 'raw' or 'response'"),
    ("http", "GET:/a", "{redirect: never}", "redirect is 'never', and must be true or false"),
    ("custom", "rest:GET:/a", "{failOnStatusCode: []}", "failOnStatusCode is [], and must be true or false"),
    ("openapi", "a.json#f", "{checkResponse: 1}", "checkResponse is 1, and must be true or false"),
    ("rest", "a.json#f", "{serverVariables: [eu]}", "serverVariables is ['eu'], and must be an object"),
    ("asyncapi", "a.yaml#f", "{result: all}", "result is 'all', and must be 'payload' or 'message'"),
])  # fmt: skip
def test_metadata_what_cannot(kind: str, operation: str, metadata: str, told: str) -> None:
    text = METADATA_FUNCTION.format(kind=kind, operation=operation, metadata=metadata).lstrip()
    [problem] = found("function-metadata", text)
    assert told in problem


# What a state injects is an object.

DATA_TEXT = """
id: a
specVersion: "0.8"
states:
- name: A
  type: inject
  data: DATA
  end: true
""".lstrip()


@pytest.mark.parametrize(("data", "kind"), [("7", "7"), ("true", "True"), ("plain", "'plain'"), ("[]", "a list")])
def test_data_no_object(data: str, kind: str) -> None:
    message = f"state 'A' injects {kind}, which replaces all data: only an object is added to it"
    hint = "write an object, as in data: {key: value}"
    assert found("inject-data", DATA_TEXT.replace("DATA", data)) == [f"6:9 warning {message} | {hint}"]


@pytest.mark.parametrize("data", ["{}", "{a: 1}", "null"])
def test_data_object(data: str) -> None:
    assert found("inject-data", DATA_TEXT.replace("DATA", data)) == []


# The names of variables that are always there are not given to others.

NAME_TEXT = """
id: a
specVersion: "0.8"
functions: [{name: f, operation: "api#f"}]
states:
- name: A
  type: foreach
  inputCollection: .list
  iterationParam: NAME
  actions: [{functionRef: f}]
  end: true
""".lstrip()


@pytest.mark.parametrize("name", ["SECRETS", "args", "ENV", "__now"])
def test_a_name_that_is_taken(name: str) -> None:
    assert found("reserved-name", NAME_TEXT.replace("NAME", name)) == [
        (f"8:19 error state 'A': the iterationParam {name!r} would hide the variable ${name}, which is always there"
         " | another name, such as item, is free"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["workflow", "argument", "${ .item }"])
def test_a_name_that_is_free(name: str) -> None:
    assert found("reserved-name", NAME_TEXT.replace("NAME", name)) == []


# A schedule says when: variants that the scenarios of refusals leave out.

SCHEDULE_DOCUMENT = """\
id: a
specVersion: "0.8"
start:
  stateName: Z
  schedule: SCHEDULE
states:
- {name: Z, type: inject, data: {}, end: true}
"""


@pytest.mark.parametrize(("schedule", "told"), [
    ("{cron: {expression: 0 9 8 13 *}}",
     ["5:39 error 13 is not a valid month: it goes from 1 to 12, or JAN and so on"]),
    ('{cron: "0 15,75 * ? * *"}', ["5:26 error 75 is not a valid minute: it goes from 0 to 59"]),
    ('{cron: "0 0 30 2 *"}', ["5:25 error the cron expression '0 0 30 2 *' names a day that never comes"]),
    ("R/P1MT1H", ["5:15 error 'P1MT1H' mixes months with days or hours, which no calendar can hold"]),
    ("{interval: R/PT0S, timezone: Mars/Base}",
     ["5:26 error 'PT0S' has no length: the shortest is a second",
      "5:42 error the timezone 'Mars/Base' is not known | such as Europe/Berlin"]),
    ('{cron: {expression: "* * * * *", validUntil: PT10M}}',
     [("5:58 warning validUntil 'PT10M' is a duration and not a point in time: "
       "the schedule cannot be applied | such as 2030-12-31T23:59:59Z")]),
])  # fmt: skip
def test_schedule_what_says_no_time(schedule: str, told: list[str]) -> None:
    assert found("schedule", SCHEDULE_DOCUMENT.replace("SCHEDULE", schedule)) == told


@pytest.mark.parametrize(
    "schedule",
    ['{interval: 2030-01-01T00:00:00Z/P1M, cron: "@daily"}', "R/PT1H", "R5/2030-01-01T00:00:00Z/PT1H",
     '{cron: "0 0/15 * * * ?", timezone: Europe/Berlin}'],
)  # fmt: skip
def test_schedule_what_says_times(schedule: str) -> None:
    assert found("schedule", SCHEDULE_DOCUMENT.replace("SCHEDULE", schedule)) == []


# A text that stands for itself was not meant as an expression.

TEXTS_DOCUMENT = """\
id: a
specVersion: "0.8"
secrets: [s]
functions: [{{name: f, operation: a.json#f, authRef: me}}]
auth: [{{name: me, scheme: bearer, properties: {{token: "{auth}"}}}}]
events:
- {{name: E, type: e, correlation: [{{contextAttributeName: k, contextAttributeValue: "{value}"}}]}}
states:
- {{name: W, type: event, onEvents: [{{eventRefs: [E]}}], transition: A}}
- name: A
  type: operation
  actions: [{{functionRef: {{refName: f, arguments: {{x: "{argument}"}}}}}}]
  transition: B
- {{name: B, type: inject, data: {{x: "{injected}"}}, end: true}}
"""
TEXTS_PLAIN = {"auth": "t", "value": "v", "argument": "x", "injected": "y"}

TEXTS_CASES: dict[str, tuple[dict[str, str], list[str]]] = {
    "what an event must have": ({"value": ".k"},
                                ["7:85 warning event 'E': '.k' is compared as text | did you mean '${ .k }'?"]),
    "a secret for a call": (
        {"argument": "$SECRETS.s", "auth": "$SECRETS.s"},
        ["5:55 warning auth 'me': '$SECRETS.s' is sent as text | did you mean '${ $SECRETS.s }'?",
         "12:55 warning state 'A': '$SECRETS.s' is sent as text | did you mean '${ $SECRETS.s }'?"],
    ),
    "a secret where none may be": ({"injected": "$SECRETS.s", "value": "$SECRETS.s"}, []),
    "arguments, which nobody has there": ({"argument": "$args.x"}, []),
    "a name that is injected": ({"injected": ".env", "argument": ".x"},
                                ["12:55 warning state 'A': '.x' is sent as text | did you mean '${ .x }'?"]),
}  # fmt: skip


@pytest.mark.parametrize(("texts", "expected"), TEXTS_CASES.values(), ids=TEXTS_CASES)
def test_texts_meant(texts: dict[str, str], expected: list[str]) -> None:
    assert found("plain-text", TEXTS_DOCUMENT.format(**{**TEXTS_PLAIN, **texts})) == expected


def test_texts_a_name_that_the_input_has() -> None:
    text = TEXTS_DOCUMENT.format(**{**TEXTS_PLAIN, "argument": ".env"})
    assert found("plain-text", text) == []
    schema = "dataInputSchema: {schema: {type: object, properties: {env: {type: string}}}}\n"
    assert len(found("plain-text", text + schema)) == 1


def test_texts_no_language() -> None:
    assert (
        found("plain-text", TEXTS_DOCUMENT.format(**{**TEXTS_PLAIN, "argument": ".x"}) + "expressionLang: cel\n") == []
    )


def test_texts_the_place_of_a_secret() -> None:
    text = TEXTS_DOCUMENT.format(**TEXTS_PLAIN).replace('properties: {token: "t"}', 'properties: "$SECRETS.s"')
    assert "$SECRETS.s" in text
    assert found("plain-text", text) == []


# What a state may limit, and by how much.

TIMEOUTS_TEXT = """
id: a
specVersion: "0.8"
functions: [{name: f, operation: "api#f"}]
states:
- {name: A, type: operation, actions: [{functionRef: f}], timeouts: {TIMEOUTS}, end: true}
""".lstrip()


def _timeouts_with(timeouts: str) -> str:
    return TIMEOUTS_TEXT.replace("TIMEOUTS", timeouts)


def test_timeouts_a_state_can_limit_what_is_in_it() -> None:
    nap = (
        "{name: A, type: sleep, duration: PT1M, timeouts: {stateExecTimeout: PT1M, actionExecTimeout: PT1S}, end: true}"
    )
    (told,) = found("unknown-property", f'id: a\nspecVersion: "0.8"\nstates: [{nap}]')
    assert told.split(" | ") == [
        "3:84 warning state 'A': 'actionExecTimeout' limits nothing in a state of the type sleep",
        "there is stateExecTimeout",
    ]


@pytest.mark.parametrize(("body", "times", "told"), [
    ("type: event, exclusive: false, onEvents: [{eventRefs: [e]}], end: true",
     "stateExecTimeout actionExecTimeout eventTimeout", []),
    ("type: callback, action: {functionRef: f}, eventRef: e, end: true", "actionExecTimeout eventTimeout", []),
    ("type: foreach, inputCollection: .l, actions: [{functionRef: f}], end: true", "actionExecTimeout", []),
    ("type: parallel, branches: [{name: B, actions: []}], end: true", "actionExecTimeout branchExecTimeout", []),
    ("type: switch, eventConditions: [{eventRef: e, end: true}]", "stateExecTimeout eventTimeout", []),
    ("type: switch, dataConditions: [{condition: .a, end: true}]", "stateExecTimeout eventTimeout",
     ["state 'A': 'eventTimeout' limits nothing in a switch without eventConditions"]),
    ("type: parallel, end: true, branches: [{name: B, actions: [], timeouts: {stateExecTimeout: PT1S}}]",
     "stateExecTimeout eventTimeout",
     ["branch 'B' of state 'A': 'stateExecTimeout' limits nothing in a branch",
      "state 'A': 'eventTimeout' limits nothing in a state of the type parallel"]),
])  # fmt: skip
def test_timeouts_times_by_type(body: str, times: str, told: list[str]) -> None:
    """A time that limits something in a state of its type, or in a branch, is nothing to warn of."""
    timeouts = ", ".join(f"{time}: PT1M" for time in times.split())
    text = f'id: a\nspecVersion: "0.8"\nstates: [{{name: A, {body}, timeouts: {{{timeouts}}}}}]'
    messages = [one.partition(" | ")[0] for one in found("unknown-property", text)]
    assert [one.partition(" warning ")[2] for one in messages] == told


def test_timeouts_a_state_needs_some_time() -> None:
    assert found("duration", _timeouts_with("stateExecTimeout: PT0.001S, actionExecTimeout: PT0S")) == []


# The table of rules is complete, and every rule says where it comes from

MODULES = [import_module(f"{rules.__name__}.{found.name}") for found in pkgutil.iter_modules(rules.__path__)]


def test_every_rule_is_in_the_table() -> None:
    assert sorted(rule.__module__ for rule in RULES) == sorted(module.__name__ for module in MODULES)


def test_every_rule_cites_a_section() -> None:
    assert [module.__name__ for module in MODULES if "(section" not in (module.__doc__ or "")] == []


# Documents of extensions are read, checked, and part of the definition

STATES = "states:\n- {name: Z, type: inject, data: {}, end: true}\n"
KPI = {
    "extensionid": "workflow-kpi-extension",
    "workflowid": "a",
    "workflow": {"per": {"time": "PT1D", "instances": 1}, "maxInvoked": "500", "avgDuration": "PT1M"},
    "events": [{"for": "Paid", "per": {"instances": "1"}, "maxConsumed": "100"}],
}


@pytest.mark.parametrize("key", ["resource", "path"])
def test_documents_of_extensions(tmp_path: Path, key: str) -> None:
    """The document of an extension is read, checked, told about in its own file, and travels with the definition."""
    (tmp_path / "kpi.json").write_text(json.dumps({**KPI, "workflw": {}}))
    text = (
        f'id: a\nspecVersion: "0.8"\nextensions: [{{extensionId: workflow-kpi-extension, {key}: kpi.json}}]\n{STATES}'
    )
    checked = check(text, folder=tmp_path)
    assert [(one.code, one.file, one.hint) for one in checked.problems] == [
        ("extension", "<definition>", None),
        ("extension", str(tmp_path / "kpi.json"), "did you mean 'workflow'?"),
    ]
    again = checked_model(check(checked_model(checked).source.text))
    assert again.extensions == checked_model(checked).extensions
    assert again.extensions[0]["document"]["workflowid"] == "a"


def test_list_of_extensions_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "ext.json").write_text('{"extensions": [{"extensionId": "mine", "a": 1}]}')
    checked = check(f'id: a\nspecVersion: "0.8"\nextensions: ext.json\n{STATES}', folder=tmp_path)
    assert [one.message for one in checked.problems] == ["extension 'mine' is not supported, and has no effect"]
    assert checked_model(checked).extensions == ({"extensionId": "mine", "a": 1},)


def test_extensions_not_found(tmp_path: Path) -> None:
    """An extension whose document is not there is told, and the definition runs without."""
    text = f'id: a\nspecVersion: "0.8"\nextensions: [{{extensionId: mine, resource: gone.json}}]\n{STATES}'
    checked = check(text, folder=tmp_path)
    assert [(one.code, one.severity) for one in checked.problems] == [
        ("extension", "warning"),
        ("external-missing", "warning"),
    ]
    assert checked.definition is not None


# Names that a server cannot have are told before anything runs

LONG = "é" * 501
"""In bytes 1,002."""


def test_names_that_are_too_long() -> None:
    """Of the id and of functions it is an error, of events a warning: these can be sent without their name."""
    definition = {
        "id": LONG,
        "specVersion": "0.8",
        "functions": [{"name": LONG, "type": "custom"}],
        "events": [{"name": LONG, "type": "t", "source": "s"}],
        "states": [{"name": "Call", "type": "operation", "actions": [{"functionRef": LONG}], "transition": "Wait"},
                   {"name": "Wait", "type": "event", "onEvents": [{"eventRefs": [LONG]}], "end": True}],
    }  # fmt: skip
    with pytest.raises(InvalidDefinition) as refused:
        load(definition)
    told = f"the name '{'é' * 40}…' has 1,002 bytes, and a server takes no more than 1,000"
    found = [(str(one.severity), one.message) for one in refused.value.problems if one.code == "name-too-long"]
    assert sorted(found) == sorted(
        [
            ("error", f"the id of the workflow is its type on the server: {told}"),
            ("error", f"a function is an activity on the server: {told}"),
            ("warning", f"the name of the event cannot be that of a signal: {told}"),
        ]
    )


def test_an_id_that_some_servers_cannot_store() -> None:
    definition = {
        "id": "x" * 256,
        "specVersion": "0.8",
        "states": [{"name": "A", "type": "inject", "data": {"a": 1}, "end": True}],
    }
    assert [one.message for one in check(json.dumps(definition)).warnings] == [
        "the id has 256 characters: servers on MySQL and PostgreSQL store 255"
    ]


@pytest.mark.parametrize("id_", ['an "order"', "orders\\\\"])
def test_an_id_that_no_list_can_be_filtered_by(id_: str) -> None:
    """An error: events without correlation, and those who look for instances, would find none."""
    state = {"name": "A", "type": "inject", "data": {"a": 1}, "end": True}
    [problem] = check(json.dumps({"id": id_, "specVersion": "0.8", "states": [state]})).errors
    assert problem.message.endswith("has a quotation mark or a backslash, and servers find no instances by such an id")


def test_all_of_our_own_types_are_reserved() -> None:
    types = {publishing.DELAYED_EVENT, mailbox_records.MAILBOX, place_records.PLACES, variables.TYPE}
    assert types == WORKFLOW_TYPES
    activities = {
        records.RESOLVE, records.LOOK_UP, records.LIMITS, records.PUBLISH, constants.ENDING, instance_signals.FIND,
        place_records.TELL, place_records.LOOK, search_attributes.LOOK,
    }  # fmt: skip
    assert activities | {variables.READ_VARIABLE, variables.WRITE_VARIABLE, variables.INSTANCE_ENDED} == ACTIVITY_TYPES


def test_thousands_of_unknown_properties_are_not_all_compared() -> None:
    unknown = "".join(f"  k{number}: 1\n" for number in range(1500))
    text = f'id: a\nspecVersion: "0.8"\nstates:\n- name: A\n  type: inject\n  data: {{}}\n  end: true\n{unknown}'
    assert len(found("unknown-property", text)) == 1000
