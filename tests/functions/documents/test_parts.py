"""What stands where in a document."""

from typing import Any

import pytest

from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.documents.parts import Document, DocumentPart, UnresolvedReference, beside
from tests.failing import failing

CONTENT: dict[str, Any] = {
    "a/b": {"~": {"": {"is": "deep"}}},
    "list": [{"is": 0}, {"is": 1}],
    "100%": {"is": "escaped"},
    "to": {"$ref": "#/list/1"},
    "named": {"schema": {"$anchor": "Pet", "is": "anchored"}},
    "round": {"$ref": "#/round"},
}


def document(location: str = "/specs/api.yaml") -> Document:
    return Document("api.yaml", location, CONTENT)


@pytest.mark.parametrize(("reference", "found"), [
    ("#/a~1b/~0/", {"is": "deep"}),
    ("#/a%2Fb", None),
    ("#/a~1b/%7E0/", {"is": "deep"}),
    ("#/list/1", {"is": 1}),
    ("#/list/2", None),
    ("#/list/-1", None),
    ("#/list/is", None),
    ("#/100%25", {"is": "escaped"}),
    ("#/to", {"is": 1}),
    ("#/to/is", None),
    ("#Pet", {"$anchor": "Pet", "is": "anchored"}),
    ("#Dog", None),
    ("#", CONTENT),
    ("api.yaml#/list/0", {"is": 0}),
    ("./api.yaml#/list/0", {"is": 0}),
])  # fmt: skip
def test_references_within_a_document(reference: str, found: dict[str, Any] | None) -> None:
    if found is not None:
        assert document().resolve({"$ref": reference}) == found
        return
    with failing("BadDocument", "which is not in it", retryable=False):
        document().resolve({"$ref": reference})


def test_a_cycle_is_reported() -> None:
    with pytest.raises(CallFailed, match="circular"):
        document().resolve({"$ref": "#/round"})


def test_a_document_that_is_not_at_hand() -> None:
    """Whoever can get it is told which; for everybody else it is a fault like any other."""
    with pytest.raises(UnresolvedReference, match=r"'api\.yaml' refers to 'pets\.yaml#/Pet'") as caught:
        document().resolve({"$ref": "pets.yaml#/Pet"})
    assert (caught.value.location, caught.value.code) == ("/specs/pets.yaml", "BadDocument")


def test_parts_know_their_document() -> None:
    first = document()
    other = Document("pets.yaml", "/specs/pets.yaml", {"Pet": {"$ref": "#/Dog"}, "Dog": {"is": "dog"}}, first.others)
    first.others["/specs/pets.yaml"] = other
    found = DocumentPart(first, {"pet": {"$ref": "pets.yaml#/Pet"}}).part("pet")
    assert (found.document, found.value) == (other, {"is": "dog"})


@pytest.mark.parametrize(("location", "name", "expected"), [
    ("/specs/api.yaml", "../pets.yaml", "/pets.yaml"),
    ("/specs/api.yaml", "my%20pets.yaml", "/specs/my pets.yaml"),
    ("/specs/api.yaml", "file:///pets.yaml", "/pets.yaml"),
    ("/specs/api.yaml", "https://h/pets.yaml", "https://h/pets.yaml"),
    ("https://h/specs/api.yaml", "../pets.yaml", "https://h/pets.yaml"),
    ("https://h/specs/api.yaml", "/pets.yaml", "https://h/pets.yaml"),
])  # fmt: skip
def test_documents_are_beside_each_other(location: str, name: str, expected: str) -> None:
    assert beside(location, name) == expected
