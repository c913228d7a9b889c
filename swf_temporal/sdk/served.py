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
"""A definition, or an argument of `load`."""
Given = One | Iterable[One]
"""The definitions to serve; a catalogue is used as it is."""
_ONE = (Definition, str, os.PathLike, Mapping)


class Definitions:
    """The definitions that a worker serves. Running instances keep the definition with which they began.

    definitions.add("orders.yaml")
    definitions.remove("orders", "1.0.0")
    """

    def __init__(self, given: Given = ()) -> None:
        """Serve the *given* definitions. Raises InvalidDefinition, and UsageError for anything else."""
        self._check: list[Callable[[Definition], None]] = []
        self.are_own = not isinstance(given, Catalogue)
        """Whether this made the catalogue; a caller that passes one has checked the functions that it calls."""
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

    def __contains__(self, one: object) -> bool:
        """Return whether a definition is served: one with this id, in any version, or this one."""
        if isinstance(one, Definition):
            return any((each.id, each.version, each.digest) == (one.id, one.version, one.digest) for each in self)
        return any(each.id == one for each in self)

    def add(self, given: One, *, replace: bool = False) -> Definition:
        """Serve one more definition, for instances that are started from now on; return it.

        Raises InvalidDefinition if it cannot run, and UsageError if another content is served under the same id and
        version, unless it is to *replace* that.
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
            raise UsageError(message, "give it another version, or use replace=True")
        self.catalogue.add(new)
        return new

    def remove(self, definition_id: str, version: str | None = None) -> None:
        """Stop serving it, in that *version* or in all; instances continue. Raises UsageError if it is not served."""
        if not self.catalogue.remove(definition_id, version):
            what = f"{definition_id!r} in version {version}" if version else repr(definition_id)
            raise UsageError(f"there is no definition {what} here")

    def check(self, check: Callable[[Definition], None]) -> None:
        """Call *check* with each definition: those served now, and those added later."""
        for one in self:
            check(one)
        self._check.append(check)
