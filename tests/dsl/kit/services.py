"""Stand-ins for the public services that the kit calls: the same operations, with answers of the same form."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

PETSTORE: Final = "https://petstore.swagger.io"
HTTPBIN: Final = "https://httpbin.org"

_PET: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["name", "photoUrls"],
    "properties": {
        "id": {"type": "integer", "format": "int64"},
        "name": {"type": "string"},
        "photoUrls": {"type": "array", "items": {"type": "string"}},
        "status": {"type": "string", "enum": ["available", "pending", "sold"]},
    },
}
SWAGGER: Final[dict[str, Any]] = {
    "swagger": "2.0",
    "info": {"title": "Pet store", "version": "1.0.0"},
    "host": "petstore.swagger.io",
    "basePath": "/v2",
    "schemes": ["https", "http"],
    "paths": {
        "/pet/findByStatus": {
            "get": {
                "operationId": "findPetsByStatus",
                "produces": ["application/json"],
                "parameters": [
                    {
                        "name": "status",
                        "in": "query",
                        "required": True,
                        "type": "array",
                        "items": {"type": "string", "enum": ["available", "pending", "sold"]},
                        "collectionFormat": "multi",
                    }
                ],
                "responses": {
                    "200": {"description": "found", "schema": {"type": "array", "items": {"$ref": "#/definitions/Pet"}}}
                },
            }
        },
        "/pet/{petId}": {
            "get": {
                "operationId": "getPetById",
                "produces": ["application/json"],
                "parameters": [{"name": "petId", "in": "path", "required": True, "type": "integer", "format": "int64"}],
                "responses": {
                    "200": {"description": "found", "schema": {"$ref": "#/definitions/Pet"}},
                    "404": {"description": "there is no such pet"},
                },
            }
        },
    },
    "definitions": {"Pet": _PET},
}


def pet(number: int, status: str = "available") -> dict[str, Any]:
    """Return a pet as the pet store has it."""
    return {"id": number, "name": f"pet {number}", "photoUrls": [], "tags": [], "status": status}


SERVICES: Final[dict[str, Any]] = {
    PETSTORE: {
        "GET /v2/swagger.json": {"body": SWAGGER},
        "GET /v2/pet/findByStatus": {"body": [pet(1), pet(2)]},
        "GET /v2/pet/1": {"body": pet(1)},
        "GET /v2/pet/2": {"body": pet(2)},
        "GET /v2/pet/getPetByName/Milou": {"status": 404, "body": {"code": 404, "message": "not found"}},
    },
    HTTPBIN: {
        "GET /basic-auth/serverless-workflow/conformance-test": {
            "body": {"authenticated": True, "user": "serverless-workflow"}
        }
    },
}
"""As scenario files describe services."""


def refused(requests: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the *requests* that the real services would have answered with 401."""
    found = []
    for one in requests:
        path = str(one["request"]).partition(" ")[2].split("/")
        if path[1] != "basic-auth":
            continue
        expected = "Basic " + base64.b64encode(":".join(path[2:4]).encode()).decode()
        if one["headers"].get("authorization") != expected:
            found.append(f"{one['request']} did not carry the credentials")
    return found
