"""Hints for missing keys."""

from collections.abc import Mapping, Sequence
from typing import Final

_EVENT_TYPE: Final = "write the type of the CloudEvents, such as 'type: com.example.order.paid'"
_MIN_ONE: Final = "write at least one"
_HINTS: Final[Mapping[str, str]] = {
    "action": (
        "write the action to run before waiting for the event, as in 'action: {functionRef: {refName: ...}}'; to wait "
        "alone, write 'type: event' and 'onEvents: [{eventRefs: [EVENT], actions: []}]'"
    ),
    "actions": f"{_MIN_ONE}, as in 'actions: [{{functionRef: {{refName: ...}}}}]'",
    "body": "write the condition, as in \"body: $.error.name eq 'TimedOut'\"",
    "branches": f"{_MIN_ONE}, each with a name and what it does",
    "choices": f"{_MIN_ONE}, with a rule and the nextState that it leads to",
    "clientId": "write the id that the client has with the authorization server, or '${ $SECRETS.clientId }'",
    "condition": "write when it applies, as an expression that is true or false",
    "contextAttributeName": "write the context attribute that distinguishes events, such as orderid",
    "data": "write what is added to the data, as in 'data: {greeting: hello}'",
    "duration": "write how long, such as PT15M",
    "error": "write the name of the error, or '*' for any",
    "errorRefs": "name errors that are defined under errors, or write errorRef for a single one, and '*' for any",
    "eventExpression": "write which triggers it waits for, as in 'eventExpression: paid and (packed or sent)'",
    "eventRef": "write the name of an event that is defined under events",
    "eventRefs": "write a list of the events that it waits for, by their names under events",
    "events": f"{_MIN_ONE}, with an eventExpression that names triggers",
    "eventsActions": f"{_MIN_ONE}, as in 'eventsActions: [{{eventRefs: [...], actions: [...]}}]'",
    "expression": "write it, or remove what it belongs to",
    "function": "write what it calls, as in 'function: {name: ...}'",
    "functionRef": "write what it calls, as in 'functionRef: {refName: ...}'",
    "grantType": "write one of password, clientCredentials and tokenExchange",
    "id": "write the name that the workflow is started by, such as 'id: orders'",
    "inputCollection": "write the list that it iterates over, as an expression",
    "inputParameter": "write the path of the element in an iteration, as in 'inputParameter: $.order'",
    "interval": "write from when to when, as in 2020-05-01T08:00:00Z/2020-05-31T20:00:00Z",
    "kind": "write 'kind: default' for a plain one",
    "match": "write the result or the error to retry on, or SYS.MatchAny for any error",
    "name": "it is referred to by its name: write one",
    "nextState": "write the name of the next state",
    "nextTask": "write the name of the next task",
    "onEvents": f"{_MIN_ONE}, as in 'onEvents: [{{eventRefs: [...], actions: [...]}}]'",
    "operator": "write how the value at its path is compared, such as equals",
    "path": "write which value is compared, as in 'path: $.age'",
    "produceEventRef": "write the name of an event that is defined under events",
    "properties": "write them, or the name of a secret that holds them",
    "refName": "write the name of a function that is defined under functions",
    "source": "write the source of the CloudEvents, such as 'source: /orders'",
    "startsAt": "write the name of the first state",
    "stateName": "write the name of the first state",
    "states": "write at least one state, with a name and a type",
    "tasks": "write at least one task, with a name and a type",
    "timeDelay": "write how long, such as PT15M",
    "token": "write the token, or a secret, as in '${ $SECRETS.token }'",
    "transition": "write the next state",
    "workflowId": "write the id of the workflow that it runs",
}
_PLACED: Final[Mapping[tuple[str, str], str]] = {
    ("condition", "expression"): "write when it applies, as an expression that is true or false",
    ("cron", "expression"): "write the times, such as '0 9 * * MON-FRI' for nine o'clock on weekdays",
}
"""Hints for keys that mean something else within certain keys."""


def hint_for_missing(key: str, within: str = "", types: Sequence[str] = ()) -> str | None:
    """Return a hint for the missing *key* of an object under *within*.

    *types* are the possible types of a state, if that is missing.
    """
    if key == "type":
        return f"write one of {', '.join(types[:-1])} and {types[-1]}" if types else _EVENT_TYPE
    return _PLACED.get((within, key)) or _HINTS.get(key)
