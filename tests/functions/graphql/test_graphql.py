"""How fields of a GraphQL endpoint are asked for and changed, against an endpoint that really executes a schema."""

import json
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any

import pytest
from graphql import GraphQLError, build_schema, graphql_sync

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.functions.calling import Call, Calls, Functions
from swf_temporal.functions.graphql.graphql import literal, selection_set
from swf_temporal.functions.secrets import Secrets
from swf_temporal.runtime.host import FunctionCall, SecretTemplate
from swf_temporal.settings.calls import Options, Settings
from tests.failing import fault_of
from tests.functions.conftest import Answer, Calling, Received, Service, serving, showing, showing_token

SCHEMA = build_schema(
    """
    type Query {
        pets(kinds: [Kind!], limit: Int! = 10): [Pet!]!
        pet(id: Int!): Pet
        count: Int!
        broken: Int
        secret: Int
        owner(pet: Int): Owner
        echo(
            input: EchoInput, flags: [[Boolean]!], note: String = "none", kind: Kind @deprecated(reason: "unused")
        ): String
    }
    scalar Big
    input EchoInput { big: Big, size: Float, kinds: [Kind!], inner: EchoInput }
    union Owner = Person | Shelter
    type Person { name: String! }
    type Shelter { city: String! }
    type Mutation { createPet(pet: PetInput!): Pet }
    enum Kind { CAT DOG }
    type Treat { id: Int! }
    type Pet { id: Int!, name: String!, kind: Kind, age(useDogYears: Boolean): Int, favoriteTreat: Treat }
    input PetInput { id: Int!, name: String!, favoriteTreatId: Int, kind: Kind }
    """
)


class Pets:
    def __init__(self) -> None:
        self._pets: dict[int, dict[str, Any]] = {}
        self._add({"id": 42, "name": "Snuffles", "kind": "CAT", "favoriteTreatId": 9001})
        self._add({"id": 7, "name": "Rex", "kind": "DOG"})

    def _add(self, pet: dict[str, Any]) -> dict[str, Any]:
        treat = pet.get("favoriteTreatId")
        self._pets[pet["id"]] = {
            "kind": None,
            **pet,
            "favoriteTreat": None if treat is None else {"id": treat},
            "age": lambda _info, useDogYears=False: 49 if useDogYears else 7,  # noqa: N803 - the schema's name
        }
        return self._pets[pet["id"]]

    def pets(self, _info: Any, limit: int, kinds: list[str] | None = None) -> list[dict[str, Any]]:
        return [pet for pet in self._pets.values() if kinds is None or pet["kind"] in kinds][:limit]

    def pet(self, _info: Any, id: int) -> dict[str, Any] | None:  # noqa: A002 - the schema's name
        return self._pets.get(id)

    def count(self, _info: Any) -> int:
        return len(self._pets)

    def broken(self, _info: Any) -> int:
        raise GraphQLError("the kennel is closed", extensions={"code": "CLOSED"})

    def secret(self, info: Any) -> int:
        if info.context != "Bearer t-2":
            raise GraphQLError("who are you?", extensions={"code": "UNAUTHENTICATED"})
        return 7

    def owner(self, _info: Any, pet: int | None = None) -> dict[str, str]:
        if pet is None:
            return {"__typename": "Shelter", "city": "Cork"}
        return {"__typename": "Person", "name": "Ada"}

    def echo(self, _info: Any, **arguments: Any) -> str:
        return json.dumps(arguments)

    def createPet(self, _info: Any, pet: dict[str, Any]) -> dict[str, Any]:  # noqa: N802 - the schema's name
        return self._add(pet)


class Endpoint(Service):
    def __init__(self, server: ThreadingHTTPServer) -> None:
        super().__init__(server)
        self.url += "/graphql"
        self.pets = Pets()
        self.shows_schema = True
        self.is_old = False
        """Whether it is of a time when arguments could not be deprecated."""

    @property
    def introspections(self) -> int:
        return sum("__schema" in request.body["query"] for request in self.requests)

    def answer_to(self, request: Received) -> Answer:
        query, variables, told = request.body["query"], request.body.get("variables"), None
        if "__schema" in query and not self.shows_schema:
            told = "introspection is disabled"
        elif self.is_old and "args(includeDeprecated" in query:
            told = "Unknown argument 'includeDeprecated'"
        body: Any = {"errors": [{"message": told}]}
        if told is None:
            shown = request.headers.get("authorization")
            body = graphql_sync(SCHEMA, query, self.pets, shown, variable_values=variables).formatted
        headers = {"Content-Type": "application/graphql-response+json"}
        return Answer(json.dumps(body).encode(), 200 if told is None else 400, headers)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving(Endpoint) as endpoint:
        yield endpoint


def call_of(operation: str, arguments: JSON = None, selection: JSON = None, **facts: Any) -> Call:
    return Call(Function(name="ask", type="graphql", operation=operation), arguments, selection, **facts)


OWNER = "__typename ... on Person { name } ... on Shelter @include(if: true) { city }"


@pytest.mark.parametrize(("operation", "arguments", "selection", "expected"), [
    ("query#pet", {"id": 42}, "{ id, name, favoriteTreat { id } }",
     {"pet": {"id": 42, "name": "Snuffles", "favoriteTreat": {"id": 9001}}}),
    # Enums and lists take their types from the schema, which does not name a deprecated argument unless it is asked to.
    ("query#pets", {"kinds": ["DOG"]}, "name", {"pets": [{"name": "Rex"}]}),
    ("query#echo", {"kind": "DOG"}, None, {"echo": '{"note": "none", "kind": "DOG"}'}),
    ("query#owner", {"pet": 7}, OWNER, {"owner": {"__typename": "Person", "name": "Ada"}}),
    ("query#owner", {"pet": None}, OWNER, {"owner": {"__typename": "Shelter", "city": "Cork"}}),
])  # fmt: skip
async def test_a_query_gives_its_data(
    endpoint: Endpoint, functions: Functions, operation: str, arguments: JSON, selection: JSON, expected: JSON
) -> None:
    """The schema is asked for once."""
    for _ in range(2):
        assert await functions.call(call_of(f"{endpoint.url}#{operation}", arguments, selection)) == expected
    assert (endpoint.last.body["variables"], endpoint.introspections) == (arguments, 1)


@pytest.mark.parametrize(("operation", "arguments", "selection", "code", "told"), [
    ("query#pett", None, None, "UnknownOperation", "did you mean 'pet'?"),
    ("mutation#pet", None, None, "UnknownOperation", "has no mutation 'pet'"),
    ("query#pet", None, "{ id }", "BadArguments", "the argument 'id' is missing"),
    ("query#pet", {"id": 1}, None, "BadArguments", "the selectionSet must name"),
    ("query#pet", {"id": 1}, 5, "BadArguments", "must be a text"),
    ("query#pet", {"id": 1}, "{ id } } mutation { x { id }", "BadArguments", "do not match"),
    ("query#pet", {"id": 1, "a b": 1}, "{ id }", "BadArguments", "'a b' cannot be"),
    ("query#pet", [1], "{ id }", "BadArguments", "must be an object"),
    ("ask#pet", None, None, "BadOperation", "#query#field"),
    ("query#a b", None, None, "BadOperation", "#query#field"),
    ("subscription#pet", None, None, "Unsupported", "subscriptions are not supported"),
])  # fmt: skip
async def test_what_cannot_be_asked(
    endpoint: Endpoint, functions: Functions, operation: str, arguments: JSON, selection: JSON, code: str, told: str
) -> None:
    doing = functions.call(call_of(f"{endpoint.url}#{operation}", arguments, selection))
    await fault_of(doing, code, told, retryable=False)
    assert len(endpoint.requests) == endpoint.introspections


async def test_a_mutation_is_executed(endpoint: Endpoint, functions: Functions) -> None:
    pet: JSON = {"id": 43, "name": "Sadaharu", "favoriteTreatId": 9001, "kind": "DOG"}
    call = call_of(f"{endpoint.url}#mutation#createPet", {"pet": pet}, "{ id, name, favoriteTreat { id } }")
    assert await functions.call(call) == {"createPet": {"id": 43, "name": "Sadaharu", "favoriteTreat": {"id": 9001}}}
    assert await functions.call(call_of(f"{endpoint.url}#query#count")) == {"count": 3}


@pytest.mark.parametrize(("facts", "operation", "arguments", "expected", "introspections"), [
    # It refuses to be asked for arguments that are deprecated, and is asked for the others.
    ({"is_old": True}, "query#pets", {"kinds": ["DOG"]}, {"pets": [{"name": "Rex"}]}, 2),
    # Arguments are written into the document if nobody tells their types; the refusal is remembered.
    ({"shows_schema": False}, "mutation#createPet", {"pet": {"id": 1, "name": 'the "great" one'}},
     {"createPet": {"name": 'the "great" one'}}, 1),
])  # fmt: skip
async def test_an_endpoint_that_does_not_show_all_of_its_schema(
    endpoint: Endpoint, functions: Functions, facts: dict[str, bool], operation: str, arguments: JSON, expected: JSON,
    *, introspections: int,
) -> None:  # fmt: skip
    vars(endpoint).update(facts)
    for _ in range(2):
        assert await functions.call(call_of(f"{endpoint.url}#{operation}", arguments, "name")) == expected
    assert endpoint.introspections == introspections


async def test_errors_are_faults(endpoint: Endpoint, functions: Functions) -> None:
    broken = call_of(f"{endpoint.url}#query#broken")
    fault = await fault_of(functions.call(broken), "CLOSED", "the kennel is closed", retryable=True)
    assert fault.body["data"] == {"broken": None}
    wrong = call_of(f"{endpoint.url}#query#pet", {"id": 42}, "{ wings }")
    await fault_of(functions.call(wrong), "GraphQLError", "wings")


async def test_what_is_no_answer_of_graphql(service: Service, functions: Functions) -> None:
    """Errors keep their status. One that is overloaded when its schema is asked for is asked again."""
    call = call_of("/graphql#query#pet")
    service.answers_with("POST", "/graphql", None, status=503)
    for _ in range(2):
        assert (await fault_of(functions.call(call))).status == 503
    assert all("__schema" in request.body["query"] for request in service.requests)
    errors = {"errors": [{"message": "who?", "extensions": {"code": "NO"}}]}
    service.answers_with("POST", "/graphql", errors, status=401)
    assert (await fault_of(functions.call(call), "NO", "who?")).status == 401
    service.answers_with("POST", "/other", {"hello": "there"})
    await fault_of(functions.call(call_of("/other#query#pet")), "MalformedAnswer")


async def test_expressions_in_arguments_and_selection_set(endpoint: Endpoint) -> None:
    data: JSON = {"petId": 42, "isPetADog": True, "fields": ["id"]}

    def fill(template: JSON) -> Any:
        return Expressions().template(template)(data, {})

    calls = Calls(settings=Settings())
    call = FunctionCall(
        id="Ask/ask#1",
        function=Function(name="ask", type="graphql", operation=f"{endpoint.url}#query#pet"),
        arguments=fill({"id": "${ .petId }"}),
        selection_set=fill('{ name, age(useDogYears: ${ .isPetADog }), favoriteTreat { ${ .fields | join(", ") } } }'),
        state="Ask",
        action="ask",
    )

    pet = {"name": "Snuffles", "age": 49, "favoriteTreat": {"id": 9001}}
    assert await calls.perform(call, source="", key="k", attempt=1) == {"pet": pet}
    await calls.aclose()


async def test_secrets_in_arguments(endpoint: Endpoint) -> None:
    calls = Calls(settings=Settings(), secrets=Secrets({"note": "open-sesame-1001"}))
    template: JSON = {"note": "${ $SECRETS.note }!"}
    call = FunctionCall(
        id="Ask/ask#1",
        function=Function(name="ask", type="graphql", operation=f"{endpoint.url}#query#echo"),
        arguments=template,
        secret_template=SecretTemplate(template, {}, {}, "jq"),
        secrets=("note",),
        state="Ask",
        action="ask",
        language="serverless-workflow",
    )
    answer = await calls.perform(call, source="", key="k", attempt=1)
    assert endpoint.last.body["variables"] == {"note": "open-sesame-1001!"}
    assert answer == {"echo": '{"note": "***"}'}
    await calls.aclose()


@pytest.mark.parametrize("arguments", [
    {"input": {"big": 9007199254740993, "size": 1.5, "kinds": ["CAT", "DOG"], "inner": {"big": None, "kinds": []}}},
    {"flags": [[True, None], []], "note": 'a "quoted"\n${ text } { } # ü'},
    {"note": None, "input": None},
])  # fmt: skip
@pytest.mark.parametrize("shows_schema", [True, False])
async def test_values_of_all_kinds(
    endpoint: Endpoint, functions: Functions, arguments: Any, *, shows_schema: bool
) -> None:
    """Numbers keep all their digits, and nulls are passed; enums are out of reach where the schema is not known."""
    endpoint.shows_schema = shows_schema
    if not shows_schema and arguments.get("input"):
        arguments = {"input": {**arguments["input"], "kinds": [], "inner": None}}
    answer: Any = await functions.call(call_of(f"{endpoint.url}#query#echo", arguments))
    given = {"note": "none", **arguments}
    assert json.loads(answer["echo"]) == given


async def test_a_token_that_is_refused_without_a_status(
    endpoint: Endpoint, service: Service, functions: Functions
) -> None:
    """Servers that say UNAUTHENTICATED in an answer that has the status 200 are asked again with a new token, too."""
    service.answers_with("POST", "/token", {"access_token": "t-1", "token_type": "Bearer"})
    call = showing_token(call_of(f"{endpoint.url}#query#secret"), service)
    await fault_of(functions.call(call), "UNAUTHENTICATED")
    assert len([one for one in endpoint.requests if "secret" in one.body["query"]]) == 2
    service.answers_with("POST", "/token", {"access_token": "t-2", "token_type": "Bearer"})
    assert await functions.call(call) == {"secret": 7}


@pytest.mark.parametrize(("scheme", "properties", "header", "query"), [
    ("bearer", {"token": "t0ken"}, "Bearer t0ken", []),
    ("apiKey", {"in": "query", "name": "key", "key": "k-9"}, None, [("key", "k-9")]),
])  # fmt: skip
async def test_credentials_are_sent(
    calling: Calling, endpoint: Endpoint, scheme: str, properties: Any, header: str | None, query: Any
) -> None:
    """With the call, and with the question for the schema; here to an endpoint whose host the settings name."""
    host = endpoint.url.removesuffix("/graphql")
    functions = calling(settings=Settings(functions={"ask": Options(base_url=host)}))
    assert await functions.call(showing(call_of("graphql#query#count"), scheme, properties)) == {"count": 2}
    shown = [(request.headers.get("authorization"), request.query) for request in endpoint.requests]
    assert shown == [(header, query)] * 2


@pytest.mark.parametrize(("given", "read"), [
    (None, ""), (" ", ""), ("{ id }", "{ id }"), ("id, name", "{ id, name \n}"),
    ('{ a(x: "}") # }\n b }', '{ a(x: "}") # }\n b }'),
])  # fmt: skip
def test_selection_sets_and_literals(given: JSON, read: str) -> None:
    assert selection_set(given) == read
    assert literal({"a": [1, 2.0, "x", None, True], "b": {"c": 1.5}}) == '{a: [1, 2, "x", null, true], b: {c: 1.5}}'
