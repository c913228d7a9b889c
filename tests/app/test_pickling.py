"""What a program has from the library goes to other processes, as the members of a pool, and comes back."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import swf_temporal
from swf_temporal import (
    CallFailed,
    Definition,
    InstanceError,
    InstanceNotFoundError,
    InvalidDefinition,
    NeverTakenError,
    NoAnswerError,
    RunEnded,
    ServerUnavailableError,
    Simulation,
    SwfError,
    TooLargeToSendError,
    UsageError,
    WorkflowFault,
    check,
    load,
    simulate,
)
from tests.definitions import definition

ROOT = Path(__file__).parents[2]
GREETING = definition("""\
id: greeting
functions: [{name: greet, type: custom}]
states: [{name: A, type: operation, actions: [{functionRef: greet}], end: true}]
""")
FAULT = CallFailed("no such item", code=404, state="Order", body={"item": "pen"})
ERRORS: dict[str, SwfError] = {
    "CallFailed": FAULT,
    "InvalidDefinition": InvalidDefinition(check("id: a").problems),
    "NeverTakenError": NeverTakenError("a takes no such event", "see b", instance="a", event={"name": "paid"}),
    "NoAnswerError": NoAnswerError("no answer", instance="a", patience=timedelta(seconds=3)),
    "RunEnded": RunEnded("the run failed in 'Order': no such item", "failed", FAULT, instance="a"),
    "ServerUnavailableError": ServerUnavailableError("no answer", "try again", is_refusal=True),
    "TooLargeToSendError": TooLargeToSendError("too large", size=5, limit=3),
    "UsageError": UsageError("no such file", "see --help"),
    "WorkflowFault": WorkflowFault("no", name="Other", cause="a bug", origin={"levels": 2}),
    **{kind.__name__: kind("no", "hint", instance="a") for kind in InstanceError.__subclasses__()[:6]},
}


def _again(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - it was pickled here


def _facts(error: BaseException) -> object:
    facts = {name: _facts(value) if isinstance(value, SwfError) else value for name, value in vars(error).items()}
    return type(error), str(error), error.args, facts


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_keeps_its_facts(name: str) -> None:
    error = ERRORS[name]
    assert _facts(_again(error)) == _facts(error)


def test_every_public_error_is_pickled() -> None:
    """Those that are not here have no more facts than the one that they are a kind of."""
    public = {name for name in swf_temporal.__all__ if isinstance(getattr(swf_temporal, name), type)}
    errors = {name for name in public if issubclass(getattr(swf_temporal, name), SwfError)}
    alike = {"SwfError", "InvalidEventError", "InvalidInputError", "InstanceError", "InboxFullError"}
    assert errors <= {*ERRORS, *alike}


def fail(item: str) -> None:
    raise InstanceNotFoundError("not there", "start it", instance=item)


def test_an_error_comes_out_of_a_pool() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        with pytest.raises(InstanceNotFoundError, match="not there") as failed:
            pool.submit(fail, "pen").result()
        assert failed.value.instance == "pen"
        assert pool.submit(len, "pen").result() == 3


DIREKTIV = "states:\n- id: one\n  type: noop\n  log: jq(.)\n"
DEFINITIONS = {
    "0.8": load(GREETING, name="a greeting"),
    "with documents": load(ROOT / "examples/http/delivery.sw.yaml"),
    "Direktiv": load(DIREKTIV).placed_at("/a.yaml"),
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_definition_is_read_again(name: str) -> None:
    definition = DEFINITIONS[name]
    again: Definition = _again(definition)
    assert (again.id, again.version, again.digest) == (definition.id, definition.version, definition.digest)
    assert (again.source.text, again.source.name) == (definition.source.text, definition.source.name)
    assert again.outline == definition.outline


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_a_simulation_is_the_same_in_another_process(status: str) -> None:
    simulation = simulate(GREETING, functions={"greet": {"said": "hello"} if status == "completed" else FAULT})
    again: Simulation = _again(simulation)
    assert (again.status, again, str(again.fault)) == (status, simulation, str(simulation.fault))
    assert again.definition is not None
    assert again.definition.id == "greeting"
