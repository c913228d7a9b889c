"""Arguments of another kind: each is named at once, in a sentence, and not by what comes of it later."""

import re
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import temporalio.client

import swf_temporal
from swf_temporal import Client, Registry, SwfError, UsageError, load
from swf_temporal.functions.calling import Functions

TEXT = "id: a\nversion: 1.0.0\nspecVersion: '0.8'\nstates: [{name: A, type: inject, data: {}, end: true}]"
NOT_TO_START = "what is started is a Definition or the id of one, and this is "
NOT_LOADED = "a definition in a file or a text is loaded before it is started: "
FILE = str(Path(__file__).parents[2] / "examples" / "http" / "delivery.sw.yaml")
NO_DEFINITION = "a definition is a text, bytes or a mapping, and this is an int"


def greet() -> None:
    """Do nothing."""


def opening() -> Iterator[int]:
    yield 1


async def opening_async() -> Any:
    yield 1


swf: Any = swf_temporal
registry: Any = Registry()
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "settings, no number": (lambda: swf.WorkerSettings(max_activities="x"),
                            "WorkerSettings(max_activities=…): it must be a whole number"),
    "settings, too few": (lambda: swf.WorkerSettings(max_activities=0),
                          "WorkerSettings(max_activities=…): it must be at least 1"),
    "settings, several": (lambda: swf.WorkerSettings(max_activities=0, task_queue=""),
                          ("WorkerSettings(task_queue=…): it must be a text that is not empty\n"
                           "WorkerSettings(max_activities=…): it must be at least 1")),
    "settings, changed": (
        lambda: swf.WorkerSettings().replace(grace_period="soon"),
        "WorkerSettings(grace_period=…): it must be a number of seconds, or a duration such as PT30S",
    ),
    "settings, unknown": (lambda: swf.WorkerSettings(max_activites=1),
                          "WorkerSettings(max_activites=…): there is no such setting; did you mean 'max_activities'?"),
    "workflows": (lambda: swf.Worker(workflows=[1]),
                  "workflows[0] is an int, and not a class that `workflow.defn` decorates"),
    "workflows, a class": (lambda: swf.Worker(workflows=[Registry]),
                           "workflows[0] is a type, and not a class that `workflow.defn` decorates"),
    "workflows, no list": (lambda: swf.Worker(workflows=1), "workflows must be a list, and is an int"),
    "activities": (lambda: swf.Worker(activities=[1]),
                   "activities[0] is an int, and not a function that `activity.defn` decorates"),
    "activities, undecorated": (lambda: swf.Worker(activities=[greet]),
                                "activities[0] is a function, and not a function that `activity.defn` decorates"),
    "interceptors": (lambda: swf.Worker(interceptors=[1]),
                     "interceptors[0] is an int, and not an Interceptor of the SDK's worker"),
    "functions": (lambda: swf.Worker(functions=[1]), "functions must be a Mapping, and is a list"),
    "a function": (lambda: swf.Worker(functions={"a": 1}), "functions['a'] is an int, and not a function"),
    "a function's name": (lambda: swf.Worker(functions={1: greet}),
                          "the name of a function must be a text, and 1 is an int"),
    "a plugin's functions": (lambda: swf.Plugin(functions=[1]), "functions must be a Mapping, and is a list"),
    "a worker's settings": (lambda: swf.Worker(settings={}), "settings must be a WorkerSettings, and is a dict"),
    "a worker's secrets": (lambda: swf.Worker(secrets={}), "secrets must be a SecretProvider, and is a dict"),
    "definitions": (lambda: swf.Worker(definitions=1), "definitions must be a list of definitions, and is an int"),
    "a definition": (lambda: swf.Worker(definitions=[1]),
                     "a definition must be a text, a path, a mapping or a Definition, and is an int"),
    "task queue, empty": (lambda: swf.Worker(task_queue=""), "task_queue is empty"),
    "task queue, no text": (lambda: swf.Worker(task_queue=5), "task_queue must be a text, and is an int"),
    "namespace, no text": (lambda: swf.Worker(namespace=5), "namespace must be a text, and is an int"),
    "a worker's client": (lambda: swf.Worker(object()),
                          ("a worker has a swf_temporal.Client or an address, and this is an object\n"
                           "  write Worker(Client(…)) around a client of Temporal's SDK")),
    "a client's client": (lambda: swf.Client(object()),
                          ("a Client is made of a client of Temporal's SDK, and this is an object\n"
                           "  write await Client.connect(…), or Client(temporalio_client)")),
    "a child": (lambda: swf.as_child_workflow(1),
                "a child is a Definition or the id of one, and this is an int\n  see `load`"),
    "a child without an id": (lambda: swf.as_child_workflow(""), "the id of a definition is empty"),
    "a sub-workflow": (lambda: swf.as_child_workflow(load(TEXT), sub_workflows=["a"]),
                       "sub_workflows[0] is a str, and not a Definition"),
    "a function without a name": (lambda: registry.custom(partial(greet)),
                                  f"{partial(greet)!r} has no name\n  give it one, as in registry.custom('price')(…)"),
    "what is not a function": (lambda: registry.custom("a")(1), "a custom function must be callable, and 1 is an int"),
    "the name of a function": (lambda: registry.custom(1),
                               "the name of a custom function must be a text, and is an int"),
    "a resource": (lambda: registry.resource(1),
                   "a resource is a function that returns a context manager, and 1 is an int"),
    "a resource that is a generator": (lambda: registry.resource(opening),
                                       ("the resource 'opening' does not return a context manager\n"
                                        "  let it yield once, and write @contextmanager of contextlib right above it")),
    "a resource that is an async generator": (
        lambda: registry.resource(opening_async),
        ("the resource 'opening_async' does not return a context manager\n"
         "  let it yield once, and write @asynccontextmanager of contextlib right above it"),
    ),
    "another registry": (lambda: registry.include(1), "what a registry includes must be a Registry, and is an int"),
    "load": (lambda: swf.load(1), NO_DEFINITION),
    "load of nothing": (lambda: swf.load(None), NO_DEFINITION.replace("an int", "None")),
    "check": (lambda: swf.check(1), NO_DEFINITION),
    "check_file": (lambda: swf.check_file(1), "a file is named by a path, and this is an int"),
    "event_starts": (lambda: swf.event_starts(1, []), NO_DEFINITION),
    "simulate": (lambda: swf.simulate(1), NO_DEFINITION),
    "a simulation's functions": (lambda: swf.simulate(TEXT, functions=[1]),
                                 "functions must be a Mapping, and is a list"),
    "a simulation's events": (lambda: swf.simulate(TEXT, events={"type": "paid"}),
                              "events must be a list, and is a dict"),
    "a simulation's definitions": (lambda: swf.simulate(TEXT, definitions=TEXT),
                                   "definitions must be a list, and is a str"),
    "a simulation's start": (lambda: swf.simulate(TEXT, start_time="now"),
                             "start_time must be a datetime, and is a str"),
    "a simulation's end": (lambda: swf.simulate(TEXT, cancel_after=3),
                           "cancel_after must be a timedelta, and is an int"),
    "a simulation's steps": (lambda: swf.simulate(TEXT, max_steps="3"), "max_steps must be an int, and is a str"),
    "a simulation's namespace": (lambda: swf.simulate(TEXT, namespace=3),
                                 "namespace must be a str or a PathLike, and is an int"),
    "what load reads": (lambda: swf.load(TEXT, resources=["a"]), "resources must be a Resources, and is a list"),
    "the folder of check": (lambda: swf.check(TEXT, folder="a"), "folder must be a Path, and is a str"),
    "a simulation's event": (lambda: swf.simulate(TEXT, events=[1]),
                             "event 1: an event is a JSON object, and this is a number"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_an_argument_of_another_kind_is_named(case: str) -> None:
    wrong, told = WRONG[case]
    with pytest.raises(UsageError, match=f"^{re.escape(told)}$"):
        wrong()


def test_a_lambda_has_no_name() -> None:
    with pytest.raises(UsageError, match=r"^<function .*<lambda>.* has no name\n"):
        registry.custom(lambda: 1)


async def test_arguments_of_a_connection_are_named() -> None:
    connect: Any = swf.Client.connect
    with pytest.raises(UsageError, match=r"^address must be a text, and is an int$"):
        await connect(5)
    with pytest.raises(UsageError, match=r"^namespace must be a text, and is an int$"):
        await connect("localhost:1", namespace=5)
    with pytest.raises(UsageError, match=r"^payloads must be a PayloadSettings, and is a dict$"):
        await connect("localhost:1", payloads={})


START_IT = "\n  write client.start(load(…), …)"
WRONG_START: dict[str, tuple[dict[str, Any], str]] = {
    "a mapping": ({"definition": {"id": "a"}}, f"{NOT_TO_START}a dict{START_IT}"),
    "None": ({"definition": None}, f"{NOT_TO_START}None{START_IT}"),
    "a number": ({"definition": 5}, f"{NOT_TO_START}an int{START_IT}"),
    "a path": ({"definition": PurePosixPath("a.yaml")}, f"{NOT_TO_START}a PurePosixPath{START_IT}"),
    "a path that is a text": ({"definition": "a.yaml"}, f"{NOT_LOADED}'a.yaml'{START_IT}"),
    "a file": ({"definition": FILE}, f"{NOT_LOADED}{FILE!r}{START_IT}"),
    "a text": ({"definition": TEXT}, f"{NOT_LOADED}{TEXT!r}{START_IT}"),
    "an empty id": ({"definition": ""}, "the id of a definition is empty"),
    "an id": ({"workflow_id": 5}, "workflow_id must be a text, and is an int"),
    "a key": ({"idempotency_key": 5}, "idempotency_key must be a text, and is an int"),
    "a time": ({"execution_timeout": 3}, "execution_timeout must be a timedelta, and is an int"),
    "a priority": ({"priority": 1}, "priority must be a Priority, and is an int"),
    "attributes": ({"search_attributes": [1]},
                   "search_attributes must be a TypedSearchAttributes or a Mapping, and is a list"),
    "a memo": ({"memo": 1}, "memo must be a Mapping, and is an int"),
    "a summary": ({"static_summary": 1}, "static_summary must be a str, and is an int"),
    "events": ({"events": {"name": "paid"}}, "events must be a list, and is a dict"),
    "sub-workflows": ({"sub_workflows": ["a"]}, "sub_workflows[0] is a str, and not a Definition"),
    "a sub-workflow": ({"sub_workflows": 1}, "sub_workflows must be a list, and is an int"),
}  # fmt: skip


@pytest.fixture
async def client() -> Client:
    return Client(await temporalio.client.Client.connect("127.0.0.1:1", lazy=True))


@pytest.mark.parametrize("case", WRONG_START)
async def test_arguments_of_a_start_are_named(client: Client, case: str) -> None:
    wrong, told = WRONG_START[case]
    with pytest.raises(UsageError, match=f"^{re.escape(told)}$"):
        await client.start(**{"definition": "a", **wrong})


async def test_arguments_about_an_instance_are_named(client: Client) -> None:
    with pytest.raises(UsageError, match=r"^workflow_id must be a text, and is an int$"):
        client.instance(5)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"^workflow_id must be a text, and is None$"):
        client.instance(None)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"^reason must be a str, and is an int$"):
        await client.instance("a").terminate(5)  # type: ignore[arg-type]


async def test_a_resource_that_returns_something_else_is_named() -> None:
    offered = Registry()
    offered.resource(asynccontextmanager(opening_async))
    offered.resource(greet)  # type: ignore[arg-type]
    functions = Functions(offered)
    with pytest.raises(UsageError, match=r"^the resource 'greet' returned None, and not a context manager$"):
        await functions.open()
    await functions.aclose()


def test_they_are_errors_of_the_library() -> None:
    assert issubclass(UsageError, SwfError)
