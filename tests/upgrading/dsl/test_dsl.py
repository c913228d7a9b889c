"""Definitions of 0.8 as DSL 1.0: their text, what is reported, and that both come to the same."""

import json
import re
from collections import Counter
from typing import Any

import pytest
import yaml
from ruamel.yaml import YAML

from swf_temporal import simulate
from swf_temporal.base.errors import InvalidDefinition, UsageError
from swf_temporal.languages.base import Upgraded
from swf_temporal.languages.known import upgrade
from swf_temporal.languages.loading import check
from swf_temporal.languages.serverless_workflow.upgrading.dsl.errors import GIVEN
from swf_temporal.languages.serverless_workflow.upgrading.dsl.merging import ARRAYS, RESPONSE
from swf_temporal.text.origin import Source
from tests.loading.mutations import VERSIONS, mutated
from tests.sampling import seeds
from tests.upgrading.dsl.agreeing import Outcome, compared, problems, scenarios
from tests.upgrading.dsl.attribution import attributed
from tests.upgrading.older import older

OLD = """\
# Orders are checked.
id: orderCheck
name: Order check
version: "1.0"
specVersion: "0.8"
functions:
  # The shop's own service
  - {name: price, operation: shop.json#price}
  - {name: discount, type: expression, operation: "${ .price * $CONST.rate }"}
constants: {rate: 0.9}
retries:
  - {name: thrice, delay: PT1M, maxAttempts: 3}
states:
  # It begins with defaults.
  - name: Begin
    type: inject
    data: {currency: EUR}
    transition: Ask for the price
  - name: Ask for the price   # by HTTP
    type: operation
    actions:
      - functionRef: {refName: price, arguments: {item: "${ .item }"}}
        actionDataFilter: {results: "${ .amount }", toStateData: "${ .price }"}
        retryRef: thrice
      - functionRef: discount
        actionDataFilter: {toStateData: "${ .reduced }"}
    onErrors:
      - {errorRef: not found, transition: Reject}
    transition: Is it cheap?
  - name: Is it cheap?
    type: switch
    dataConditions:
      - {name: cheap, condition: "${ .reduced < 100 }", end: true}
    defaultCondition: {transition: Wait}
  - {name: Wait, type: sleep, duration: PT1H, end: true}
  - name: Reject
    type: inject
    data: {rejected: true}
    stateDataFilter: {output: "${ {item, rejected} }"}
    end: true
errors: [{name: not found, code: "404"}]
"""
NEW = """\
# Orders are checked.
document:
  dsl: 1.0.3
  namespace: default
  name: orderCheck
  version: 1.0.0
  title: Order check
use:
  retries:
    thrice:
      delay: PT1M
      limit:
        attempt:
          count: 2
  functions:
    # The shop's own service
    price:
      call: openapi
      with:
        document:
          endpoint: shop.json
        operationId: price
        parameters:
          item: ${ .item }
do:
  # It begins with defaults.
  - Begin:
      set:
        currency: EUR
      output:
        as: ${ $input * . }
  # by HTTP
  - AskForThePrice:
      try:
        - tryPrice:
            try:
              - price:
                  call: price
                  with:
                    item: ${ .item }
                  output:
                    as: '${ $input * ({price: (.amount | values)} // {}) }'
            catch:
              retry: thrice
        - discount:
            set: ${ .price * 0.9 }
            output:
              as: '${ $input * ({reduced: values} // {}) }'
      catch:
        errors:
          with:
            status: 404
        then: Reject
  - IsItCheap:
      switch:
        - cheap:
            when: ${ .reduced < 100 }
            then: end
        - otherwise:
            then: Wait
  - Wait:
      wait: PT1H
      then: end
  - Reject:
      set:
        rejected: true
      output:
        as: ${ $input * . | {item, rejected} }
"""
FOLDERS = {"switch/": 12, "inject/": 4, "sleep/": 1, "callback/": 4, "operation/actions": 15}
"""Folders and files of scenarios, with how many of them have to agree at least."""
COUNT = 10, 300


def rewritten(workflow: dict[str, Any], **more: Any) -> Upgraded:
    return upgrade(Source(json.dumps({"id": "one", "specVersion": "0.8", **workflow})), "1.0", **more)


def states(*given: dict[str, Any], **more: Any) -> Upgraded:
    return rewritten({"states": list(given), **more})


def kinds(made: Upgraded) -> dict[str, list[str]]:
    return {
        kind: [one.message for one in made.changes if one.kind == kind] for kind in {one.kind for one in made.changes}
    }


def inject(name: str, **more: Any) -> dict[str, Any]:
    way = {} if "transition" in more else {"end": True}
    return {"name": name, "type": "inject", "data": {"a": 1}, **way, **more}


def test_a_definition_is_written_as_a_person_would() -> None:
    made = upgrade(Source(OLD), "1.0")
    assert made.text == NEW
    assert made.is_complete
    checked = check(made.text)
    assert not [one for one in checked.problems if one.code != "function-document"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_scenarios_come_to_the_same(folder: str) -> None:
    found = [one for one in (compared(name, document) for name, document in scenarios(folder)) if one is not None]
    assert [one for one in found if one.outcome is Outcome.DIFFER] == []
    assert Counter(one.outcome for one in found)[Outcome.AGREE] >= FOLDERS[folder]


def test_generated_definitions_come_to_the_same() -> None:
    found = [compared(str(seed), older(seed, "0.8")) for seed in seeds("upgraded to DSL 1.0", *COUNT)]
    assert [one for one in found if one is not None and one.outcome is Outcome.DIFFER] == []


def test_what_is_reported_is_why_generated_definitions_differ() -> None:
    """Without what the report names, the original and the rewritten one agree."""
    apart: dict[int, Any] = {}
    for seed in seeds("upgraded to DSL 1.0, attributed", *COUNT):
        document = older(seed, "0.8")
        found = compared(str(seed), document)
        if found is not None and found.outcome is Outcome.REPORTED:
            without = attributed(found, document)
            if without is None or without.outcome is not Outcome.AGREE:
                apart[seed] = without
    assert apart == {}


@pytest.mark.parametrize("collection", ["${ .list // [] }", "${ .list[] }", "${ .list | map(.) }", "${ [.list[]] }"])
def test_a_collection_has_the_same_elements(collection: str) -> None:
    state = {
        "name": "A",
        "type": "foreach",
        "mode": "sequential",
        "inputCollection": collection,
        "iterationParam": "one",
        "actions": [{"functionRef": {"refName": "work", "arguments": {"n": "${ .one }"}}}],
        "outputCollection": "${ .out }",
        "end": True,
    }
    functions = [{"name": "work", "type": "custom"}]
    workflow = {"id": "each", "specVersion": "0.8", "functions": functions, "states": [state]}
    for given in ([1, 2], [{"a": 1}, 3, [4]], []):
        document = {"scenario": "Elements", "workflow": workflow, "input": {"list": given}, "functions": {"work": 7}}
        found = compared("elements", document)
        assert found is not None
        assert found.outcome is Outcome.AGREE, found


def test_the_path_of_a_call_in_its_place_is_filled_with_its_arguments() -> None:
    """In DSL 1.0 the names in a URI template are those of properties of the input."""
    given = {"id": "${ .order }", "HEADER_key": "${ $SECRETS.key }"}
    functions = [{"name": "get", "type": "http", "operation": "GET:https://shop.example/orders/{id}/lines"}]
    made = rewritten(
        {
            "secrets": ["key"],
            "functions": functions,
            "states": [operation("A", {"functionRef": {"refName": "get", "arguments": given}})],
        }
    )
    (task,) = json.loads(made.text)["do"]
    assert task["A"]["with"]["endpoint"] == '${ "https://shop.example/orders/\\(.order | tostring | @uri)/lines" }'


def each_order(*actions: Any) -> Any:
    """Return the tasks of an iteration over orders that performs *actions*."""
    state = {
        "name": "A",
        "type": "foreach",
        "mode": "sequential",
        "inputCollection": "${ .orders }",
        "iterationParam": "order",
        "actions": list(actions),
        "end": True,
    }
    work = {"name": "work", "type": "custom"}
    made = rewritten({"functions": [work], "retries": [{"name": "often", "delay": "PT1S"}], "states": [state]})
    return json.loads(made.text)["do"][0]["A"]["do"]


def test_an_iteration_uses_the_variable_of_its_element() -> None:
    arguments = {"n": "${ .order.number + .first }", "text": "order ${ .order.name } of ${ .a.order }"}
    call = {"functionRef": {"refName": "work", "arguments": arguments}}
    [step] = each_order({**call, "condition": "${ .order.number > 1 and .open }"})
    assert step["work"]["if"] == "${ $order.number > 1 and .open }"
    assert step["work"]["with"]["n"] == "${ $order.number + .first }"
    assert step["work"]["with"]["text"] == "order ${ $order.name } of ${ .a.order }"
    plain = {"functionRef": {"refName": "work", "arguments": {"n": "${ .order }", "m": "${ .a.order }"}}}
    [step] = each_order(plain)
    assert list(step["work"]) == ["call", "with", "output"]
    assert step["work"]["with"] == {"n": "${ $order }", "m": "${ .a.order }"}
    [step] = each_order({**plain, "retryRef": "often"})
    assert step["tryWork"]["try"][0]["work"]["with"]["n"] == "${ $order }"
    [step] = each_order({**plain, "actionDataFilter": {"fromStateData": "${ {order: .order.a} }"}})
    assert step["work"]["input"] == {"from": "${ {order: $order.a} }"}
    assert step["work"]["with"]["n"] == "${ .order }"


@pytest.mark.parametrize("expression", ["${ . }", '${ "\\(.order)" }', "${ [.order] | length }", '${ .["order"] }'])
def test_an_iteration_whose_expression_is_not_plain_has_the_element_in_its_data(expression: str) -> None:
    [step] = each_order({"functionRef": {"refName": "work", "arguments": {"n": expression}}})
    (task,) = step.values()
    assert task["input"] == {"from": "${ . + {order: $order} }"}


def test_actions_after_the_first_look_in_the_data_for_the_element() -> None:
    """What the first has merged into the data may have the key of the element."""
    call = {"functionRef": {"refName": "work", "arguments": {"n": "${ .order }"}}}
    [step] = each_order(call, call)
    assert step["iteration"]["input"] == {"from": "${ . + {order: $order} }"}
    assert step["iteration"]["do"][1]["work2"]["with"] == {"n": "${ .order }"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_definition_that_is_broken_at_random_is_written_or_refused(version: str) -> None:
    for seed in seeds(f"upgrades of {version}", 25, 1_000):
        try:
            made = upgrade(Source(mutated(version, seed)), "1.0")
        except (InvalidDefinition, UsageError):
            continue
        if made.is_complete:
            wrong = [one for one in problems(made.text) if "error external-missing" not in one]
            assert wrong == [], f"{version}, seed {seed}"


def test_a_schema_may_be_elsewhere() -> None:
    made = states(inject("A"), dataInputSchema="order.json")
    assert made.is_complete
    assert json.loads(made.text)["input"] == {"schema": {"resource": {"endpoint": "order.json"}}}


def test_what_does_not_load_is_told() -> None:
    """In 0.8 the variable of another state fails when it is used; 1.0 refuses it when it is loaded."""
    call = {"functionRef": {"refName": "work", "arguments": {"n": "${ $one }"}}}
    each = {"type": "foreach", "inputCollection": "${ .list }", "iterationParam": "one", "actions": [call], "end": True}
    functions = [{"name": "work", "type": "custom"}]
    made = states(operation("A", call, transition="B"), {"name": "B", **each}, functions=functions)
    assert kinds(made)["inexpressible"] == [
        "what is written has an error: task 'A': with.n uses $one, which has no value there"
    ]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"expressionLang": "jsonpath"}, "the expression '$.b' in jsonpath"),
        ({"auth": [{"name": "key", "scheme": "bearer", "properties": {"token": 1}}]}, "which are not all texts"),
        ({"auth": [{"name": "key", "scheme": "basic", "properties": "other"}]}, "the properties 'other' of the auth"),
        ({"dataInputSchema": "a schema.json"}, "the schema of the input 'a schema.json', which is no URI"),
    ],
)
def test_a_part_that_cannot_be_expressed_is_named(parts: dict[str, Any], message: str) -> None:
    function = {"name": "get", "operation": "api.json#get", **({"authRef": "key"} if "auth" in parts else {})}
    call = {"functionRef": {"refName": "get", "arguments": {"a": "${ $.b }" if "expressionLang" in parts else 1}}}
    made = states(operation("A", call), functions=[function], **parts)
    assert message in str(kinds(made)["inexpressible"])
    assert not [one for one in check(made.text).errors if one.code != "function-document"]


def test_texts_that_look_like_expressions_stay_texts() -> None:
    event = {"name": "Done", "type": "${ .a }", "source": "s", "kind": "produced"}
    made = states(inject("A", end={"produceEvents": [{"eventRef": "Done"}]}), events=[event])
    assert json.loads(made.text)["do"][1]["Done"]["emit"]["event"]["with"]["type"] == '${ "${ .a }" }'
    other = states(inject("A", end={"produceEvents": [{"eventRef": "Done"}]}), events=[{**event, "source": "a${b}"}])
    assert "the source 'a${b}', which is no URI" in str(kinds(other)["inexpressible"])


def test_a_step_into_a_constant_that_is_no_object_fails_as_before() -> None:
    state = inject("A", data={"a": "${ $CONST.text.b }", "c": "${ $CONST.nothing.b }"})
    made = states(state, constants={"text": "x", "nothing": None})
    assert json.loads(made.text)["do"][0]["A"]["set"] == {"a": '${ "x".b }', "c": "${ null }"}


def test_a_collection_of_what_cannot_be_expressed() -> None:
    state = {
        "name": "A",
        "type": "foreach",
        "inputCollection": "${ .list }",
        "outputCollection": "${ .out }",
        "iterationParam": "one",
        "actions": [{"functionRef": {"refName": "work", "arguments": {"a": "${ $WORKFLOW }"}}}],
        "end": True,
    }
    made = states(state, functions=[{"name": "work", "type": "custom"}])
    assert kinds(made)["inexpressible"] == ["the action 'work': $WORKFLOW as a whole"]
    assert "501" in made.text


STARTS = """\
id: order
specVersion: "0.8"
events:
  - {name: placed, type: placed, source: shop, correlation: [{contextAttributeName: orderid}]}
  - {name: paid, type: paid, source: bank, correlation: [{contextAttributeName: orderid}]}
states:
  - {name: Begin, type: event, onEvents: [{eventRefs: [placed]}], transition: Wait}
  - {name: Wait, type: event, onEvents: [{eventRefs: [paid]}], end: true}
"""


def test_the_event_that_starts_an_instance_fixes_the_values_of_those_that_follow() -> None:
    made = upgrade(Source(STARTS), "1.0")
    document = yaml.safe_load(made.text.replace("'on'", "started"))
    assert document["schedule"] == {
        "started": {"one": {"with": {"type": "placed", "source": "shop"}}},
        "read": "envelope",
    }
    assert document["input"]["from"].startswith("${ .[0].data | objects")
    expected = {"from": "${ .orderid }", "expect": "${ $workflow.input[0].orderid }"}
    assert document["do"][0]["Wait"]["listen"]["to"]["one"]["correlate"] == {"orderid": expected}
    assert not [one for one in made.changes if "without expect" in one.message]
    other = upgrade(Source(STARTS.replace("orderid}]}\n  - {name: paid", "other}]}\n  - {name: paid")), "1.0")
    assert [one.line for one in other.changes if "without expect" in one.message] == [8]


@pytest.mark.parametrize("waits_for", ["1", "2"])
def test_the_started_instance_takes_its_own_event(waits_for: str) -> None:
    """Two orders are open: each instance waits for the payment of its own."""
    document = yaml.safe_load(upgrade(Source(STARTS), "1.0").text)
    placed = {
        "specversion": "1.0",
        "id": "a",
        "type": "placed",
        "source": "shop",
        "orderid": waits_for,
        "data": {"n": 1},
    }
    paid = [
        {
            "specversion": "1.0",
            "id": number,
            "type": "paid",
            "source": "bank",
            "orderid": number,
            "data": {"for": number},
        }
        for number in ("1", "2")
    ]
    ended = simulate(document, [placed], events=paid)
    assert ended.output == {"n": 1, "for": waits_for}


@pytest.mark.parametrize(
    ("cron", "written", "said"),
    [
        ("0 0/15 * * * ?", "*/15 * * * *", "is '*/15 * * * *'"),
        ("0 30 6 ? * *", "30 6 * * *", "is '30 6 * * *'"),
        ("*/5 * * * *", "*/5 * * * *", None),
        ("30 0 6 * * ?", "30 0 6 * * ?", "is one of Quartz"),
        ("0 0 6 ? * 2", "0 0 6 ? * 2", "is one of Quartz"),
        ("0 0 6 L * ?", "0 0 6 L * ?", "is one of Quartz"),
        ("0 0 6 * * ? 2030", "0 0 6 * * ? 2030", "is one of Quartz"),
    ],
)
def test_a_cron_expression_has_no_seconds_where_it_needs_none(cron: str, written: str, said: str | None) -> None:
    made = states(inject("A"), start={"stateName": "A", "schedule": {"cron": cron}})
    assert json.loads(made.text)["schedule"] == {"cron": written}
    assert [one for one in kinds(made).get("changed", []) if "cron" in one] == (
        []
        if said is None
        else [f"the cron expression {cron!r} {said}" + (", which not every runtime reads" if "one" in said else "")]
    )


def test_events_with_the_same_filter_are_one() -> None:
    events = [{"name": name, "type": "order", "source": "shop/+"} for name in ("a", "b")]
    waiting = {"name": "A", "type": "event", "onEvents": [{"eventRefs": ["a", "b"]}], "end": True}
    made = states(inject("Begin", transition="A"), waiting, events=events)
    wanted = {"type": "order", "source": "^shop/[^/]+$"}
    assert json.loads(made.text)["do"][1]["A"]["listen"]["to"] == {"one": {"with": wanted}}


def test_the_report_says_nothing_that_does_not_apply() -> None:
    call = {"functionRef": "work", "retryRef": "often"}
    parts: dict[str, Any] = {
        "functions": [{"name": "work", "type": "custom"}],
        "errors": [{"name": "bad", "code": "404"}],
        "retries": [{"name": "often", "delay": "PT1S"}],
    }
    one = states(operation("A", call, onErrors=[{"errorRef": "bad", "end": True}]), **parts)
    assert GIVEN not in kinds(one)["differs"]
    two = states(operation("A", call, call, onErrors=[{"errorRef": "bad", "end": True}]), **parts)
    assert GIVEN in kinds(two)["differs"]
    each = {"type": "foreach", "inputCollection": "${ .list }", "outputCollection": "${ .out }", "actions": [call]}
    collected = states({"name": "A", **each, "end": True}, **parts)
    assert not {ARRAYS, RESPONSE} & set(kinds(collected)["differs"])
    plain = states(inject("A", data={"text": "${ .a } b"}))
    assert "differs" not in kinds(plain)
    assert kinds(states(inject("A", data={"list": [1]})))["differs"] == [ARRAYS]


@pytest.mark.parametrize("kind", ["functions", "events", "retries", "errors", "auth", "secrets", "constants"])
def test_components_elsewhere_have_to_exist(kind: str) -> None:
    with pytest.raises(InvalidDefinition, match=f"{kind} are in 'missing.json', which does not exist"):
        states(inject("A"), **{kind: "missing.json"})


@pytest.mark.parametrize("source", ["", "urgent", "urgent/#"])
def test_events_that_cannot_be_told_apart_are_refused(source: str) -> None:
    events = [
        {"name": "any", "type": "order", "source": source},
        {"name": "urgent", "type": "order", "source": "urgent"},
    ]
    entries = [
        {"eventRefs": [one["name"]], "eventDataFilter": {"toStateData": f"${{ .{one['name']} }}"}} for one in events
    ]
    waiting = {"name": "A", "type": "event", "exclusive": False, "onEvents": entries, "end": True}
    made = rewritten({"events": events, "states": [inject("Begin", transition="A"), waiting]})
    assert "whose sources are no different" in str(kinds(made)["inexpressible"])


@pytest.mark.parametrize("text", ["yes", "No", "off", "y", "12:30", "0777"])
def test_yaml_reads_the_same_in_both_of_its_versions(text: str) -> None:
    """YAML 1.1 takes such plain texts, also keys, for booleans and numbers."""
    before = {"id": "x", "specVersion": "0.8", "states": [inject("A", data={"key": text, text: "a"})]}
    made = upgrade(Source(yaml.safe_dump(before)), "1.0")
    for version in ((1, 1), (1, 2)):
        reader = YAML(typ="safe", pure=True)
        reader.version = version
        (task,) = reader.load(made.text)["do"]
        assert task["A"]["set"] == {"key": text, text: "a"}


def test_what_is_called_otherwise_is_said() -> None:
    again = {"name": "Again", "delay": "PT1S", "maxAttempts": 3}
    heard = {"name": "heard", "type": "heard", "source": "room/+"}
    waiting = {"name": "B", "type": "event", "onEvents": [{"eventRefs": ["heard"]}], "end": True}
    call = {"functionRef": "work", "retryRef": "Again"}
    functions = [{"name": "work", "type": "custom"}]
    made = rewritten(
        {
            "functions": functions,
            "retries": [again],
            "events": [heard],
            "states": [operation("Do the work", call, transition="B"), waiting],
        }
    )
    assert {
        "states are tasks, whose names have no blanks: 'Do the work' is DoTheWork",
        "maxAttempts of the retry 'Again' counts the first attempt, too: count is 2",
        "the source 'room/+' is written as the regular expression ^room/[^/]+$",
    } <= set(kinds(made)["changed"])


def test_the_namespace_is_chosen() -> None:
    assert json.loads(rewritten({"states": [inject("A")]}).text)["document"]["namespace"] == "default"
    assert json.loads(rewritten({"states": [inject("A")]}, namespace="shop").text)["document"]["namespace"] == "shop"
    with pytest.raises(UsageError, match="in no namespace"):
        upgrade(Source(OLD), "0.8", "shop")


def test_names_stay_recognisable_and_are_unique() -> None:
    made = json.loads(
        states(inject("Ship it!", transition="ship it"), inject("ship it", transition="end"), inject("end")).text
    )
    assert [name for task in made["do"] for name in task] == ["ShipIt", "shipIt", "end2"]


def test_the_start_comes_first() -> None:
    made = json.loads(states(inject("B"), inject("A", transition="B"), start="A").text)
    assert [list(task) for task in made["do"]] == [["A"], ["B"]]
    assert "then" not in made["do"][0]["A"]


def test_older_versions_become_0_8_before() -> None:
    old = {"id": "old", "states": [{"name": "Wait", "type": "delay", "timeDelay": "PT1S", "end": True}]}
    made = upgrade(Source(json.dumps(old)), "1.0")
    assert (made.version, made.to) == ("0.6", "1.0")
    assert json.loads(made.text)["do"] == [{"Wait": {"wait": "PT1S"}}]


UNDOING = [
    inject("A", compensatedBy="undo A", transition="B"),
    inject("undo A", data={"undone": "A"}, usedForCompensation=True, end=None),
    inject("undo B", data={"undone": "B"}, usedForCompensation=True, end=None),
]


def test_what_is_undone_stands_where_it_is_asked_for_latest_first() -> None:
    made = json.loads(states(*UNDOING, inject("B", compensatedBy="undo B", end={"compensate": True})).text)
    assert [name for task in made["do"] for name in task] == ["A", "B", "undoB", "undoA"]
    assert "export" not in str(made)


def test_states_note_that_they_are_done_where_the_run_decides_what_is_undone() -> None:
    choice = {
        "name": "Choose",
        "type": "switch",
        "dataConditions": [{"condition": "${ .skip }", "transition": "Stop"}],
        "defaultCondition": {"transition": "A"},
    }
    first, *others = UNDOING
    stop = inject("Stop", end={"compensate": True})
    made = states(choice, {**first, "transition": "Stop"}, *others, stop)
    tasks = {name: task for one in json.loads(made.text)["do"] for name, task in one.items()}
    assert tasks["A"]["export"] == {"as": '${ $context + {toUndo: [$context.toUndo[]?, "A"]} }'}
    assert tasks["undoBeforeEnd"]["for"]["in"] == "${ $context.toUndo // [] | reverse }"
    assert made.is_complete


@pytest.mark.parametrize(
    ("workflow", "message"),
    [
        (
            {"states": [inject("A", end={"continueAs": "B"})]},
            "1.0 has no continueAs: the task 'continueAsB' runs the workflow 'B' within this one, and waits for it",
        ),
        ({"states": [inject("A")], "keepActive": True}, "1.0 has no keepActive: an instance completes at its end"),
        (
            {"states": [inject("A", data={"a": "${ $WORKFLOW.runId }"})]},
            "1.0 has no id of a run: $WORKFLOW.runId is the id of the instance",
        ),
        ({"states": [inject("A")], "name": "${ .x }"}, "the name of a workflow has no expressions in 1.0"),
        ({"states": [inject("A")], "version": "${ .x }"}, "the version of a workflow has no expressions in 1.0"),
    ],
)
def test_what_1_0_cannot_say_is_reported_with_what_is_written_instead(workflow: dict[str, Any], message: str) -> None:
    made = rewritten(workflow)
    assert made.is_complete
    assert message in kinds(made)["differs"]


def test_what_cannot_be_expressed_is_refused_and_fails_if_it_is_run_all_the_same() -> None:
    made = states(inject("A", transition="B"), inject("B", data={"b": "${ $WORKFLOW }"}))
    assert not made.is_complete
    assert kinds(made)["inexpressible"] == ["the inject state 'B': $WORKFLOW as a whole"]
    task = json.loads(made.text)["do"][1]["B"]
    assert list(task) == ["raise", "metadata"]
    assert task["metadata"]["original"]["state"]["data"] == {"b": "${ $WORKFLOW }"}


def test_what_is_around_a_refused_action_stays_and_does_not_repeat_it() -> None:
    """Its condition, its sleep and its retries, which an author needs around what he writes in its place."""
    action = {
        "functionRef": {"refName": "work", "arguments": {"a": "${ $WORKFLOW }"}},
        "condition": "${ .go }", "sleep": {"before": "PT1S"}, "retryRef": "ever", "nonRetryableErrors": ["bad"],
    }  # fmt: skip
    workflow = {
        "functions": [{"name": "work", "type": "custom"}],
        "errors": [{"name": "bad", "code": "404"}],
        "retries": [{"name": "ever", "delay": "PT1S"}],
        "states": [operation("A", action)],
    }
    made = rewritten(workflow)
    document = json.loads(made.text)
    [found] = document["do"][0].values()
    assert not made.is_complete
    assert found["if"] == "${ .go }"
    assert [list(one) for one in found["do"]] == [["waitBeforeWork"], ["tryWork"]]
    tried = found["do"][1]["tryWork"]
    assert tried["catch"] == {"exceptWhen": "${ $error.status == 404 or $error.status == 501 }", "retry": "ever"}
    assert simulate(document, {"go": False}).status == "completed"
    refused = simulate(document, {"go": True})
    assert refused.error is not None
    assert "not upgraded: " in refused.error.message


def test_what_has_another_effect_is_reported_with_its_line() -> None:
    text = """\
id: one
specVersion: "0.8"
functions: [{name: work, type: custom}]
states:
  - name: Each
    type: foreach
    inputCollection: ${ .items }
    iterationParam: one
    actions: [{functionRef: {refName: work, arguments: {x: "${ $one }"}}}]
    end: true
"""
    [line] = [one.line for one in upgrade(Source(text), "1.0").changes if "one after the other" in one.message]
    assert line == 5


def test_what_is_no_definition_is_refused() -> None:
    with pytest.raises(InvalidDefinition):
        upgrade(Source('{"id": "x", "specVersion": "0.8", "states": [{"name": "A", "type": "inject"}]}'), "1.0")


def operation(name: str, *actions: Any, **more: Any) -> dict[str, Any]:
    way = {} if "transition" in more else {"end": True}
    return {"name": name, "type": "operation", "actions": list(actions), **way, **more}


def test_a_filter_that_selects_nothing_leaves_the_data_as_they_are() -> None:
    work = {"functionRef": "work"}
    workflow = {
        "id": "one",
        "specVersion": "0.8",
        "functions": [{"name": "work", "type": "custom"}],
        "states": [
            operation("A", work, stateDataFilter={"output": "${ .exceptions }"}, transition="B"),
            operation("B", work, stateDataFilter={"input": "${ .a[]? | .b }"}, transition="C"),
            operation("C", work, stateDataFilter={"output": "${ {a} }"}),
        ],
    }
    document = {"scenario": "A filter", "workflow": workflow, "functions": {"work": {"a": 1}}}
    found = compared("a filter", document)
    assert found is not None
    assert found.outcome is Outcome.AGREE
    made = rewritten(workflow)
    tasks = {name: task for one in json.loads(made.text)["do"] for name, task in one.items()}
    assert tasks["A"]["output"]["as"].endswith("| if .exceptions == null then . else .exceptions end }")
    assert tasks["C"]["output"]["as"].endswith("| {a} }")


def test_an_error_without_a_body_or_a_detail() -> None:
    text = """\
id: one
specVersion: "0.8"
functions: [{name: work, type: custom}]
errors: [{name: not there}, {name: other}]
states:
  - name: A
    type: operation
    actions:
      - functionRef: work
    onErrors:
      - {errorRef: not there, transition: B}
      - {errorRef: "*", transition: B}
    end: true
  - name: B
    type: inject
    data: {said: "${ $WORKFLOW.error.body.error }"}
    end: true
"""
    made = upgrade(Source(text), "1.0")
    told = {one.message: one.line for one in made.changes}
    searched = "the name of the error 'not there' is looked for in the detail of errors: 1.0 has types and statuses of"
    assert told[f"{searched} errors, and no such codes"] == 11
    body = "an error of 1.0 has no body: what stands for $WORKFLOW.error.body.error is null"
    assert told[f"{body}; use $context.error.detail, a text"] == 14
    assert (
        '($error.detail // "") | test("\\\\bnot there\\\\b")'
        in upgrade(Source(text.replace('"*"', "other")), "1.0").text
    )


def test_what_says_nothing_is_not_written() -> None:
    text = """\
id: one
specVersion: "0.8"
version: "2"
functions: [{name: payOut, operation: bank.json#payOut}]
errors: [{name: gone, code: "404"}, {name: full, code: "507"}]
retries: [{name: monthly, delay: P1M}]
states:
  - {name: Nothing, type: inject, data: {}, transition: Pay out}

  # Money
  - name: Pay out
    type: operation
    actions: [{functionRef: payOut, retryRef: monthly}]
    onErrors: [{errorRef: gone, transition: Sorry}, {errorRef: full, transition: Wait}]
    transition: Pay more

  - name: Pay more
    type: operation
    actions: [{functionRef: payOut}]
    onErrors: [{errorRef: gone, transition: Sorry}]
    end: true

  - {name: Wait, type: sleep, duration: P1Y2M3DT4H, transition: Sorry}

  - {name: Sorry, type: inject, data: {sorry: true}, end: true}
"""
    made = upgrade(Source(text.replace("Pay more", "payOut")), "1.0")
    *_, use, do = re.split(r"\n(?=use:|do:)", made.text)
    assert use.endswith("\n")
    assert (
        do
        == """\
do:
  # Money
  - PayOut:
      try:
        - tryPayOut:
            try:
              - payOut:
                  call: payOut
                  output:
                    as: '${ $input * (objects // {response: values} // {}) }'
            catch:
              retry: monthly
      catch:
        when: ${ $error.status == 404 or $error.status == 507 }
        do:
          - keepTheError:
              set: ${ . }
              export:
                as: '${ {error: $error} }'
        then: errorsOfPayOut
      then: payOut

  - errorsOfPayOut:
      switch:
        - gone:
            when: ${ $context.error.status == 404 }
            then: Sorry
        - full:
            then: Wait

  - payOut:
      try:
        - tryPayOut:
            call: payOut
            output:
              as: '${ $input * (objects // {response: values} // {}) }'
      catch:
        errors:
          with:
            status: 404
        then: Sorry
      then: end

  - Wait:
      wait: P428DT4H

  - Sorry:
      set:
        sorry: true
      output:
        as: ${ $input * . }
"""
    )
    assert {one.message: one.line for one in made.changes}["the version '2' is 2.0.0"] == 3


def test_a_call_that_cannot_be_expressed_fails_in_its_place() -> None:
    work, other = {"name": "work", "type": "custom", "operation": "script:python"}, {"name": "other", "type": "custom"}
    action = {"functionRef": {"refName": "work", "arguments": {"a": "${ $WORKFLOW }"}}, "retryRef": "often"}
    made = rewritten(
        {
            "functions": [work, other],
            "errors": [{"name": "missing", "code": "404"}],
            "retries": [{"name": "often", "delay": "PT1S", "maxAttempts": 3}],
            "states": [
                operation("A", action, onErrors=[{"errorRef": "missing", "transition": "C"}], transition="B"),
                operation("B", {"functionRef": "other"}),
                inject("C"),
            ],
        }
    )
    assert kinds(made)["inexpressible"] == ["the action 'work': $WORKFLOW as a whole"]
    document = json.loads(made.text)
    tasks = {name: task for one in document["do"] for name, task in one.items()}
    assert list(tasks) == ["A", "B", "C"]
    assert tasks["A"]["catch"] == {"errors": {"with": {"status": 404}}, "then": "C"}
    [tried] = [task for one in tasks["A"]["try"] for task in one.values()]
    assert tried["catch"] == {"exceptWhen": "${ $error.status == 501 }", "retry": "often"}
    stands = tried["try"][0]["work"]
    assert list(stands) == ["raise", "metadata"]
    assert stands["metadata"] == {"original": {"action": action, "function": work}}
    told = kinds(made)["changed"]
    assert "errors have no names: 'missing' is the status 404" in told
    assert [one for one in told if one.startswith("exceptWhen of the retries of 'work' has the status 501")]
    assert document["use"]["functions"].keys() == {"other"}


EVENTS = """\
id: one
specVersion: "0.8"
keepActive: true
timeouts:
  workflowExecTimeout: {duration: PT1H, runBefore: Report}
events:
  - {name: reading, type: reading, source: sensors/3}
  - {name: done, type: done, kind: produced}
states:
  - name: Read
    type: event
    onEvents: [{eventRefs: [reading]}]
    transition: Wait
  - name: Wait
    type: switch
    eventConditions: [{eventRef: reading, end: {produceEvents: [{eventRef: done}]}}]
    defaultCondition:
      end: true
  - {name: Report, type: inject, data: {a: 1}, end: {terminate: true}}
"""


def test_what_is_lost_or_added_with_events_is_said_by_place() -> None:
    told = {one.message: one.line for one in upgrade(Source(EVENTS), "1.0").changes}
    again = "in 0.8 'Read' waits for events again, and those of all rounds are merged: an instance of 1.0 has one round"
    lost = "'Wait' and 'Report' have never what others have merged"
    assert told[f"1.0 has no keepActive: an instance completes at its end; {again}, and {lost}"] == 3
    late = "in 0.8 it runs PT1H after the start, with the events of all rounds"
    assert told[f"'Report' runs if the tasks take PT1H in one round: {late}"] == 5
    assert told["the default of 'Wait' is left out: it is never taken, as there is no eventTimeout"] == 18
    source = "the event 'done' has no source: https://serverlessworkflow.io is written, which is sent in 0.8"
    assert told[source] == 8
    beyond = next(one for one in told if one.startswith("not in the release 1.0.3, but in the text after it: "))
    assert "a source without a scheme" in beyond


def test_what_only_the_next_version_has_is_said() -> None:
    made = upgrade(Source(OLD), "1.0")
    told = "not in the release 1.0.3, but in the text after it: an endpoint without a scheme, catch.then"
    assert told in kinds(made)["changed"]
    made = upgrade(Source(EVENTS.replace("sensors/3", "http://sensors").replace("keepActive: true", "")), "1.0")
    assert not [one for one in kinds(made)["changed"] if "needs" in one]


COMMENTED = """\
# The whole
id: one
specVersion: "0.8"
functions:
  # The work
  - {name: work, type: custom}
events:
  # What comes
  - {name: come, type: come, source: "https://x"}
  # What goes
  - {name: gone, type: gone, source: "https://x"}
# What goes wrong
errors:
  # Nothing is there
  - {name: missing, code: "404"}
# All that is done
states:
  - name: A
    type: event
    onEvents:
      - eventRefs: [come]
        actions:
          # First
          - functionRef: work  # again
          # Second
          - {name: other, functionRef: work}
    onErrors:
      # Never mind
      - {errorRef: missing, transition: B}
    transition: B  # then on
    # Its filter
    stateDataFilter: {output: "${ {a} }"}
  - name: B
    type: parallel
    branches:
      # Left
      - name: left
        actions:
          # Alone
          - functionRef: work
      - {name: right, actions: [{functionRef: work}]}
    end:
      produceEvents:
        # Tell it
        - {eventRef: gone}
"""


def test_comments_stand_above_what_they_are_about() -> None:
    made = upgrade(Source(COMMENTED), "1.0").text.splitlines()
    found: dict[str, list[str]] = {}
    above: list[str] = []
    for line in made:
        if line.lstrip().startswith("#"):
            above.append(line.strip().removeprefix("# "))
        elif above:
            found[line], above = above, []
    assert found == {
        "document:": ["The whole", "What goes wrong"],
        "schedule:": ["What comes"],
        "    work:": ["The work"],
        "do:": ["All that is done"],
        "  - A:": ["then on", "Its filter"],
        "              - work:": ["First", "again"],
        "              - other:": ["Second"],
        "      catch:": ["Nothing is there", "Never mind"],
        "          - left:": ["Left", "Alone"],
        "  - gone:": ["What goes", "Tell it"],
    }
