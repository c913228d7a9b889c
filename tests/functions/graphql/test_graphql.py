"""How fields of a GraphQL endpoint are asked for and changed, against an endpoint that really executes a schema."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
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
from tests.functions.conftest import Calling, Service, showing, showing_token
from tests.listening import Quiet, listening

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


class Endpoint:
    def __init__(self, server: ThreadingHTTPServer) -> None:
        self.url = f"http://127.0.0.1:{server.server_port}/graphql"
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.shows_schema = True
        self.is_old = False
        """Whether it is of a time when arguments could not be deprecated."""

    @property
    def introspections(self) -> int:
        return sum("__schema" in request["query"] for request in self.asked)


@contextmanager
def serving() -> Iterator[Endpoint]:
    pets = Pets()

    class Handler(Quiet):
        def respond(self, content: bytes) -> None:
            request = json.loads(content)
            query, variables = request["query"], request.get("variables")
            served.asked.append(request)
            served.paths.append(self.path)
            served.headers.append({name.lower(): value for name, value in self.headers.items()})
            told = None
            if "__schema" in query and not served.shows_schema:
                told = "introspection is disabled"
            elif served.is_old and "args(includeDeprecated" in query:
                told = "Unknown argument 'includeDeprecated'"
            body: Any = {"errors": [{"message": told}]}
            if told is None:
                shown = self.headers.get("Authorization")
                body = graphql_sync(SCHEMA, query, pets, shown, variable_values=variables).formatted
            headers = {"Content-Type": "application/graphql-response+json"}
            self.answer(json.dumps(body).encode(), 200 if told is None else 400, headers)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = Endpoint(server)
    with listening(server):
        yield served


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as endpoint:
        yield endpoint


def call_of(operation: str, arguments: JSON = None, selection: JSON = None, **facts: Any) -> Call:
    return Call(Function(name="ask", type="graphql", operation=operation), arguments, selection, **facts)


async def test_a_query_gives_its_data(endpoint: Endpoint, functions: Functions) -> None:
    call = call_of(f"{endpoint.url}#query#pet", {"id": 42}, "{ id, name, favoriteTreat { id } }")
    assert await functions.call(call) == {"pet": {"id": 42, "name": "Snuffles", "favoriteTreat": {"id": 9001}}}
    assert endpoint.asked[-1]["variables"] == {"id": 42}


async def test_a_mutation_is_executed(endpoint: Endpoint, functions: Functions) -> None:
    pet: JSON = {"id": 43, "name": "Sadaharu", "favoriteTreatId": 9001, "kind": "DOG"}
    call = call_of(f"{endpoint.url}#mutation#createPet", {"pet": pet}, "{ id, name, favoriteTreat { id } }")
    assert await functions.call(call) == {"createPet": {"id": 43, "name": "Sadaharu", "favoriteTreat": {"id": 9001}}}
    assert await functions.call(call_of(f"{endpoint.url}#query#count")) == {"count": 3}


async def test_enums_and_lists_take_their_types_from_the_schema(endpoint: Endpoint, functions: Functions) -> None:
    call = call_of(f"{endpoint.url}#query#pets", {"kinds": ["DOG"]}, "name")
    assert await functions.call(call) == {"pets": [{"name": "Rex"}]}


async def test_a_deprecated_argument_has_its_type(endpoint: Endpoint, functions: Functions) -> None:
    """A schema does not name a deprecated argument unless it is asked to."""
    call = call_of(f"{endpoint.url}#query#echo", {"kind": "DOG"})
    assert await functions.call(call) == {"echo": '{"note": "none", "kind": "DOG"}'}


async def test_a_server_in_which_arguments_cannot_be_deprecated(endpoint: Endpoint, functions: Functions) -> None:
    """It refuses to be asked for those, and is asked for the others."""
    endpoint.is_old = True
    call = call_of(f"{endpoint.url}#query#pets", {"kinds": ["DOG"]}, "name")
    assert await functions.call(call) == {"pets": [{"name": "Rex"}]}
    assert await functions.call(call) == {"pets": [{"name": "Rex"}]}
    assert endpoint.introspections == 2


async def test_the_schema_is_asked_for_once(endpoint: Endpoint, functions: Functions) -> None:
    for _ in range(2):
        await functions.call(call_of(f"{endpoint.url}#query#count"))
    assert endpoint.introspections == 1


async def test_an_endpoint_that_hides_its_schema(endpoint: Endpoint, functions: Functions) -> None:
    """Arguments are written into the document if nobody tells their types; the refusal is remembered."""
    endpoint.shows_schema = False
    pet: JSON = {"id": 1, "name": 'the "great" one'}
    created = await functions.call(call_of(f"{endpoint.url}#mutation#createPet", {"pet": pet}, "{ name }"))
    assert created == {"createPet": {"name": 'the "great" one'}}
    assert await functions.call(call_of(f"{endpoint.url}#query#count")) == {"count": 3}
    assert endpoint.introspections == 1


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
    assert len(endpoint.asked) == endpoint.introspections


async def test_errors_are_faults(endpoint: Endpoint, functions: Functions) -> None:
    doing = functions.call(call_of(f"{endpoint.url}#query#broken"))
    fault = await fault_of(doing, "CLOSED", "the kennel is closed", retryable=True)
    assert fault.body["data"] == {"broken": None}


async def test_errors_without_a_code(endpoint: Endpoint, functions: Functions) -> None:
    doing = functions.call(call_of(f"{endpoint.url}#query#pet", {"id": 42}, "{ wings }"))
    await fault_of(doing, "GraphQLError", "wings")


async def test_errors_with_a_status(service: Service, functions: Functions) -> None:
    """Errors that come with a status keep it; an answer that is none of GraphQL's is malformed."""
    service.answers_with(
        "POST", "/graphql", {"errors": [{"message": "who?", "extensions": {"code": "NO"}}]}, status=401
    )
    fault = await fault_of(functions.call(call_of("/graphql#query#pet")))
    assert (fault.code, fault.status, fault.message.endswith("who?")) == ("NO", 401, True)
    service.answers_with("POST", "/other", {"hello": "there"})
    assert (await fault_of(functions.call(call_of("/other#query#pet")))).code == "MalformedAnswer"


async def test_trouble_is_not_taken_for_a_refusal(service: Service, functions: Functions) -> None:
    """An endpoint that is overloaded when its schema is asked for is asked again by the next attempt."""
    service.answers_with("POST", "/graphql", None, status=503)
    call = call_of("/graphql#query#pet")
    assert [(await fault_of(functions.call(call))).status for _ in range(2)] == [503, 503]
    assert all("__schema" in request.body["query"] for request in service.requests)


async def test_credentials_are_sent(endpoint: Endpoint, functions: Functions) -> None:
    """The function's credentials go with the call, and with the question for the schema."""
    await functions.call(showing(call_of(f"{endpoint.url}#query#count"), "bearer", {"token": "t0ken"}))
    assert [headers["authorization"] for headers in endpoint.headers] == ["Bearer t0ken", "Bearer t0ken"]


async def test_a_url_without_a_host(calling: Calling, endpoint: Endpoint) -> None:
    functions = calling(settings=Settings(functions={"ask": Options(base_url=endpoint.url.removesuffix("/graphql"))}))
    assert await functions.call(call_of("graphql#query#count")) == {"count": 2}


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
    """A secret becomes a variable where the call is made."""
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
    assert endpoint.asked[-1]["variables"] == {"note": "open-sesame-1001!"}
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


@pytest.mark.parametrize(
    ("pet", "expected"),
    [(7, {"__typename": "Person", "name": "Ada"}), (None, {"__typename": "Shelter", "city": "Cork"})],
)
async def test_fragments(endpoint: Endpoint, functions: Functions, pet: JSON, expected: JSON) -> None:
    selection = "__typename ... on Person { name } ... on Shelter @include(if: true) { city }"
    assert await functions.call(call_of(f"{endpoint.url}#query#owner", {"pet": pet}, selection)) == {"owner": expected}


async def test_a_token_that_is_refused_without_a_status(
    endpoint: Endpoint, service: Service, functions: Functions
) -> None:
    """Servers that say UNAUTHENTICATED in an answer that has the status 200 are asked again with a new token, too."""
    service.answers_with("POST", "/token", {"access_token": "t-1", "token_type": "Bearer"})
    call = showing_token(call_of(f"{endpoint.url}#query#secret"), service)
    await fault_of(functions.call(call), "UNAUTHENTICATED")
    assert len([one for one in endpoint.asked if "secret" in one["query"]]) == 2
    service.answers_with("POST", "/token", {"access_token": "t-2", "token_type": "Bearer"})
    assert await functions.call(call) == {"secret": 7}


async def test_a_key_in_the_query(endpoint: Endpoint, functions: Functions) -> None:
    """An endpoint may want its key in the query, of the question for its schema too."""
    key = {"in": "query", "name": "key", "key": "k-9"}
    await functions.call(showing(call_of(f"{endpoint.url}#query#count"), "apiKey", key))
    assert endpoint.paths == ["/graphql?key=k-9", "/graphql?key=k-9"]


@pytest.mark.parametrize(("given", "read"), [
    (None, ""),
    (" ", ""),
    ("{ id }", "{ id }"),
    ("id, name", "{ id, name \n}"),
    ('{ a(x: "}") # }\n b }', '{ a(x: "}") # }\n b }'),
])  # fmt: skip
def test_selection_sets_are_read(given: JSON, read: str) -> None:
    assert selection_set(given) == read


def test_literals() -> None:
    assert literal({"a": [1, 2.0, "x", None, True], "b": {"c": 1.5}}) == '{a: [1, 2, "x", null, true], b: {c: 1.5}}'
