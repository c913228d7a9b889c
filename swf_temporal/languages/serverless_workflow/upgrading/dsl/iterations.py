"""Foreach states as `for` tasks: of which data an iteration begins, and what its results become."""

from typing import Final

from swf_temporal.languages.serverless_workflow.model.states import ForeachState
from swf_temporal.languages.serverless_workflow.upgrading.dsl.actions import (
    COLLECTED,
    as_list,
    has_result,
    sequence,
    yielding,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.context import Context, Step, Task, ordered
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import (
    Translator,
    check_variable,
    grouped,
    uses_root,
    with_variable,
    yields_several,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.merging import PATH

IN_TURN: Final = "iterations run one after the other: 1.0 cannot run them side by side"
SEEN: Final = "an iteration sees what those before it merged into the data"
COLLECTING: Final = (
    "an outputCollection that is not an array makes a state fail when its first iteration is complete: in 0.8 before it"
)


def iterated(state: ForeachState, context: Context) -> list[Step]:
    """Return the `for` task of *state*. Raises Inexpressible."""
    item = state.iteration_param
    check_variable(item)
    if state.mode == "parallel" and str(state.batch_size) != "1":
        context.differs(IN_TURN, state)
    timeout = context.timeouts(state.timeouts).action_exec_timeout
    loop: Task = {"for": {"each": item, "in": _array(context.translate.jq(state.input_collection))}}
    context.note([SEEN])
    if state.output_collection is not None:
        # Without elements there is an empty array.
        key, step = _collecting(state, state.output_collection, timeout, context)
        return [(state.name, {**loop, "do": as_list([step]), "output": {"as": f"{key} //= []"}})]
    steps = _by_variable(sequence(state.actions, timeout, context), item, context.translate)
    if any(_uses_item(task, item, context.translate) for _, task in steps):
        steps = [_with_element(steps, item, context)]
    return [(state.name, {**loop, "do": as_list(steps)})]


def _by_variable(steps: list[Step], item: str, translate: Translator) -> list[Step]:
    """Return *steps* of an iteration with the variable *item* in place of the key of the data, if they are one.

    What a step merges into the data may have that key, so that those after it have to look there.
    """
    if len(steps) > 1:
        return steps
    ((name, task),) = steps
    made = dict(task)
    if "if" in task:
        made["if"] = with_variable(task["if"], item)
    if "try" in task:
        made["try"] = as_list(_by_variable([next(iter(one.items())) for one in task["try"]], item, translate))
    elif "input" in task:
        made["input"] = {"from": with_variable(task["input"]["from"], item)}
    else:
        for key in ("with", "set"):
            if key in task:
                made[key] = translate.edited(task[key], lambda jq: with_variable(jq, item))
    return [(name, made)]


def _with_element(steps: list[Step], item: str, context: Context) -> Step:
    """Return *steps* as one, for which the element is a part of the data."""
    given = {"input": {"from": f". + {{{item}: ${item}}}"}}
    ((name, task), *others) = steps
    if not others and task.keys().isdisjoint(("input", "do", "try", "if")):
        output = task.get("output", {}).get("as", ".").replace("$input", "$task.input", 1)
        return name, ordered({**given, **task, "output": {"as": output}})
    context.note([f"iterations remove the key {item!r}, which holds the element, from the data"])
    inner = context.inner.free("iteration")
    return inner, {**given, "do": as_list(steps), "output": {"as": f"del(.{item})"}}


def _collecting(state: ForeachState, collection: str, timeout: str | None, context: Context) -> tuple[str, Step]:
    """Return the path of the *collection*, and the step that adds the result of an iteration to it."""
    context.note([COLLECTING])
    place = context.translate.jq(collection).strip()
    item, actions = state.iteration_param, state.actions
    acting = [index for index, action in enumerate(actions) if has_result(action)]
    if not acting:
        steps, value = sequence(actions, timeout, context), "null"
    else:
        at = acting[-1]
        is_named = actions[at].condition is not None or at + 1 < len(actions)
        steps = sequence(actions[:at], timeout, context)
        steps += yielding(actions[at], timeout, context, is_named=is_named)
        steps += sequence(actions[at + 1 :], timeout, context)
        value = f".{COLLECTED}" if is_named else "."
    steps = _by_variable(steps, item, context.translate)
    uses_item = any(_uses_item(task, item, context.translate) for _, task in steps)
    name, task = steps[0]
    if len(steps) > 1 or not task.keys().isdisjoint(("input", "do", "try", "if", "timeout", "raise")) or not acting:
        name, task = context.inner.free("iteration"), {"do": as_list(steps)}
    else:
        value = task["output"]["as"]
    base = "$task.input" if uses_item else "$input"
    added = f"{base} + {{{place[1:]}: ({base}{place} + [{value}])}}"
    if not place[1:].isidentifier():
        added = f"{grouped(value)} as $result | {base} | {place} += [$result]"
    task = {**task, "output": {"as": added}}
    if uses_item:
        task = {"input": {"from": f". + {{{item}: ${item}}}"}, **task}
    return place, (name, ordered(task))


def _uses_item(task: Task, item: str, translate: Translator) -> bool:
    """Return whether *task* may use the element as a part of the data, and not as a variable."""
    if "do" in task or "try" in task:
        inner = [one for step in task["do" if "do" in task else "try"] for one in step.values()]
        return uses_root(task.get("if", ""), item) or any(_uses_item(one, item, translate) for one in inner)
    if "wait" in task:
        return "${" in str(task["wait"])
    if "emit" in task or "listen" in task:
        return True
    if "run" in task and "input" not in task:
        return True
    texts = [task.get("if", "")]
    if "input" in task:
        texts.append(task["input"]["from"])  # the rest of the task has what this selects
    else:
        texts += [text for key in ("with", "set") for text in translate.texts_in(task.get(key))]
    return any(uses_root(text, item) for text in texts)


def _array(collection: str) -> str:
    """Return the array of what *collection* yields: in 0.8 it may also yield the elements one by one."""
    if not ("[]" in collection and yields_several(collection)):
        return collection
    whole = collection.removesuffix("[]")
    if PATH.fullmatch(whole):
        return whole
    return f'[{collection}] | if length == 1 and (.[0] | type) == "array" then .[0] else . end'
