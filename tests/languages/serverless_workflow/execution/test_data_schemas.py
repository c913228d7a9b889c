"""Is data that does not fit its schema told, where it is let pass?"""

from typing import Any

from swf_temporal.languages.serverless_workflow.execution.data_schemas import refusal_of
from swf_temporal.runtime.host import TraceKind
from swf_temporal.simulation.simulate import simulate
from tests.languages.serverless_workflow.models import load_program


def defined(**more: Any) -> dict[str, Any]:
    states = [{"name": "A", "type": "inject", "data": {}, "end": True}]
    return {"id": "a", "version": "1.0.0", "specVersion": "0.8", "states": states, **more}


def test_mismatches_that_pass_are_noted() -> None:
    schema = {"schema": {"required": ["id"]}, "failOnValidationErrors": False}
    ended = simulate(defined(dataInputSchema=schema, dataOutputSchema=schema), {})
    noted = [(e.name, e.detail) for e in ended.trace if e.kind is TraceKind.SCHEMA_MISMATCH]
    told = {"violations": ["$: 'id' is a required property"]}
    assert ended.status == "completed"
    assert noted == [("input", told), ("output", told)]


def test_a_schema_is_made_ready_once() -> None:
    program = load_program(defined(dataInputSchema={"schema": {}}, dataOutputSchema={"schema": {}}))
    assert program.input_schema is program.input_schema
    assert program.output_schema is program.output_schema


def test_what_would_be_refused() -> None:
    strict, lenient = ({"schema": {"required": ["id"]}, "failOnValidationErrors": fails} for fails in (True, False))
    told = "the input does not fit the workflow's schema: $: 'id' is a required property"
    assert refusal_of(load_program(defined(dataInputSchema=strict)), {}) == told
    assert refusal_of(load_program(defined(dataInputSchema=strict)), {"id": 1}) is None
    assert refusal_of(load_program(defined(dataInputSchema=lenient)), {}) is None
    assert refusal_of(load_program(defined()), {}) is None
