"""The `Language` interface of DSL 1.0.

`recognises` is called for definitions of all languages, so model, rules and execution are imported where they are used.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from swf_temporal.base.calls import Auth
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Problem, Severity, UsageError
from swf_temporal.languages.base import LanguageBase
from swf_temporal.languages.dsl.names import NAME, TITLE
from swf_temporal.languages.marks import Kind, Mark, NameKeys
from swf_temporal.languages.port import Checked, Definition
from swf_temporal.text.located import Object
from swf_temporal.text.origin import Fetch, Source, nothing

if TYPE_CHECKING:
    from swf_temporal.runtime.host import SecretTemplate
    from swf_temporal.runtime.run import Program

_NAMES: Final = NameKeys(defining={}, referring={"then": Kind.STATE}, at={})
"""The keys that have names as values, for editors."""


class Dsl(LanguageBase):
    name = NAME
    title = TITLE

    def looks_like(self, text: str) -> bool:
        """Return True if *text*, which may be broken, has a `document` and a `do`."""
        return "document" in text and "do" in text and ("dsl" in text or "namespace" in text)

    def recognises(self, root: Object) -> bool:
        """Return True if *root* has a `document` or a `do`, and nothing that only other languages have."""
        if any(key in root for key in ("states", "specVersion", "schemaVersion", "apiVersion")):
            return False
        return isinstance(root.get("document"), dict) or ("do" in root and isinstance(root["do"], list))

    def read(self, root: Object, source: Source, fetch: Fetch = nothing) -> Checked:
        """Return the definition *root* with all its problems; the documents that it names are read by *fetch*."""
        from swf_temporal.languages.dsl.reading.resources import with_resources
        from swf_temporal.languages.dsl.validation.rules import validate

        source, problems = with_resources(root, source, fetch)
        checked = self.read_pinned(root, source)
        if checked.definition is None:
            return Checked(None, (*problems, *checked.problems))
        workflow = checked.definition.workflow  # type: ignore[attr-defined]  # it is ours
        problems = sorted([*problems, *validate(workflow, source)], key=_place)
        stops = any(problem.severity is Severity.ERROR for problem in problems)
        return Checked(None if stops else checked.definition, tuple(problems))

    def read_pinned(self, root: Object, source: Source) -> Checked:
        """Return the definition that a running instance carries, without validating it."""
        from swf_temporal.languages.dsl.definition import DslDefinition
        from swf_temporal.languages.dsl.reading.document import build

        workflow, problems = build(root, source)
        definition = None if workflow is None else DslDefinition(self, workflow, root, source)
        return Checked(definition, tuple(sorted(problems, key=_place)))

    def prepare(self, definition: Definition, semantics: int) -> "Program":
        from swf_temporal.languages.dsl.definition import DslDefinition
        from swf_temporal.languages.dsl.execution.execution import PreparedProgram

        assert isinstance(definition, DslDefinition)  # noqa: S101 - only called for its own definitions
        return PreparedProgram(definition.workflow, definition.written, semantics)

    def fill(self, given: "SecretTemplate", secrets: Mapping[str, JSON]) -> JSON:
        """Return arguments of a call with secrets filled in, which expressions find as `$secrets`."""
        from swf_temporal.languages.dsl.execution.requests import fill

        return fill(given, secrets)

    def fill_auth(self, auth: Auth, secrets: Mapping[str, JSON]) -> JSON:
        """Return the properties of credentials with secrets filled in."""
        from swf_temporal.languages.dsl.execution.requests import fill_auth

        return fill_auth(auth, secrets)

    def marks(self, root: Object) -> list[Mark]:
        """Return the names in a document."""
        return _NAMES.marks(root)

    def kind_of_names(self, key: str) -> Kind | None:
        """Return the kind of the names that *key* has as values."""
        return _NAMES.kind_of(key)

    def json_schema(self, title: str | None = None, version: str | None = None) -> dict[str, Any]:
        """Return the JSON Schema of definitions. Raises UsageError for a version: there is only one schema."""
        from swf_temporal.languages.dsl.model.workflow import Workflow

        if version is not None:
            raise UsageError(
                f"there is no schema of version {version!r} of {self.name}", "there is one, without a version"
            )
        schema = Workflow.model_json_schema(by_alias=True)
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": title or self.title}


LANGUAGE: Final = Dsl()


def _place(problem: Problem) -> tuple[int, int]:
    return problem.position.line, problem.position.column
