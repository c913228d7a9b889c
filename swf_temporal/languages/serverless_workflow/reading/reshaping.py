"""Steps that rewrite a node in place which is written elsewhere, or in another shape, than the model has it.

The tables of the versions say which nodes each step is for.
"""

import re
from typing import Any

from swf_temporal.languages.serverless_workflow.reading.normalizing import TRUTHS, Normalizer, Step
from swf_temporal.text.located import Array, Object

_IN_BRACES = re.compile(r"\$\{\s*\.(\w+)\s*\}")


def child(node: Object, key: str) -> Object:
    """Return the object under *key*, made in the place of *node* if there is none."""
    if not isinstance(node.get(key), Object):
        node.put(key, Object(node.where.position), (node.where.position, node.where.position))
    found: Object = node[key]
    return found


def hoist(node: Object, old: str, into: str, new: str) -> bool:
    """Move the value of *old* to *new* in the object under *into*; tell whether there was one to move."""
    if old not in node or (into in node and not isinstance(node[into], Object)):
        return False
    target = child(node, into)
    if new in target:
        return False
    value, places = node.take(old)
    target.put(new, value, places)
    return True


def end_as_truth(node: Object, normalizer: Normalizer) -> None:
    """Spell out `end: true` as an end without more, and leave out `end: false`, which says nothing."""
    end, position = node.get("end"), node.where.value("end")
    if isinstance(end, str) and end.lower() in TRUTHS:
        normalizer.tolerate(f"end is the text {end!r}, and is read as {str(TRUTHS[end.lower()]).lower()}", position)
        end = TRUTHS[end.lower()]
    if end is True:
        node["end"] = Object(position)
    elif end is False:
        node.take("end")


def states_by_name(*keys: str) -> Any:
    """Return a step that replaces the id of a state, under any of *keys*, by the state's name."""

    def step(node: Object, normalizer: Normalizer) -> None:
        for key in keys:
            if isinstance(node.get(key), str):
                node[key] = normalizer.state_ids.get(node[key], node[key])

    return step


def state_exec_timeout(node: Object, _normalizer: Normalizer) -> None:
    """Put the two times that 0.8 knows beside each other: that for all attempts at a state, and that for one."""
    value = node.get("stateExecTimeout")
    if isinstance(value, Object) and "total" in value:
        node["stateExecTimeout"] = value["total"]
        if "single" in value:
            node.put("stateExecTimeout.single", *value.take("single"))


def attributes_as_map(node: Object, normalizer: Normalizer) -> None:
    """Make one object of contextAttributes, which official examples write as a list of objects."""
    attributes = node.get("contextAttributes")
    if isinstance(attributes, Array) and all(isinstance(item, Object) for item in attributes):
        one = Object(node.where.value("contextAttributes"))
        for item in attributes:
            for key, value in item.items():
                one.put(key, value, item.where.keys[key])
        node["contextAttributes"] = one
        normalizer.tolerate(
            "contextAttributes is an object, not a list of objects", node.where.value("contextAttributes")
        )


def arguments_into_function(node: Object, normalizer: Normalizer) -> None:
    """Move arguments that stand beside a functionRef into it."""
    for key in ("arguments", "args", "parameters"):
        if key in node and isinstance(node.get("functionRef"), str):
            reference = Object(node.where.value("functionRef"))
            reference.put("refName", node["functionRef"], node.where.keys["functionRef"])
            node["functionRef"] = reference
        place = node.where.key(key)
        if "functionRef" in node and hoist(node, key, "functionRef", "arguments"):
            normalizer.tolerate(f"{key!r} beside functionRef is read as its 'arguments'", place)


def retries_out_of_function(node: Object, normalizer: Normalizer) -> None:
    """Move what is retried, and how, from the functionRef to the action, which says it."""
    reference = node.get("functionRef")
    if not isinstance(reference, Object):
        return
    for key in ("retryRef", "retryableErrors", "nonRetryableErrors"):
        if key in reference and key not in node:
            normalizer.tolerate(f"{key!r} in functionRef is read as the action's", reference.where.key(key))
            value, places = reference.take(key)
            node.put(key, value, places)


def error_refs(node: Object, normalizer: Normalizer) -> None:
    """Make `errorRefs`, which names several errors, of `errorRef`, which names one, or of both."""
    if "errorRef" not in node:
        return
    one, places = node.take("errorRef")
    several = node.get("errorRefs")
    if isinstance(several, Array):
        normalizer.tolerate("errorRef and errorRefs are both given: all of them are meant", places[0])
        several.insert(0, one)
        several.positions.insert(0, places[1])
    elif several is None:
        node.put("errorRefs", Array([one], [places[1]]), places)


def iteration_param(node: Object, normalizer: Normalizer) -> None:
    """Take the name out of an iteration parameter that is written as an expression, as in examples."""
    name = node.get("iterationParam")
    match = _IN_BRACES.fullmatch(name.strip()) if isinstance(name, str) else None
    if match:
        node["iterationParam"] = match[1]
        normalizer.tolerate(f"iterationParam is a name: read as {match[1]!r}", node.where.value("iterationParam"))


def schema_in_place(node: Object, normalizer: Normalizer) -> None:
    """Put an object around a data schema that is written out in place of its URI."""
    del normalizer
    for key in ("dataInputSchema", "dataOutputSchema"):
        schema = node.get(key)
        if isinstance(schema, Object) and "schema" not in schema:
            node[key] = around = Object(schema.where.position)
            around.put("schema", schema, node.where.keys[key])


def null_operator(word: str) -> Step:
    """Return a step that reads an operator as the *word* of a draft for which YAML reads null."""

    def step(node: Object, normalizer: Normalizer) -> None:
        if "operator" in node and node["operator"] is None:
            message = f"the operator is null in YAML and JSON, and is read as the word {word!r}"
            normalizer.tolerate(message, node.where.value("operator"), f"write {word!r} in quotes")
            node["operator"] = word

    return step
