"""Takes the documents into a JSON Schema that it refers to: beside it, as the schemas of many projects are divided.

Each document becomes one of the `$defs` of the schema, once, and all references lead there: so the schema is whole,
wherever it travels. A reference that leads nowhere stays, and is told with what is wrong with schemas.
"""

import posixpath
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from swf_temporal.expressions.schema_checking.checking import DATA_KEYWORDS
from swf_temporal.text.located import Array, Object

_DRAFTS: Final = ("http://json-schema.org/", "https://json-schema.org/")
_MAX_DOCUMENTS: Final = 200

Read: TypeAlias = Callable[[str, Object], Object | None]
"""Returns the document at a URI, which the object refers to; None if it cannot be had."""


def take_documents(schema: Any, uri: str, read: Read) -> bool:
    """Take into *schema*, which stands at *uri*, what it refers to in other documents; tell whether there was any."""
    if not isinstance(schema, Object):
        return False
    whole = _Whole(schema, uri, read)
    whole.take()
    return bool(whole.taken)


class _Whole:
    def __init__(self, schema: Object, uri: str, read: Read) -> None:
        self._schema = schema
        self._read = read
        self._places = {_normal(uri): ""} if uri else {}
        """Where each document stands in the schema, by its URI."""
        self._waiting = [(schema, uri, "")]
        self.taken = Object(schema.where.position)

    def take(self) -> None:
        while self._waiting:
            document, base, place = self._waiting.pop()
            parts = list(_parts(document))
            ids = {one for part in parts if isinstance(one := part.get("$id"), str)}  # a property may be called so
            for part in parts:
                reference = part.get("$ref")
                if isinstance(reference, str) and not reference.startswith(_DRAFTS):
                    location, _, fragment = reference.partition("#")
                    if location and not ids & {location, f"{location}#"}:
                        self._lead(part, _beside(base, location), fragment)
                    elif not location and place and fragment[:1] in ("", "/"):
                        part["$ref"] = f"#{place}{fragment}"
        self._put()

    def _lead(self, part: Object, target: str, fragment: str) -> None:
        """Let the reference in *part* lead into the document at *target*, if there is one."""
        if target not in self._places and len(self._places) < _MAX_DOCUMENTS:
            found = self._read(target, part)
            if found is None:
                return
            place = f"/$defs/{quote(target.replace('~', '~0').replace('/', '~1'), safe='~')}"
            self._places[target] = place
            self.taken.put(target, found, (part.where.position, part.where.position))
            self._waiting.append((found, target, place))
        if target in self._places:
            part["$ref"] = f"#{self._places[target]}{fragment}"

    def _put(self) -> None:
        """Put what was taken beside the definitions that the schema has."""
        for document in self.taken.values():
            for key in ("$id", "id", "$schema"):  # of a whole, which it is a part of now
                if isinstance(document.get(key), str):
                    del document[key]
        if self.taken and "$defs" not in self._schema:
            position = self.taken.where.position
            self._schema.put("$defs", Object(position), (position, position))
        definitions = self._schema.get("$defs")
        if isinstance(definitions, Object):  # anything else is told with what is wrong with schemas
            for key, document in self.taken.items():
                definitions.put(key, document, self.taken.where.keys[key])


def _parts(node: Any) -> Iterator[Object]:
    """Yield the objects of a schema in which a `$ref` may refer to something."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Object):
            yield part
            waiting.extend(value for key, value in part.items() if key not in DATA_KEYWORDS)
        elif isinstance(part, Array):
            waiting.extend(part)


def _beside(base: str, location: str) -> str:
    """Return the URI of *location*, which a document at *base* refers to."""
    scheme = location.partition(":")[0]
    is_whole = location.startswith("/") or (scheme != location and scheme.isalnum())
    folder = base.rpartition("/")[0]
    return _normal(location if is_whole or not folder else f"{folder}/{location}")


def _normal(uri: str) -> str:
    return uri if "://" in uri else posixpath.normpath(uri)
