"""The definitions that a worker serves, which may change while it works."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from swf_temporal.base.errors import UsageError
from swf_temporal.base.grammar import with_article
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition

One = Definition | str | os.PathLike[str] | Mapping[str, Any]
"""A definition, or what `load` takes."""
Given = Catalogue | One | Iterable[One]
_ONE = (Definition, str, os.PathLike, Mapping)


class Definitions:
    """The definitions that a worker serves. What is running keeps the definition with which it began.

    definitions.add("orders.yaml")
    definitions.remove("orders", "1.0.0")
    """

    def __init__(self, given: Given = ()) -> None:
        """Serve what is *given*. Raises InvalidDefinition, and UsageError for what is not a definition."""
        self._check: list[Callable[[Definition], None]] = []
        self.are_own = not isinstance(given, Catalogue)
        """Whether they were made into a catalogue here; who brings one has checked what it calls."""
        if isinstance(given, Catalogue):
            self.catalogue = given
            return
        self.catalogue = Catalogue()
        if not isinstance(given, _ONE) and not isinstance(given, Iterable):
            raise UsageError(f"definitions must be a list of definitions, and is {with_article(type(given).__name__)}")
        for one in [given] if isinstance(given, _ONE) else given:
            self.add(one)

    def __iter__(self) -> Iterator[Definition]:
        """Yield every definition, in all its versions."""
        return iter(self.catalogue)

    def add(self, given: One, *, replace: bool = False) -> Definition:
        """Serve one more definition, for instances that are started from now on; return it.

        Raises InvalidDefinition if it cannot run, and UsageError if there is one of its id and version with another
        content, unless it is to *replace* that.
        """
        if not isinstance(given, Definition | str | os.PathLike | Mapping):
            kind = with_article(type(given).__name__)
            raise UsageError(f"a definition must be a text, a path, a mapping or a Definition, and is {kind}")
        new = given if isinstance(given, Definition) else load(given)
        for check in self._check:
            check(new)
        old = next((one for one in self if (one.id, one.version) == (new.id, new.version)), None)
        if old is not None and old.digest != new.digest and not replace:
            version = f" in version {new.version}" if new.version else ""
            message = f"{new.id!r} is served already{version}, with another content"
            raise UsageError(message, "give it another version, or say replace=True")
        self.catalogue.add(new)
        return new

    def remove(self, definition_id: str, version: str | None = None) -> None:
        """Serve it no more, in that *version* or in all; what runs goes on. Raises UsageError if there is none."""
        if not self.catalogue.remove(definition_id, version):
            what = f"{definition_id!r} in version {version}" if version else repr(definition_id)
            raise UsageError(f"there is no definition {what} here")

    def check(self, check: Callable[[Definition], None]) -> None:
        """Have *check* look at each definition: those that are there, and those that come."""
        for one in self:
            check(one)
        self._check.append(check)
