"""The Serverless Workflow language: 0.8, the text after it, earlier versions and drafts."""

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from swf_temporal.base.calls import Auth
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Problem, Severity, UsageError
from swf_temporal.expressions.compiled import EvaluationOutcome
from swf_temporal.expressions.evaluation import BadExpression, Expressions
from swf_temporal.languages.base import LanguageBase, Upgraded
from swf_temporal.languages.including import ForeignPosition, at_its_origin
from swf_temporal.languages.marks import Kind, Mark, NameKeys
from swf_temporal.languages.port import Checked, Definition, ShownExpression, WrittenIn
from swf_temporal.languages.serverless_workflow.definition import ServerlessWorkflowDefinition
from swf_temporal.languages.serverless_workflow.expressions import VARIABLES, expressions_of, fill, fill_auth
from swf_temporal.languages.serverless_workflow.model.workflow import LANGUAGE_NAME
from swf_temporal.languages.serverless_workflow.reading import versions
from swf_temporal.languages.serverless_workflow.reading.document import read_part, reader_of
from swf_temporal.languages.serverless_workflow.reading.versions.detection import Detected
from swf_temporal.languages.serverless_workflow.reading.versions.version import WordsOf
from swf_temporal.languages.serverless_workflow.validation.rules import validate
from swf_temporal.text.origin import Fetch, Object, Source, nothing

if TYPE_CHECKING:
    from swf_temporal.runtime.host import SecretTemplate
    from swf_temporal.runtime.run import Program

NAMES: Final = NameKeys(
    defining={
        "states": Kind.STATE, "tasks": Kind.STATE,
        "functions": Kind.FUNCTION,
        "events": Kind.EVENT, "triggerDefs": Kind.EVENT,
        "errors": Kind.ERROR, "retries": Kind.RETRY, "auth": Kind.AUTH,
    },
    referring={
        **dict.fromkeys(
            ("transition", "nextState", "nextTask", "next-state", "stateName", "startsAt", "compensatedBy",
             "runBefore"), Kind.STATE,
        ),
        **dict.fromkeys(("functionRef", "refName", "function"), Kind.FUNCTION),
        **dict.fromkeys(
            ("eventRef", "eventRefs", "triggerEventRef", "resultEventRef", "produceEventRef", "consumeEventRef"),
            Kind.EVENT,
        ),
        **dict.fromkeys(("errorRef", "errorRefs", "retryableErrors", "nonRetryableErrors"), Kind.ERROR),
        "retryRef": Kind.RETRY,
        "authRef": Kind.AUTH,
    },
    at={("start",): Kind.STATE},
)  # fmt: skip
_EXPRESSION: Final = re.compile(r"\$\{\s*(.*?)\s*\}(?=[\"']?\s*(?:[,}\]]|#|$))")


def expression_at(line: str, column: int) -> ShownExpression | None:
    """Return the expression in braces at *column* of *line*, if there is one."""
    for found in _EXPRESSION.finditer(line):
        if found.start() <= column <= found.end():
            return ShownExpression(found.start(), found.end(), partial(_yielded, found[1]))
    return None


def _yielded(text: str, data: JSON) -> EvaluationOutcome:
    return Expressions(variables=VARIABLES).expression(f"${{ {text} }}")(data, {})


_STARTS = re.compile(r"""["']?start["']?[ \t]*:[ \t\r\n]*\{?[ \t\r\n]*["']?kind["']?[ \t]*:""")
"""A start with a kind, which distinguishes definitions from other documents with tasks and the like."""
_VERSION = re.compile(r"""(?:^|[{,])[ \t\r\n]*["']?specVersion["']?[ \t]*:[ \t]*["']?v?0\.\d(?!\d)""", re.MULTILINE)
"""The key `specVersion` with a version that no other kind of document has there."""
_OF_ABSENCE = {
    "action-call", "empty-list", "event-definition", "function-operation", "num-completed", "run-before",
    "schedule", "switch-conditions",
}  # fmt: skip
"""The codes of problems about something missing."""


class ServerlessWorkflow(LanguageBase):
    """The `Language` interface of Serverless Workflow."""

    name = LANGUAGE_NAME
    title = "Serverless Workflow 0.8"

    def looks_like(self, text: str) -> bool:
        """Return True if *text* has states, or a version's word for them, or a version of the specification."""
        if _VERSION.search(text) or _list_under("states").search(text):
            return True
        return _STARTS.search(text) is not None and any(_list_under(key).search(text) for key in _states_keys())

    def recognises(self, root: Object) -> bool:
        """Return True if *root* has states, as every definition in this language does, under any version's word."""
        return "states" in root or any(isinstance(root.get(key), list) for key in _states_keys())

    def read(self, root: Object, source: Source, fetch: Fetch = nothing) -> Checked:
        """Return the definition *root* with all its problems."""
        reading = read_part(root, source, fetch)
        workflow, problems = reading.workflow, list(reading.problems)
        expressions: Expressions | None = None
        if workflow is not None:
            with suppress(BadExpression):  # a rule reports a language that is not supported
                expressions = expressions_of(workflow)
        written = None if reading.detected is None else reading.detected.version
        reader = None if written is None else reader_of(written)
        if reader is not None:
            problems += [] if reading.draft is None else reader.validate(reading, expressions)
        elif workflow is not None:
            found = validate(workflow, expressions)
            problems += _of_valid_parts(found) if _stops(problems) else found
        if _stops(problems):
            workflow = None
        if workflow is not None and reading.bundled is not None:
            # The definition that a run carries must not depend on other documents.
            workflow = workflow.model_copy(update={"source": Source(reading.bundled, source.name)})
        own_words = WordsOf(written)
        reported = [own_words.problem_in_own_words(at_its_origin(one)) for one in problems if not _is_about_others(one)]
        definition = None if workflow is None else ServerlessWorkflowDefinition(self, workflow, expressions)
        found_in = _written_in(reading.detected)
        return Checked(definition, tuple(sorted(reported, key=partial(_order, source.name))), found_in)

    def read_pinned(self, root: Object, source: Source) -> Checked:
        """Return the definition that a running instance carries, without validating it."""
        reading = read_part(root, source)
        definition = None if reading.workflow is None else ServerlessWorkflowDefinition(self, reading.workflow)
        return Checked(definition, reading.problems, _written_in(reading.detected))

    def prepare(self, definition: Definition, semantics: int) -> "Program":
        from swf_temporal.languages.serverless_workflow.execution.execution import PreparedProgram

        assert isinstance(definition, ServerlessWorkflowDefinition)  # noqa: S101 - only called for its own definitions
        return PreparedProgram(definition.workflow, semantics, definition.expressions)

    def fill(self, given: "SecretTemplate", secrets: Mapping[str, JSON]) -> JSON:
        """Return arguments of a call with `$SECRETS` filled in."""
        return fill(given, secrets)

    def fill_auth(self, auth: Auth, secrets: Mapping[str, JSON]) -> JSON:
        """Return the properties of an auth definition with `$SECRETS` filled in."""
        return fill_auth(auth, secrets)

    def marks(self, root: Object) -> list[Mark]:
        """Return the names in a document."""
        return NAMES.marks(root)

    def kind_of_names(self, key: str) -> Kind | None:
        """Return the kind of the names that *key* has as values."""
        return NAMES.kind_of(key)

    def expression_at(self, line: str, column: int) -> ShownExpression | None:
        """Return the expression in braces at a position."""
        return expression_at(line, column)

    def json_schema(self, title: str | None = None, version: str | None = None) -> dict[str, Any]:
        """Return the JSON Schema of definitions of *version*, by default 0.8 and its successor."""
        meant = versions.PRESENT if version is None else versions.named(version)
        if meant is None:
            known = ", ".join(name for one in versions.VERSIONS for name in (one.name, *one.also_named))
            raise UsageError(f"there is no schema of version {version!r} of {self.name}", f"there is one for {known}")
        reader = reader_of(meant)
        if reader is not None:
            return reader.json_schema(title)
        from swf_temporal.languages.serverless_workflow.reading.schema import json_schema

        return json_schema(meant, title)

    def upgrade(
        self, source: Source, to: str | None = None, namespace: str | None = None, fetch: Fetch = nothing
    ) -> Upgraded:
        """Return the definition in *source*, rewritten in the version *to*, by default 0.8; 1.0 has namespaces."""
        from swf_temporal.languages.serverless_workflow.upgrading.upgrade import upgrade

        return upgrade(source, to or versions.PRESENT.name, partial(self.read, fetch=fetch), namespace, fetch)

    def migrate(
        self,
        source: Source,
        properties: Mapping[str, str],
        fetch: Fetch = nothing,
        *,
        keeps_effects: bool = False,
        application: str = "",
    ) -> Upgraded:
        """Rewrite the definition in *source*, which SonataFlow ran with *properties*, to mean the same here."""
        from swf_temporal.languages.serverless_workflow.upgrading.sonataflow.migrate import migrate

        return migrate(source, properties, fetch, keeps_effects=keeps_effects, application=application)


LANGUAGE: Final = ServerlessWorkflow()


def _states_keys() -> set[str]:
    return {version.states_key for version in versions.VERSIONS}


@cache
def _list_under(key: str) -> re.Pattern[str]:
    return re.compile(rf"""(?:^|[{{,])[ \t\r\n]*["']?{key}["']?[ \t]*:[ \t]*(?:\[|#|\r?$)""", re.MULTILINE)


def _written_in(detected: Detected | None) -> WrittenIn | None:
    """Return the version of a document and its evidence, unless it is the default version."""
    if detected is None or detected.version in (None, versions.PRESENT) or detected.evidence is None:
        return None
    return WrittenIn(detected.title, detected.version.name, detected.evidence.key, detected.evidence.position)


def _stops(problems: list[Problem]) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)


def _is_about_others(problem: Problem) -> bool:
    """Return True if an included document defines more than this definition uses: it may serve others, too."""
    return problem.code == "unused-definition" and isinstance(problem.position, ForeignPosition)


def _order(name: str, problem: Problem) -> tuple[bool, str, int, int, str]:
    """Return a sort key for *problem*: those of the text called *name* first, then file by file."""
    place = problem.position
    return problem.file != name, problem.file, place.line, place.column, problem.code


def _of_valid_parts(found: list[Problem]) -> list[Problem]:
    """Return the problems that cannot be caused by the removal of malformed parts."""
    kept = [one for one in found if one.severity is Severity.ERROR or one.code == "unknown-property"]
    return [one for one in kept if one.code not in _OF_ABSENCE]
