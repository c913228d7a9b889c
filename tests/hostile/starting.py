"""How runs are started with definitions that nothing has checked."""

import json
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue

from tests.hostile.cases import RAW


def arguments(definition: Any, data: Any) -> list[RawValue]:
    """Return the arguments of a run of *definition*, which it brings along, with *data* as its input."""
    text = definition if isinstance(definition, str) else json.dumps(definition)
    pin = {"definitions": [{"text": text, "name": "hostile"}]}
    return [_value(data if isinstance(data, RAW) else json.dumps(data)), _value(json.dumps(pin))]


def _value(text: str) -> RawValue:
    return RawValue(Payload(metadata={"encoding": b"json/plain"}, data=text.encode("utf-8", "surrogatepass")))
