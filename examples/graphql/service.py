"""An animal shelter with a GraphQL endpoint. Its only dog has found a home."""

import logging
from typing import Any

from flask import Flask, request
from graphql import GraphQLError, build_schema, graphql_sync
from werkzeug.serving import make_server

app = Flask(__name__)

SCHEMA = build_schema("""
    enum Kind { CAT DOG }
    type Treat { name: String! }
    type Pet { id: ID!, name: String!, age(inDogYears: Boolean): Int!, likes: Treat }
    input Person { name: String!, garden: Boolean }
    type Query { pets(kind: Kind): [Pet!]! }
    type Mutation { adopt(pet: ID!, by: Person!): Pet!, tellMe(kind: Kind!, name: String!): Int! }
""")


class Pet:
    """A dog."""

    id = "7"
    name = "Snuffles"

    def age(self, _info: Any, *, inDogYears: bool = False) -> int:  # noqa: N803 - the schema's name
        """Tell how old it is."""
        return 21 if inDogYears else 3

    def likes(self, _info: Any) -> dict[str, str]:
        """Tell its favourite treat."""
        return {"name": "cheese"}


class Shelter:
    """The queries."""

    def pets(self, _info: Any, kind: str | None = None) -> list[Pet]:
        """Return the pets of a kind."""
        return [] if kind == "CAT" else [Pet()]

    def adopt(self, _info: Any, pet: str, by: dict[str, Any]) -> Pet:
        """Refuse: it has a home."""
        raise GraphQLError(
            f"{by['name']} is too late: pet {pet} has found a home", extensions={"code": "ALREADY_ADOPTED"}
        )

    def tellMe(self, _info: Any, kind: str, name: str) -> int:  # noqa: ARG002, N802 - the schema's names
        """Put a guest on the list, and return the place on it."""
        return 1


@app.post("/graphql")
def graphql() -> dict[str, Any]:
    """Answer a query or a mutation."""
    asked = request.get_json()
    result = graphql_sync(SCHEMA, asked["query"], Shelter(), variable_values=asked.get("variables"))
    return {**result.formatted}


if __name__ == "__main__":
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)  # noqa: T201 - the program that started it reads this
    server.serve_forever()
