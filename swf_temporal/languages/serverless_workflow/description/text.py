"""The facts of a workflow as text."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from swf_temporal.languages.serverless_workflow.description import phrases
from swf_temporal.languages.serverless_workflow.description.compact import Facts
from swf_temporal.languages.serverless_workflow.description.state_text import lines_of_state


def text_of(facts: Facts) -> str:
    """Return the description of a workflow in plain lines, of what it has only."""
    sections = [
        list(_head(facts)),
        _section(f"{facts['stateWord']}s", facts["states"], lines_of_state),
        _section("functions", facts["functions"], _function),
        _section("events", facts["events"], _event),
        _section("errors", facts["errors"], _error),
        _section("retries", facts["retries"], _retry),
        _section("auth", facts["auth"], lambda one: [f"{one['name']}: {one['scheme']}"]),
        _section("secrets", facts["secrets"], _itself),
        _section("constants", facts["constants"], _itself),
        _section("sub-workflows", facts["subWorkflows"], _other),
        _section("goes on as", facts["continuations"], _other),
        _section("timeouts", facts.get("timeouts", {}).items(), _timeout),
        _section("data schemas", facts.get("dataSchemas", {}).items(), _schema),
        _section("extensions", facts.get("extensions", ()), _itself),
        _section("elsewhere", facts.get("elsewhere", {}).items(), lambda one: [f"{one[0]}: {one[1]}"]),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


def _head(facts: Facts) -> Iterator[str]:
    version, name = facts.get("version"), facts.get("name")
    yield f"{facts['id']}{f' {version}' if version else ''}{f': {name}' if name else ''}"
    if "description" in facts:
        yield f"  {phrases.of_value(facts['description'])}"
    yield f"  file {facts['file']}, dialect {facts['dialect']}"
    active = f", in {facts['active']} only" if "active" in facts else ""
    yield f"  starts in {facts['start']}{active}{', stays active' if facts.get('keepActive') else ''}"
    if "schedule" in facts:
        yield f"  started {facts['schedule']['words']}"
        yield f"  {facts['schedule'].get('problem') or 'next: ' + (', '.join(facts['schedule']['next']) or 'never')}"


def _section(heading: str, items: Iterable[Any], lines: Callable[[Any], Iterable[str]]) -> list[str]:
    indented = [f"  {line}" for item in items for line in lines(item)]
    return [heading, *indented] if indented else []


def _itself(value: Any) -> list[str]:
    return [phrases.of_value(value)]


def _function(function: Facts) -> Iterator[str]:
    operation = "" if function["operation"] is None else f" {phrases.of_value(function['operation'])}"
    yield f"{function['name']}: {function['type']}{operation}"
    if "url" in function:
        yield f"  {function['method']} {function['url']}"
    elif "path" in function:
        settings = f", at the URL in {' or '.join(function['serverFrom'])}" if "serverFrom" in function else ""
        yield f"  {function['method']} {function.get('server', '').rstrip('/')}{function['path']}{settings}"
    elif "procedure" in function:
        yield f"  calls {function['procedure']}"
    elif "sendsTo" in function or "receivesFrom" in function:
        yield f"  {_exchange(function)}"
    elif "activity" in function:
        queue = f"the task queue {function['taskQueue']}" if "taskQueue" in function else "the workflow's own queue"
        yield f"  activity {function['activity']} on {queue}"
    elif "script" in function:
        yield "  a script, which its worker must allow with SWF_SCRIPTS"
    if "problem" in function:
        yield f"  {function['problem']}"
    if "auth" in function:
        yield f"  auth {', '.join(f'{name} for the {use}' for use, name in function['auth'].items())}"
    yield from _users("called by", function["calledBy"])


def _exchange(function: Facts) -> str:
    direction, key = ("sends to", "sendsTo") if "sendsTo" in function else ("receives from", "receivesFrom")
    return f"{direction} {function[key] or 'a channel that is known when it is called'}"


def _event(event: Facts) -> Iterator[str]:
    attributes = [f"{key} {event[key]}" for key in ("type", "source") if key in event]
    yield f"{event['name']}: {', '.join([event['kind'], *attributes])}"
    for one in event.get("correlation", ()):
        value = one.get("contextAttributeValue")
        at = f" at {one['path']}" if "path" in one else ""
        yield f"  by {one['contextAttributeName']}{at}{'' if value is None else f' = {phrases.of_value(value)}'}"
    yield from _users("awaited by", event["consumedBy"])
    yield from _users("produced by", event["producedBy"])


def _error(error: Facts) -> Iterator[str]:
    parts = [phrases.of_value(error[key]) for key in ("code", "description") if key in error]
    yield f"{error['name']}{': ' if parts else ''}{', '.join(parts)}"


def _retry(retry: Facts) -> Iterator[str]:
    yield f"{retry['name'] or 'actions without a retryRef'}: {retry['words']}"


def _other(other: Facts) -> Iterator[str]:
    found = f"found in {other['file']}" if other["found"] else "not found here"
    yield f"{phrases.of_workflow(other['id'], other)}: {found}"
    yield from _users("run by", other["runBy"])


def _timeout(timeout: tuple[str, Any]) -> Iterator[str]:
    name, length = timeout
    if isinstance(length, str):
        yield f"{name} {length}"
        return
    then = f", after {length['runBefore']}" if "runBefore" in length else ""
    patient = "" if length.get("interrupt", True) else ", not in the middle of a state"
    yield f"{name} {length['duration']}{then}{patient}"


def _schema(schema: tuple[str, Facts]) -> Iterator[str]:
    name, facts = schema
    strict = "what does not fit is refused" if facts["failOnValidationErrors"] else "what does not fit is only told"
    yield f"{name}: {phrases.of_value(facts['schema'])}, {strict}"


def _users(words: str, owners: list[str]) -> Iterator[str]:
    if owners:
        yield f"  {words} {', '.join(owners)}"
