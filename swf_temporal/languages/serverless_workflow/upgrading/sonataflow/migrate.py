"""Rewriting a definition that was written for SonataFlow.

Its credentials for the security schemes of a document are properties, too: here a secret for each service and scheme.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from swf_temporal.base.errors import InvalidDefinition, Position, Problem, Severity
from swf_temporal.base.importing import module_named
from swf_temporal.expressions.evaluation import BadExpression, Expressions
from swf_temporal.languages.base import UpgradeChange, Upgraded
from swf_temporal.languages.serverless_workflow.reading import versions
from swf_temporal.languages.serverless_workflow.reading.versions.detection import detect
from swf_temporal.languages.serverless_workflow.upgrading import tolerated
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow import effects, expressions, functions, tokens
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow.constants import Constants
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow.expressions import expressions_of
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow.functions import called_by
from swf_temporal.languages.serverless_workflow.upgrading.trees import (
    Tree,
    UpgradeReport,
    actions,
    called,
    children,
    free_name,
    function_of,
    name_of,
    states,
)
from swf_temporal.languages.serverless_workflow.upgrading.upgrade import place, say_version
from swf_temporal.text.origin import Fetch, Source, UnreadableText, nothing
from swf_temporal.text.parsing import read_object
from swf_temporal.text.properties import client_of, credentials_in, strategy_of
from swf_temporal.text.round_trip import add, round_trip

_PATH: Final = re.compile(r"(?:\$\{\s*)?((?:\.\w+)+)\s*\}?")
_SCALARS: Final = frozenset({"boolean", "number", "string", "null"})


def report_results(root: Tree, report: UpgradeReport) -> None:
    """Report paths of results at which an array or a scalar is injected that SonataFlow merges differently."""
    injected = [(called(state), state.get("data")) for state in states(root) if state.get("type") == "inject"]
    expressions = expressions_of(root)
    operations = {name_of(one): one for one in children(root, "functions")}
    for state, action in actions(root):
        for given, path in _targets(action):
            result = given.get("results", _operation(action, operations))
            for who, data in injected:
                present = _at(data, path.split(".")[1:])
                if isinstance(present, list):
                    kept = "replaces an array by another"
                elif present is not None and not isinstance(present, dict) and not _is_scalar(result, expressions):
                    kept = "keeps a scalar in an array or beside an object"
                else:
                    continue
                message = f"{called(state)}: a result goes to {path!r}, where {who} injects; SonataFlow {kept}"
                report.differs(message, "use a different name", action)


def _targets(action: Tree) -> Iterator[tuple[Tree, str]]:
    for given in children(action, "actionDataFilter"):
        path = _PATH.fullmatch(str(given.get("toStateData")).strip())
        if path is not None and given.get("useResults") is not False:
            yield given, path[1]


def _at(data: Any, keys: list[str]) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _operation(action: Tree, functions: dict[Any, Tree]) -> Any:
    """Return the expression of the expression function that *action* calls."""
    function = functions.get(function_of(action), {})
    return function.get("operation") if function.get("type") == "expression" else None


def _is_scalar(expression: Any, expressions: Expressions) -> bool:
    if not isinstance(expression, str):
        return False
    try:
        return expressions.expression(expression).kinds <= _SCALARS
    except BadExpression:
        return False


KIND: Final = "SonataFlow"
_ANNOTATIONS: Final = {
    "sonataflow.org/version": "version",
    "sonataflow.org/description": "description",
    "sonataflow.org/expressionLang": "expressionLang",
}


def is_resource(root: Any) -> bool:
    """Return True if *root* is a SonataFlow resource with a definition in it."""
    return isinstance(root, dict) and root.get("kind") == KIND and isinstance(flow_of(root), dict)


def flow_of(root: Tree) -> Any:
    """Return the value of `spec.flow`."""
    spec = root.get("spec")
    return spec.get("flow") if isinstance(spec, dict) else None


def unwrapped(root: Tree, report: UpgradeReport) -> Tree:
    """Return the definition in the resource *root*, with the id, version and description of the resource."""
    flow: Tree = flow_of(root)
    metadata = root.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    annotations = metadata.get("annotations")
    annotations = annotations if isinstance(annotations, dict) else {}
    said = {key: annotations[name] for name, key in _ANNOTATIONS.items() if name in annotations and key not in flow}
    for key, value in reversed(said.items()):
        add(flow, key, value)
    if "id" not in flow and isinstance(metadata.get("name"), str):
        add(flow, "id", metadata["name"])
    report.reshaped(f"the definition is extracted from the resource of kind {KIND}")
    return flow


_USED: Final = re.compile(r"\$SECRETS(?:\.(\w+)|\.?\[\"([^\"]+)\"\]|\.\"([^\"]+)\")")


def declare(root: Tree, report: UpgradeReport, properties: Mapping[str, str], application: str = "") -> None:
    """Declare the secrets that *root*, whose expressions are marked, uses in arguments, and those of its services."""
    declared = root.get("secrets")
    names = [one for one in declared if isinstance(one, str)] if isinstance(declared, list) else []
    wanted: dict[str, None] = {}
    for _, action in actions(root):
        for reference in children(action, "functionRef"):
            wanted.update(dict.fromkeys(_names(reference.get("arguments"))))
    for auth in children(root, "auth"):
        wanted.update(dict.fromkeys(_names(auth.get("properties"))))
    strategy = strategy_of(properties)
    for function in children(root, "functions"):
        client = client_of(called_by(function), strategy, application)
        wanted.update({} if client is None else credentials_in(properties, client))
    missing = [name for name in wanted if name not in names]
    if missing and not isinstance(declared, str):
        if isinstance(declared, list):
            declared.extend(missing)
        else:
            add(root, "secrets", missing, "id")
        report.reshaped(f"secrets are declared: {', '.join(missing)}")


def _names(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [name for item in value.values() for name in _names(item)]
    if isinstance(value, list):
        return [name for item in value for name in _names(item)]
    return [next(filter(None, found)) for found in _USED.findall(value)] if isinstance(value, str) else []


_TRUTHS: Final = {"true": True, "false": False}
_KEYS: Final = frozenset({
    "compensate", "dataOnly", "exclusive", "failOnValidationErrors", "interrupt", "keepActive", "terminate", "useData",
    "useResults", "usedForCompensation",
})  # fmt: skip
_FREE: Final = frozenset({"data", "arguments", "metadata", "constants", "dataInputSchema", "dataOutputSchema"})
"""Keys with free-form values."""


_UNITS: Final = re.compile(r"(?=\d)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?")
"""A duration in units, such as `1m30s`, which timers accept besides ISO 8601."""
_CONSTANT: Final = re.compile(r"\$CONST\.(\w+)")


def upgrade(root: Tree, report: UpgradeReport) -> None:
    """Rewrite *root* in the form that was meant."""
    _truths(root, report)
    for function in children(root, "functions"):
        for metadata in children(function, "metadata"):
            _truth(metadata, "failOnStatusCode", report)
    _constants(root, report)
    _times(root, report)
    for state in states(root):
        if state.get("type") == "operation":
            _without_actions(state, called(state), report)
        if state.get("type") == "parallel":
            _branches(state, report)
    for event in children(root, "events"):
        if event.get("source") == "":
            del event["source"]
            report.reshaped(f"event {event.get('name')!r}: an empty source is left out", event)


def _truths(node: Any, report: UpgradeReport) -> None:
    if isinstance(node, list):
        for item in node:
            _truths(item, report)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in _KEYS:
                _truth(node, key, report)
            elif key not in _FREE:
                _truths(value, report)


def _truth(node: Tree, key: str, report: UpgradeReport) -> None:
    value = node.get(key)
    if isinstance(value, str) and value in _TRUTHS:
        node[key] = _TRUTHS[value]
        report.respelled(f"{key} is a boolean, not the text {value!r}", node)


def _times(root: Tree, report: UpgradeReport) -> None:
    for state in states(root):
        _time(state, "duration", called(state), report)
    for state, action in actions(root):
        for sleep in children(action, "sleep"):
            for key in ("before", "after"):
                _time(sleep, key, called(state), report)


def _time(node: Tree, key: str, who: str, report: UpgradeReport) -> None:
    value = node.get(key)
    found = _UNITS.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return
    days, hours, minutes, seconds, milliseconds = (int(one or 0) for one in found.groups())
    exact = f"{seconds + milliseconds / 1000:g}"
    parts = [f"{one}{unit}" for one, unit in ((hours, "H"), (minutes, "M"), (exact, "S")) if one not in (0, "0")]
    text = f"P{f'{days}D' if days else ''}{'T' if parts else ''}{''.join(parts)}"
    node[key] = text if text != "P" else "PT0S"
    report.reshaped(f"{who}: {key} {value!r} is {node[key]!r}", node)


def _without_actions(node: Tree, who: str, report: UpgradeReport) -> None:
    """Add an empty list of actions to a state or a branch without actions."""
    if node.get("actions") is not None:
        return
    if "actions" in node:
        node["actions"] = []
    else:
        add(node, "actions", [], "type" if "type" in node else "name")
    report.reshaped(f"{who}: actions is an empty list", node)


def _branches(state: Tree, report: UpgradeReport) -> None:
    branches = list(children(state, "branches"))
    taken = {name_of(one) for one in branches}
    for number, branch in enumerate(branches, 1):
        if "name" not in branch:
            name = free_name(f"branch {number}", taken)
            taken.add(name)
            add(branch, "name", name)
            report.reshaped(f"{called(state)}: a branch is called {name!r}", branch)
        _without_actions(branch, f"{called(state)}, branch {branch['name']!r}", report)


def _constants(root: Tree, report: UpgradeReport) -> None:
    """Define undefined constants that are used as null."""
    constants = root.get("constants", {})
    if not isinstance(constants, dict):
        return
    used = dict.fromkeys(name for key in root if key not in _FREE for name in _named(root[key]))
    for name in used:
        if name not in constants:
            if "constants" not in root:
                add(root, "constants", constants, "id")
            root["constants"][name] = None
            report.reshaped(f"the constant {name!r}, which is not defined, is null", root["constants"])


def _named(value: Any) -> list[str]:
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return [name for part in parts for name in _named(part)]
    return _CONSTANT.findall(value) if isinstance(value, str) else []


_BEFORE = (upgrade, functions.extensions, functions.scripts, functions.registered)
_AFTER = (effects.report_differences, report_results)


def migrate(
    source: Source,
    properties: Mapping[str, str],
    fetch: Fetch = nothing,
    *,
    keeps_effects: bool = False,
    application: str = "",
) -> Upgraded:
    """Rewrite the definition in *source*, which SonataFlow ran with *properties*, to mean the same here.

    *fetch* returns the documents that it names.

    Parts with another effect here are reported or, with *keeps_effects*, keep their effect: the text then states that
    it is in the mode of SonataFlow. With *application*, the names of services begin with it. Raises InvalidDefinition
    if *source* is not a definition.
    """
    try:
        located, _ = read_object(source)
    except UnreadableText as unreadable:
        raise InvalidDefinition(unreadable.problems) from None
    is_in_resource = is_resource(located)
    written = None if is_in_resource else detect(located).version
    if written is not None and written.reader is not None:
        # A draft has its own words and its own effects, which nothing here is about.
        message = f"this is {written.title}, and is left as it is"
        left = UpgradeChange("differs", message, 1, "`swf upgrade` rewrites it as 0.8")
        return Upgraded(source.text, written.name, (left,))
    document, report = round_trip(source), UpgradeReport()
    if is_in_resource:
        place(located, document.root, report)
        document.root, located = unwrapped(document.root, report), flow_of(located)
    place(located, document.root, report)
    constants = Constants(document.root, report, properties)
    for module in (tolerated.__name__,) if written is None else written.upgraders:
        module_named(module).upgrade(document.root, report)
    for step in _BEFORE:
        step(document.root, report)
    to_write = tuple(functions.to_write(document.root))
    functions.operations(document.root, report)
    functions.clients(document.root, report, properties, application)
    expressions.mark(document.root, report, constants, keeps_effects=keeps_effects)
    issued = tokens.authenticate(document.root, report, properties, fetch, application)
    declare(document.root, report, properties, application)
    for step in _AFTER:
        step(document.root, report)
    if keeps_effects:
        functions.share_variables(document.root, report)
    version = versions.v0_8.SONATAFLOW if keeps_effects else versions.PRESENT
    say_version(document.root, report, version.number)
    is_rewritten = any(change.kind in ("respelled", "changed") for change in report.changes)
    text = document.written() if is_rewritten else source.text
    return Upgraded(
        text,
        version.name,
        tuple(report.changes),
        to_write,
        (*constants.properties, *issued.properties),
        {**constants.secrets, **issued.secrets},
        problems=tuple(_warnings(source, report)) if keeps_effects else (),
    )


def _warnings(source: Source, report: UpgradeReport) -> Iterator[Problem]:
    """Yield a warning of each part that SonataFlow refuses."""
    for one in report.changes:
        if one.kind == "refused":
            place = Position(one.line or 1, 1)
            yield source.problem("sonataflow-refuses", one.message, place, one.hint, Severity.WARNING)
