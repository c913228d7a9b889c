"""The `Language` interface of DSL 1.0.

`recognises` is called for definitions of all languages, so model, rules and execution are imported where they are used.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from swf_temporal.base.calls import Auth
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Problem, Severity, UsageError, WorkflowFault
from swf_temporal.languages.base import LanguageBase
from swf_temporal.languages.dsl.names import DIRECTIVES, NAME, TITLE, is_zigflow
from swf_temporal.languages.including import at_its_origin
from swf_temporal.languages.marks import Kind, Mark, in_order, referred
from swf_temporal.languages.port import Checked, Definition, ShownExpression
from swf_temporal.text.origin import Fetch, Object, Source, nothing, objects_in, written

if TYPE_CHECKING:
    from swf_temporal.expressions.compiled import EvaluationOutcome
    from swf_temporal.runtime.host import SecretTemplate
    from swf_temporal.runtime.run import Program

_OTHERS: Final = frozenset({"apiVersion", "schemaVersion", "specVersion", "StartAt", "States", "states", "tasks"})
"""Top-level keys of definitions in other languages."""
_DOCUMENT: Final = frozenset({"dsl", "namespace", "name", "version"})
_KINDS: Final = {"then": Kind.STATE, "call": Kind.FUNCTION, "error": Kind.ERROR, "retry": Kind.RETRY, "use": Kind.AUTH}
"""The keys that have names as values, for editors."""
_LOOKS: Final = tuple(
    re.compile(rf"""(?:^|[{{,])[ \t\r\n]*["']?(?:{key})["']?[ \t]*:{value}""", re.MULTILINE)
    for key, value in (("document", ""), ("dsl|namespace", ""), ("do", r"[ \t]*(?:\[|#|\r?$)"))
)
"""The sign that a text is a definition: a `document` that identifies it, and a list of tasks."""
_EXPRESSION: Final = re.compile(r"(?P<whole>\$\{\s*(?P<jq>.*?)\s*\})(?=[\"']?\s*(?:[,}\]]|#|$))")
_VARIABLE: Final = re.compile(r"\$([A-Za-z_]\w*)")


class Dsl(LanguageBase):
    name = NAME
    title = TITLE

    def looks_like(self, text: str) -> bool:
        """Return True if *text*, which may be broken, has a `document` with a version of the language, and a `do`."""
        return "document" in text and all(pattern.search(text) is not None for pattern in _LOOKS)

    def recognises(self, root: Object) -> bool:
        """Return True if *root* describes itself in a `document`, or has a `do` and nothing of other languages."""
        document = root.get("document")
        if isinstance(document, dict) and ("dsl" in document or ("do" in root and _DOCUMENT.intersection(document))):
            return True
        return ("document" in root or "do" in root) and not _OTHERS.intersection(root)

    def read(self, root: Object, source: Source, fetch: Fetch = nothing) -> Checked:
        """Return the definition *root* with all its problems; the documents that it names are read by *fetch*."""
        from swf_temporal.languages.dsl.definition import DslDefinition
        from swf_temporal.languages.dsl.model.workflow import Workflow
        from swf_temporal.languages.dsl.reading.document import build
        from swf_temporal.languages.dsl.reading.resources import with_resources
        from swf_temporal.languages.dsl.validation import validate

        if is_zigflow(root):
            return self._read_zigflow(root, source, checks=True)
        included = with_resources(root, source, fetch)
        workflow, refused = build(root, source, Workflow)
        problems = [*included.problems, *refused]
        definition = None
        if workflow is not None:
            # The definition that a run carries must not depend on other documents.
            definition = DslDefinition(self, workflow, root, included.source)
            problems += validate(workflow, source, included.missing)
        stops = any(problem.severity is Severity.ERROR for problem in problems)
        reported = sorted(map(at_its_origin, problems), key=partial(_order, source.name))
        return Checked(None if stops else definition, tuple(reported))

    def read_pinned(self, root: Object, source: Source) -> Checked:
        """Return the definition that a running instance carries, without validating it."""
        from swf_temporal.languages.dsl.definition import DslDefinition
        from swf_temporal.languages.dsl.model.workflow import Workflow
        from swf_temporal.languages.dsl.reading.document import build

        if is_zigflow(root):
            return self._read_zigflow(root, source, checks=False)
        workflow, problems = build(root, source, Workflow)
        definition = None if workflow is None else DslDefinition(self, workflow, root, source)
        return Checked(definition, tuple(sorted(problems, key=partial(_order, source.name))))

    def _read_zigflow(self, root: Object, source: Source, *, checks: bool) -> Checked:
        """Return the workflow of a zigflow document, or the first of them; the others are its `others`."""
        from swf_temporal.languages.dsl.definition import ZigflowDefinition
        from swf_temporal.languages.dsl.model.zigflow import ZigflowWorkflow
        from swf_temporal.languages.dsl.reading.document import build
        from swf_temporal.languages.dsl.reading.zigflow import in_dsl, workflows_in
        from swf_temporal.languages.dsl.validation.zigflow import validate_zigflow

        alone, problems, definitions = workflows_in(root), list[Problem](), list[ZigflowDefinition]()
        for one in alone:
            translated, refused = in_dsl(one, source)
            workflow, wrong = build(translated, source, ZigflowWorkflow)
            problems += [*refused, *wrong]
            if workflow is not None:
                problems += validate_zigflow(workflow, source) if checks else ()
                own = source if len(alone) == 1 else Source(written(one), source.name)
                definitions.append(ZigflowDefinition(self, workflow, translated, own))
        if not checks:
            return Checked(definitions[0] if definitions else None, () if definitions else tuple(problems))
        stops = any(problem.severity is Severity.ERROR for problem in problems) or not definitions
        if not stops:
            definitions[0].others = tuple(definitions[1:])
        told = sorted(dict.fromkeys(problems), key=partial(_order, source.name))
        return Checked(None if stops else definitions[0], tuple(told))

    def prepare(self, definition: Definition, semantics: int) -> "Program":
        from swf_temporal.languages.dsl.definition import DslDefinition, ZigflowDefinition
        from swf_temporal.languages.dsl.execution.execution import PreparedProgram
        from swf_temporal.languages.dsl.execution.zigflow import ZigflowProgram

        if isinstance(definition, ZigflowDefinition):
            return ZigflowProgram(definition.workflow, definition.written, semantics)
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

    def holds(self, condition: JSON, fault: WorkflowFault) -> bool:
        """Return whether a call of a zigflow document that failed with *fault* is made again."""
        from swf_temporal.languages.dsl.execution.zigflow_tasks import OF_STATUS, is_tried_again

        return condition == OF_STATUS and is_tried_again(fault)

    def marks(self, root: Object) -> list[Mark]:
        """Return the names in a document."""
        return in_order(iter([*_defined(root), *_referred(root)]))

    def kind_of_names(self, key: str) -> Kind | None:
        """Return the kind of the names that *key* has as values."""
        return _KINDS.get(key)

    def standard_names(self, kind: Kind) -> Sequence[str]:
        """Return the flow directives beside tasks, and the types of calls beside functions."""
        from swf_temporal.languages.dsl.model.workflow import BUILT_IN

        return {Kind.STATE: DIRECTIVES, Kind.FUNCTION: sorted(BUILT_IN)}.get(kind, ())

    def expression_at(self, line: str, column: int) -> ShownExpression | None:
        """Return the expression at *column* of *line*, in braces or as the whole value of a key, if there is one."""
        from swf_temporal.languages.dsl.expressions import BARE

        for found in (*_EXPRESSION.finditer(line), *BARE.finditer(line)):
            if found.start() <= column <= found.end():
                return ShownExpression(*found.span("whole"), partial(_yielded, found["jq"]))
        return None

    def json_schema(self, title: str | None = None, version: str | None = None) -> dict[str, Any]:
        """Return the JSON Schema of definitions. Raises UsageError for a version: there is only one schema."""
        from swf_temporal.languages.dsl.reading.document import json_schema

        if version is not None:
            hint = "there is one, without a version"
            raise UsageError(f"there is no schema of version {version!r} of {self.name}", hint)
        return json_schema(title or self.title)


LANGUAGE: Final = Dsl()


def _defined(root: Object) -> Iterator[Mark]:
    """Yield the names of tasks and components where they are defined."""
    from swf_temporal.languages.dsl.names import object_at, written_tasks

    for one in written_tasks(root):
        kind = Kind.FUNCTION if one.is_function else Kind.STATE
        yield Mark(kind, one.name, one.holder.where.key(one.name), defines=True)
    for key, kind in (("errors", Kind.ERROR), ("retries", Kind.RETRY), ("authentications", Kind.AUTH)):
        holder = object_at(root, "use", key)
        for name in holder or ():
            assert holder is not None  # noqa: S101 - it has names
            yield Mark(kind, name, holder.where.key(name), defines=True)


def _referred(root: Object) -> Iterator[Mark]:
    """Yield the names that tasks refer to."""
    from swf_temporal.languages.dsl.model.workflow import BUILT_IN
    from swf_temporal.languages.dsl.names import object_at, written_tasks

    for _, _, task, _ in written_tasks(root):
        if task.get("call") not in BUILT_IN:
            yield from referred(Kind.FUNCTION, task, "call") if "call" in task else ()
        cases = [case for one in objects_in(task.get("switch")) for case in objects_in(list(one.values()))]
        catch = object_at(task, "catch")
        for holder in (task, *cases, *([] if catch is None else [catch])):
            if holder.get("then") not in (*DIRECTIVES, None):
                yield from referred(Kind.STATE, holder, "then")
        for holder_or_none, key, kind in (
            (object_at(task, "raise"), "error", Kind.ERROR),
            (catch, "retry", Kind.RETRY),
        ):
            if holder_or_none is not None and key in holder_or_none:
                yield from referred(kind, holder_or_none, key)
        for policy in _policies(task.get("with")):
            yield from referred(Kind.AUTH, policy, "use")


def _policies(value: Any) -> Iterator[Object]:
    """Yield the authentication policies in the arguments of a call that name others."""
    for key, item in value.items() if isinstance(value, Object) else ():
        if key == "authentication" and isinstance(item, Object) and "use" in item:
            yield item
        elif key not in ("body", "parameters", "arguments", "message"):
            yield from _policies(item)


def _yielded(text: str, data: JSON) -> "EvaluationOutcome":
    from swf_temporal.languages.dsl.expressions import RuntimeExpressions

    return RuntimeExpressions(_VARIABLE.findall(text)).expression(f"${{ {text} }}")(data, {})


def _order(name: str, problem: Problem) -> tuple[bool, str, int, int, str]:
    """Return a sort key for *problem*: those of the text called *name* first, then file by file."""
    place = problem.position
    return problem.file != name, problem.file, place.line, place.column, problem.code
