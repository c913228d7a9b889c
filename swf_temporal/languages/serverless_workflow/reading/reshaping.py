"""Steps that rewrite a node in place whose location or shape differs from the model.

The tables of the versions assign the steps to kinds of nodes.
"""

import re
from typing import Any

from swf_temporal.languages.serverless_workflow.reading.normalizing import TRUTHS, Normalizer, Step
from swf_temporal.text.origin import Array, Object

_IN_BRACES = re.compile(r"\$\{\s*\.(\w+)\s*\}")


def child(node: Object, key: str) -> Object:
    """Return the object under *key*; create it, with the position of *node*, if there is none."""
    if not isinstance(node.get(key), Object):
        node.put(key, Object(node.where.position), (node.where.position, node.where.position))
    found: Object = node[key]
    return found


def hoist(node: Object, old: str, into: str, new: str) -> bool:
    """Move the value of *old* to *new* in the object under *into*; return True if there was one to move."""
    if old not in node or (into in node and not isinstance(node[into], Object)):
        return False
    target = child(node, into)
    if new in target:
        return False
    value, places = node.take(old)
    target.put(new, value, places)
    return True


def end_as_truth(node: Object, normalizer: Normalizer) -> None:
    """Expand `end: true` to a plain end, and remove `end: false`, which has no effect."""
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
    """Put the two timeouts of 0.8 side by side: that for all attempts at a state, and that for a single one."""
    value = node.get("stateExecTimeout")
    if isinstance(value, Object) and "total" in value:
        node["stateExecTimeout"] = value["total"]
        if "single" in value:
            node.put("stateExecTimeout.single", *value.take("single"))


def attributes_as_map(node: Object, normalizer: Normalizer) -> None:
    """Merge contextAttributes into one object, since official examples write a list of objects."""
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
    """Move arguments beside a functionRef into it."""
    for key in ("arguments", "args", "parameters"):
        if key in node and isinstance(node.get("functionRef"), str):
            reference = Object(node.where.value("functionRef"))
            reference.put("refName", node["functionRef"], node.where.keys["functionRef"])
            node["functionRef"] = reference
        place = node.where.key(key)
        if "functionRef" in node and hoist(node, key, "functionRef", "arguments"):
            normalizer.tolerate(f"{key!r} beside functionRef is read as its 'arguments'", place)


def retries_out_of_function(node: Object, normalizer: Normalizer) -> None:
    """Move the properties of retries from the functionRef to the action, where they belong."""
    reference = node.get("functionRef")
    if not isinstance(reference, Object):
        return
    for key in ("retryRef", "retryableErrors", "nonRetryableErrors"):
        if key in reference and key not in node:
            normalizer.tolerate(f"{key!r} in functionRef is read as the action's", reference.where.key(key))
            value, places = reference.take(key)
            node.put(key, value, places)


def error_refs(node: Object, normalizer: Normalizer) -> None:
    """Combine `errorRef`, which names one error, and `errorRefs`, which names several, to `errorRefs`."""
    if "errorRef" not in node:
        return
    one, places = node.take("errorRef")
    several = node.get("errorRefs")
    if isinstance(several, Array):
        normalizer.tolerate("errorRef and errorRefs are both given: all of them are used", places[0])
        several.insert(0, one)
        several.positions.insert(0, places[1])
    elif several is None:
        node.put("errorRefs", Array([one], [places[1]]), places)


def iteration_param(node: Object, normalizer: Normalizer) -> None:
    """Extract the name from an iteration parameter that is written as an expression, as in examples."""
    name = node.get("iterationParam")
    match = _IN_BRACES.fullmatch(name.strip()) if isinstance(name, str) else None
    if match:
        node["iterationParam"] = match[1]
        normalizer.tolerate(f"iterationParam is a name: read as {match[1]!r}", node.where.value("iterationParam"))


def schema_in_place(node: Object, normalizer: Normalizer) -> None:
    """Wrap a data schema that is written out in place of its URI in an object."""
    del normalizer
    for key in ("dataInputSchema", "dataOutputSchema"):
        schema = node.get(key)
        if isinstance(schema, Object) and "schema" not in schema:
            node[key] = around = Object(schema.where.position)
            around.put("schema", schema, node.where.keys[key])


def null_operator(word: str) -> Step:
    """Return a step that reads a null operator as *word*, a draft's word that YAML reads as null."""

    def step(node: Object, normalizer: Normalizer) -> None:
        if "operator" in node and node["operator"] is None:
            message = f"the operator is null in YAML and JSON, and is read as the word {word!r}"
            normalizer.tolerate(message, node.where.value("operator"), f"write {word!r} in quotes")
            node["operator"] = word

    return step
