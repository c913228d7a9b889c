"""Default implementations for languages."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from swf_temporal.base.calls import Auth, fill_plain_auth
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Problem, UsageError, WorkflowFault
from swf_temporal.languages.marks import Kind, Mark
from swf_temporal.languages.port import Checked, Definition, ShownExpression
from swf_temporal.text.origin import Fetch, Object, Source, nothing

if TYPE_CHECKING:
    from swf_temporal.runtime.host import SecretTemplate
    from swf_temporal.runtime.run import Program


@dataclass(frozen=True, slots=True)
class UpgradeChange:
    """One change that rewriting a definition made, or could not make."""

    kind: Literal["respelled", "changed", "differs", "refused", "inexpressible"]
    """Renamed only; expressed in another form; unchanged, though its effect differs; unchanged, though the other
    runtime refuses it; not expressible and unchanged."""
    message: str
    line: int | None = None
    """The line of its first occurrence, if known."""
    hint: str | None = None
    """Advice on what to write or check."""
    also: tuple[int, ...] = ()
    """The lines of its other occurrences, if it has another effect."""


@dataclass(frozen=True, slots=True)
class Upgraded:
    """A definition that was rewritten in a newer version of its language."""

    text: str
    version: str
    """The version of the original."""
    changes: tuple[UpgradeChange, ...] = ()
    to_write: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Python functions to write in place of other code: the name and the parameters of each, once for each use."""
    properties: tuple[str, ...] = ()
    """The application properties that became constants."""
    secrets: Mapping[tuple[str, ...], str | None] = field(default_factory=dict)
    """The secrets that its functions receive, by path, and the property of each; None if it was not a property."""
    problems: tuple[Problem, ...] = ()
    """The warnings that the result, if it keeps the effects of another runtime, has only as it was written."""
    to: str = ""
    """The version of the result, if it is another one."""

    @property
    def is_complete(self) -> bool:
        """Whether everything in it could be expressed in the newer version."""
        return all(change.kind != "inexpressible" for change in self.changes)


class LanguageBase(ABC):
    """A language with default implementations: pinned texts are read like others."""

    name: str
    title: str

    def looks_like(self, text: str) -> bool:  # noqa: ARG002 - overridden by languages with marks
        """Return False: another language reports texts that cannot be read."""
        return False

    @abstractmethod
    def recognises(self, root: Object) -> bool:
        """Return True if *root* is a definition in this language."""

    @abstractmethod
    def read(self, root: Object, source: Source, fetch: Fetch = nothing) -> Checked:
        """Return the definition *root*, which is part of *source*, with all its problems."""

    def read_pinned(self, root: Object, source: Source) -> Checked:
        """Return the definition as `read` does. A language whose rules change has to skip them here."""
        return self.read(root, source)

    @abstractmethod
    def prepare(self, definition: Definition, semantics: int) -> "Program":
        """Return *definition* as a program of runs that began with the semantics number *semantics*."""

    def fill(self, given: "SecretTemplate", secrets: Mapping[str, JSON]) -> JSON:  # noqa: ARG002 - overridden by languages with secrets
        """Return arguments unchanged: they contain no secrets."""
        return given.template

    def fill_auth(self, auth: Auth, secrets: Mapping[str, JSON]) -> JSON:
        """Return the properties of credentials, or the secret that they name."""
        return fill_plain_auth(auth, secrets)

    def holds(self, condition: JSON, fault: WorkflowFault) -> bool:  # noqa: ARG002 - overridden by languages with conditions
        """Return False: the language has no conditions."""
        return False

    def marks(self, root: Object) -> list[Mark]:  # noqa: ARG002 - overridden by languages with marks
        """Return an empty list: the language does not report names to editors."""
        return []

    def kind_of_names(self, key: str) -> Kind | None:  # noqa: ARG002 - as above
        """Return None, as above."""
        return None

    def standard_names(self, kind: Kind) -> Sequence[str]:  # noqa: ARG002 - overridden by languages that define names
        """Return none: the language defines no names itself."""
        return ()

    def expression_at(self, line: str, column: int) -> ShownExpression | None:  # noqa: ARG002 - as above
        """Return None: the language does not show values of expressions in editors."""
        return None

    def json_schema(self, title: str | None = None, version: str | None = None) -> dict[str, Any]:  # noqa: ARG002 - overridden by languages with a schema
        """Raise UsageError: there is no schema."""
        raise UsageError(f"there is no JSON Schema of {self.title}")

    def upgrade(
        self,
        source: Source,
        to: str | None = None,  # noqa: ARG002 - overridden by languages with versions
        namespace: str | None = None,  # noqa: ARG002 - as above
        fetch: Fetch = nothing,  # noqa: ARG002 - as above
    ) -> Upgraded:
        """Raise UsageError: the language has no other versions."""
        raise UsageError(f"{source.name}: definitions of {self.title} cannot be upgraded")

    def migrate(
        self,
        source: Source,
        properties: Mapping[str, str],  # noqa: ARG002 - as above
        fetch: Fetch = nothing,  # noqa: ARG002 - as above
        *,
        keeps_effects: bool = False,  # noqa: ARG002 - as above
        application: str = "",  # noqa: ARG002 - as above
    ) -> Upgraded:
        """Return it unchanged: it means the same to other runtimes."""
        return Upgraded(source.text, "")
