"""An OData service of version 4 that a library of others carries out, over HTTP."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from odatapy.data import Entity, ValueType
from odatapy.edm import csdl
from odatapy.server import OData
from odatapy.server.adapters import ODataWSGIApp
from odatapy.server.inmemory import InMemoryDataStore, InMemoryProcessor

from tests.listening import listening

PERSONS: list[dict[str, Any]] = [
    {"Id": 1, "Name": "Ada", "Born": 1815},
    {"Id": 2, "Name": "O'Hara", "Born": 1926},
    {"Id": 3, "Name": "Alan", "Born": 1912},
    {"Id": 4, "Name": "Edsger", "Born": 1930},
]
_TYPES = {"Id": "Edm.Int32", "Name": "Edm.String", "Born": "Edm.Int64", "Code": "Edm.String", "Order": "Edm.Int32"}


class _Provider(csdl.CsdlAbstractEdmProvider):
    def get_schemas(self) -> list[csdl.CsdlSchema]:
        city = _entity_type("City", ("Code", "Name"), ("Code",))
        order = _entity_type("Item", ("Order", "Code"), ("Order", "Code"))
        person = _entity_type("Person", ("Id", "Name", "Born"), ("Id",))
        person.navigation_properties = [csdl.CsdlNavigationProperty(name="City", type="Demo.City")]
        binding = csdl.CsdlNavigationPropertyBinding(path="City", target="Cities")
        sets = [
            csdl.CsdlEntitySet(name="Persons", type="Demo.Person", navigation_property_bindings=[binding]),
            csdl.CsdlEntitySet(name="Cities", type="Demo.City"),
            csdl.CsdlEntitySet(name="Items", type="Demo.Item"),
        ]
        container = csdl.CsdlEntityContainer(name="Container", entity_sets=sets)
        return [csdl.CsdlSchema(namespace="Demo", entity_types=[person, city, order], entity_container=container)]


def _entity_type(name: str, properties: tuple[str, ...], key: tuple[str, ...]) -> csdl.CsdlEntityType:
    return csdl.CsdlEntityType(
        name=name,
        key=[csdl.CsdlPropertyRef(name=part) for part in key],
        properties=[csdl.CsdlProperty(name=each, type=_TYPES[each], nullable=False) for each in properties],
    )


def _entity(**values: Any) -> Entity:
    entity = Entity()
    for name, value in values.items():
        entity.set_property(name, value, ValueType.PRIMITIVE, _TYPES[name])
    return entity


def _store() -> InMemoryDataStore:
    store = InMemoryDataStore()
    cities = {code: _entity(Code=code, Name=name) for code, name in (("L/1", "London"), ("C", "Cork"))}
    store.set_entities("Cities", list(cities.values()))
    store.set_entities("Persons", [_entity(**person) for person in PERSONS])
    store.set_entities("Items", [_entity(Order=1, Code="a b"), _entity(Order=1, Code="c")])
    store.add_relation("Persons", "1", "City", cities["L/1"])
    store.add_relation("Persons", "2", "City", cities["C"])
    return store


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the library uses
        pass


@contextmanager
def serving(page_size: int | None = None) -> Iterator[str]:
    odata = OData.new_instance()
    handler = odata.create_handler(odata.create_service_metadata(_Provider()))
    handler.register(InMemoryProcessor(_store(), page_size))
    server = make_server("127.0.0.1", 0, ODataWSGIApp(handler), handler_class=_Quiet)
    with listening(server):
        yield f"http://127.0.0.1:{server.server_port}"
