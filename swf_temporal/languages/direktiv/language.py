"""The `Language` interface of Direktiv's workflow language.

`recognises` is called for definitions of all languages, so model, rules and execution are imported where they are used.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Severity
from swf_temporal.languages.base import LanguageBase
from swf_temporal.languages.direktiv.words import FUNCTION_TYPES, NAME, STATE_TYPES
from swf_temporal.languages.marks import Kind, Mark, NameKeys
from swf_temporal.languages.port import Checked, Definition
from swf_temporal.text.origin import Fetch, Object, Source, nothing, objects_in

if TYPE_CHECKING:
    from swf_temporal.runtime.host import SecretTemplate
    from swf_temporal.runtime.run import Program

_OTHERS: Final = frozenset({
    "annotations", "auth", "autoRetries", "constants", "dataInputSchema", "dataOutputSchema", "do", "document",
    "errors", "events", "expressionLang", "extensions", "keepActive", "key", "metadata", "name", "retries",
    "schemaVersion", "secrets", "specVersion", "startsAt", "States", "StartAt", "tasks", "version",
})  # fmt: skip
"""Top-level keys of definitions in other languages, never in this one."""
_VERSIONS: Final = frozenset(
    {"do", "document", "schemaVersion", "specVersion", "startsAt", "States", "StartAt", "tasks"}
)
"""The keys among them that identify another language, whatever the states are."""
_ONLY_OURS: Final = frozenset({
    "action", "consumeEvent", "error", "eventsAnd", "eventsXor", "generateEvent", "getter", "noop", "setter",
    "validate",
})  # fmt: skip
"""Types of states that only this language has: they identify it even beside keys of other languages."""
_NAMES: Final = NameKeys(
    defining={"states": Kind.STATE, "functions": Kind.FUNCTION},
    referring={"transition": Kind.STATE, "defaultTransition": Kind.STATE, "function": Kind.FUNCTION},
    at={("start", "state"): Kind.STATE},
)
"""The keys that have names as values, for editors."""


class Direktiv(LanguageBase):
    name = NAME
    title = "Direktiv"

    def recognises(self, root: Object) -> bool:
        """Return True if *root* has states with ids and without names, of types of this language."""
        states = root.get("states")
        if not isinstance(states, list) or _VERSIONS.intersection(root):
            return False
        if _OTHERS.intersection(root):
            return any(_is_ours(one) and one.get("type") in _ONLY_OURS for one in objects_in(states))
        return any(map(_is_ours, objects_in(states))) or any(
            one.get("type") in FUNCTION_TYPES for one in objects_in(root.get("functions"))
        )

    def read(self, root: Object, source: Source, fetch: Fetch = nothing) -> Checked:  # noqa: ARG002 - names no documents
        """Return the definition *root* with all its problems."""
        from swf_temporal.languages.direktiv.definition import DirektivDefinition
        from swf_temporal.languages.direktiv.validation import validate

        checked = self.read_pinned(root, source)
        if not isinstance(checked.definition, DirektivDefinition):
            return checked
        problems = sorted(validate(checked.definition.workflow, source), key=lambda one: _place(one.position))
        stops = any(problem.severity is Severity.ERROR for problem in problems)
        return Checked(None if stops else checked.definition, tuple(problems))

    def read_pinned(self, root: Object, source: Source) -> Checked:
        """Return the definition that a running instance carries, without validating it."""
        from swf_temporal.languages.direktiv.definition import DirektivDefinition
        from swf_temporal.languages.direktiv.reading import build

        workflow, problems = build(root, source)
        problems.sort(key=lambda one: _place(one.position))
        definition = None if workflow is None else DirektivDefinition(self, workflow, root, source)
        return Checked(definition, tuple(problems))

    def prepare(self, definition: Definition, semantics: int) -> "Program":
        from swf_temporal.languages.direktiv.definition import DirektivDefinition
        from swf_temporal.languages.direktiv.execution.execution import DirektivProgram

        assert isinstance(definition, DirektivDefinition)  # noqa: S101 - only called for its own definitions
        return DirektivProgram(definition.workflow, definition.id, semantics)

    def fill(self, given: "SecretTemplate", secrets: Mapping[str, JSON]) -> JSON:
        """Return arguments of a call with secrets filled in, which queries find under `secrets` in the data."""
        from swf_temporal.languages.direktiv.codes import fill

        return fill(given, secrets)

    def marks(self, root: Object) -> list[Mark]:
        """Return the names in a document."""
        return _NAMES.marks(root)

    def kind_of_names(self, key: str) -> Kind | None:
        """Return the kind of the names that *key* has as values."""
        return _NAMES.kind_of(key)

    def json_schema(self, title: str | None = None, version: str | None = None) -> dict[str, Any]:
        """Return the JSON Schema of definitions. Raises UsageError for a version: there is only one schema."""
        from swf_temporal.languages.direktiv.reading import json_schema

        return json_schema(title or self.title, version)


LANGUAGE: Final = Direktiv()


def _is_ours(state: Object) -> bool:
    if "name" in state or "id" not in state:
        return False
    type_ = state.get("type")
    return type_ in STATE_TYPES if isinstance(type_, str) else any(key in state for key in ("transform", "catch"))


def _place(position: Any) -> tuple[int, int]:
    return position.line, position.column
