"""The JSON Schemas of what the gateway takes and answers, for its OpenAPI description."""

from typing import Any, Final

from swf_temporal.app.instances import STATUSES

_Facts = dict[str, Any]

EXAMPLE: Final = {
    "specversion": "1.0",
    "id": "e-1",
    "source": "shop/berlin",
    "type": "com.example.order.placed",
    "data": {"item": "mouse"},
}

_TEXT: Final[_Facts] = {"type": "string", "minLength": 1}


def _object(properties: _Facts, *required: str, **rest: Any) -> _Facts:
    return {"type": "object", "properties": properties, "required": list(required or properties), **rest}


def _ref(name: str) -> _Facts:
    return {"$ref": f"#/components/schemas/{name}"}


def _or_null(schema: _Facts) -> _Facts:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(of: _Facts) -> _Facts:
    return {"type": "array", "items": of}


_EVENT_FACTS: Final = _object({"id": _TEXT, "source": _TEXT, "type": _TEXT})
_STATUS: Final[_Facts] = {"type": "string", "enum": list(STATUSES)}
_TIME: Final = _or_null({"type": "string"})

SCHEMAS: Final[_Facts] = {
    "Event": _object(
        {
            "specversion": {"const": "1.0"},
            "id": _TEXT | {"description": "Unique among the events of its source."},
            "source": _TEXT,
            "type": _TEXT,
            "subject": _or_null(_TEXT),
            "time": _or_null({"type": "string", "format": "date-time"}),
            "datacontenttype": _or_null(_TEXT),
            "dataschema": _or_null(_TEXT),
            "data": {"description": "Any JSON value."},
            "data_base64": _or_null(
                {"type": "string", "contentEncoding": "base64", "pattern": "^([A-Za-z0-9+/]{4})*$"}
            ),
        },
        "specversion",
        "id",
        "source",
        "type",
        description="A CloudEvent. Names of further attributes: lower-case letters and digits. Null counts as missing.",
        propertyNames={"pattern": "^([a-z0-9]{1,20}|data_base64)$"},
        additionalProperties={"type": ["string", "integer", "boolean", "null"]},
        **{
            "if": {"required": ["data_base64"], "properties": {"data_base64": {"type": "string"}}},
            "then": {"properties": {"data": {"type": "null"}}},
        },
        example=EXAMPLE,
    ),
    "Receipt": _object(
        {
            "definition": _or_null(_TEXT),
            "instance": _or_null(_TEXT),
            "status": {"type": "string", "description": "What the instance did with the event."},
        }
    ),
    "Taken": _object(
        {
            "event": _EVENT_FACTS,
            "status": {
                "type": "string",
                "description": "`accepted`; `duplicate`: it had its effect before; `ignored`: no instance takes it. "
                "Of an event for one instance: `taken`, `kept`, `duplicate`, or `sent` if that is not known.",
            },
            "receipts": _list(_ref("Receipt")),
            "reasons": _list(
                _object({"definition": _TEXT, "event": _or_null({"type": "string"}), "reason": {"type": "string"}})
            ),
        },
        "event",
        "status",
        "receipts",
    ),
    "TakenBatch": _object({"events": _list(_ref("Taken"))}),
    "Workflow": _object(
        {
            "id": _TEXT,
            "version": _or_null({"type": "string"}),
            "name": _or_null({"type": "string"}),
            "description": _or_null({"type": "string"}),
            "events": _list(
                _object(
                    {
                        "name": {"type": "string"},
                        "type": _or_null({"type": "string"}),
                        "source": _or_null({"type": "string"}),
                        "kind": {"enum": ["consumed", "produced"]},
                        "starts": {"type": "boolean"},
                    }
                )
            ),
            "links": _object({"start": {"type": "string"}, "inputSchema": {"type": "string"}}),
        }
    ),
    "Workflows": _object({"workflows": _list(_ref("Workflow"))}),
    "Instance": _object(
        {
            "id": _TEXT,
            "runId": _TEXT,
            "definition": _TEXT,
            "status": _STATUS,
            "started": _TIME,
            "ended": _TIME,
            "reason": _or_null({"type": "string"}),
        },
        "id",
        "runId",
        "definition",
        "status",
        "started",
        "ended",
        description="While a worker answers for it, also its state and what it awaits.",
    ),
    "Instances": _object({"instances": _list(_ref("Instance"))}),
    "Outcome": _object(
        {
            "id": _TEXT,
            "definition": _TEXT,
            "status": _STATUS,
            "output": {"description": "The output of an instance that has completed."},
            "error": _object({"name": {"type": "string"}, "code": {"type": "string"}, "message": {"type": "string"}}),
        },
        "id",
        "definition",
        "status",
    ),
    "Task": _object(
        {
            "instance": _TEXT,
            "definition": _TEXT,
            "state": {"type": "string"},
            "kind": _or_null({"type": "string"}),
            "event": _TEXT,
            "type": _or_null({"type": "string"}),
            "until": _TIME,
        },
        description="An event that an instance waits for.",
    ),
    "TaskWithSchema": {
        "allOf": [_ref("Task"), _object({"schema": {"description": "The JSON Schema of its data; null without one."}})]
    },
    "Tasks": _object(
        {
            "tasks": _list(_ref("Task")),
            "silent": _list(_TEXT) | {"description": "The instances for which no worker answered."},
            "more": {"type": "integer", "description": "How many more instances run that were not asked."},
        }
    ),
    "Done": _object({"id": _TEXT, "status": {"type": "string", "enum": ["taken", "sent"]}}),
    "Asked": _object({"id": _TEXT, "definition": _TEXT}),
    "Reason": _object({"reason": {"type": "string"}}, "reason", example={"reason": "the order was withdrawn"}),
    "Problem": _object(
        {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "code": {"type": "string", "description": "The reason, for programs."},
            "detail": {"type": "string", "description": "The reason, for people."},
            "hint": {"type": "string", "description": "What to do."},
            "errors": _list(_object({"index": {"type": "integer"}, "detail": {"type": "string"}})),
        },
        "type",
        "title",
        "status",
        "code",
        "detail",
    ),
}
