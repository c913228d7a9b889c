"""Parts of definitions, as `define` in `conftest.py` takes them."""

from typing import Any


def inject(name: str, data: Any = None, **rest: Any) -> dict[str, Any]:
    return {"name": name, "type": "inject", "data": data or {}, **rest}


def awaits(name: str, *events: str, **rest: Any) -> dict[str, Any]:
    """Return an event state that waits for one of *events*."""
    return {"name": name, "type": "event", "onEvents": [{"eventRefs": [one]} for one in events], **rest}


def sleeps(name: str, duration: str, **rest: Any) -> dict[str, Any]:
    return {"name": name, "type": "sleep", "duration": duration, **rest}


def operation(name: str, *actions: Any, **rest: Any) -> dict[str, Any]:
    return {"name": name, "type": "operation", "actions": list(actions), **rest}


def subflow(name: str, child: Any, **rest: Any) -> dict[str, Any]:
    """Return an operation state that runs one sub-workflow."""
    return operation(name, {"subFlowRef": child}, **rest)


def switch(name: str, condition: str, way: dict[str, Any], otherwise: dict[str, Any]) -> dict[str, Any]:
    conditions = [{"condition": condition, **way}]
    return {"name": name, "type": "switch", "dataConditions": conditions, "defaultCondition": otherwise}


def consumed(*names: str, source: str = "x", **rest: Any) -> list[dict[str, Any]]:
    """Return definitions of events whose types are their names."""
    return [{"name": name, "type": name, "source": source, **rest} for name in names]
