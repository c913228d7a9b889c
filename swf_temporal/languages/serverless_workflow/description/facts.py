"""The facts of a workflow: what it needs, and what it does."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from swf_temporal.errors import UnknownDefinition
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Addresses
from swf_temporal.languages.serverless_workflow.definition import ServerlessWorkflowDefinition
from swf_temporal.languages.serverless_workflow.description.compact import Facts, compact, written
from swf_temporal.languages.serverless_workflow.description.retries import facts_of_retries
from swf_temporal.languages.serverless_workflow.description.schedules import facts_of_schedule
from swf_temporal.languages.serverless_workflow.description.states import facts_of_state
from swf_temporal.languages.serverless_workflow.execution.functions import function_of, priority_of
from swf_temporal.languages.serverless_workflow.model.actions import FunctionRef, SubflowRef
from swf_temporal.languages.serverless_workflow.model.by_kind import NodesByKind
from swf_temporal.languages.serverless_workflow.model.definitions import Correlation
from swf_temporal.languages.serverless_workflow.model.states import ContinueAs
from swf_temporal.languages.serverless_workflow.model.workflow import DataSchema, Workflow
from swf_temporal.languages.serverless_workflow.validation.event_uses import event_uses
from swf_temporal.languages.serverless_workflow.validation.walk import nodes_of


def facts_of(
    definition: ServerlessWorkflowDefinition, catalogue: Catalogue, now: datetime, addresses: Addresses
) -> Facts:
    """Return all that can be told of *definition* without running it, as JSON.

    Sub-workflows are those in *catalogue*, and times of a schedule come after *now*. *addresses* tells where
    functions lead. What a workflow does not have is
    left out, but lists of what every reader asks for are there and empty.
    """
    workflow = definition.workflow
    nodes, schedule = nodes_of(workflow), workflow.start.schedule
    leads = addresses(use.function for use in definition.functions)
    return {
        **compact(id=workflow.id, key=workflow.key, name=workflow.name, version=workflow.version),
        **compact(description=workflow.description, annotations=workflow.annotations, keep_active=workflow.keep_active),
        "dialect": workflow.language_version.name,
        "stateWord": workflow.language_version.state_word,
        "file": workflow.source.name,
        "start": workflow.start_state,
        **compact(active=workflow.start.window),
        **compact(schedule=schedule and facts_of_schedule(schedule, now)),
        "states": [facts_of_state(state) for state in workflow.states],
        "functions": _functions(workflow, nodes, leads),
        "events": _events(workflow, nodes),
        "errors": [compact(name=one.name, code=one.code, description=one.description) for one in workflow.errors],
        "retries": facts_of_retries(workflow),
        "secrets": list(workflow.secrets),
        "auth": [{"name": one.name, "scheme": one.scheme} for one in workflow.auth],
        "constants": list(workflow.constants),
        "subWorkflows": _others(nodes, SubflowRef, catalogue),
        "continuations": _others(nodes, ContinueAs, catalogue),
        **compact(timeouts=_timeouts(workflow), data_schemas=_schemas(workflow)),
        **compact(extensions=workflow.extensions, metadata=workflow.metadata),
        **compact(elsewhere={kind: external.uri for kind, external in workflow.externals.items()}),
    }


def _functions(workflow: Workflow, nodes: NodesByKind, addresses: Mapping[str, dict[str, Any]]) -> list[Facts]:
    uses = list(nodes.each(FunctionRef))
    return [
        {
            "name": one.name,
            "type": one.type,
            "operation": one.operation,
            **addresses.get(one.name, {}),
            **compact(auth=written(one.auth_ref), priority=priority_of(function_of(one))),
            "calledBy": _once(owner for ref, owner in uses if ref.ref_name == one.name),
        }
        for one in workflow.functions
    ]


def _events(workflow: Workflow, nodes: NodesByKind) -> list[Facts]:
    uses = list(event_uses(nodes))
    return [
        {
            "name": one.name,
            "kind": one.kind,
            **compact(type=one.type, source=one.source, correlation=[_rule(each) for each in one.correlation]),
            "consumedBy": _once(use.owner for use in uses if (use.name, use.kind) == (one.name, "consumed")),
            "producedBy": _once(use.owner for use in uses if (use.name, use.kind) == (one.name, "produced")),
        }
        for one in workflow.events
    ]


def _rule(rule: Correlation) -> Facts:
    facts = written(rule)
    return facts if rule.path is None else {**compact(path=facts.pop("@path")), **facts}


def _others(nodes: NodesByKind, kind: type[SubflowRef] | type[ContinueAs], catalogue: Catalogue) -> list[Facts]:
    """Return the other workflows that references of *kind* lead to, and whether they were found."""
    found: dict[tuple[str, str | None], Facts] = {}
    for ref, owner in nodes.each(kind):
        key = (ref.workflow_id, ref.version)
        if key not in found:
            found[key] = {**compact(id=ref.workflow_id, version=ref.version), **_where(*key, catalogue), "runBy": []}
        found[key]["runBy"] = _once([*found[key]["runBy"], owner])
    return list(found.values())


def _where(workflow_id: str, version: str | None, catalogue: Catalogue) -> Facts:
    try:
        return {"found": True, "file": catalogue.find(workflow_id, version).source.name}
    except UnknownDefinition:
        return {"found": False}


def _timeouts(workflow: Workflow) -> Facts:
    whole = workflow.timeouts.workflow_exec_timeout
    others = workflow.timeouts.model_copy(update={"workflow_exec_timeout": None})
    return {**compact(workflow_exec_timeout=written(whole)), **written(others)}


def _schemas(workflow: Workflow) -> Facts:
    def facts(schema: DataSchema | None) -> Facts | None:
        return (
            None
            if schema is None
            else {"schema": schema.schema_, "failOnValidationErrors": schema.fail_on_validation_errors}
        )

    return compact(input=facts(workflow.data_input_schema), output=facts(workflow.data_output_schema))


def _once(owners: Iterable[str]) -> list[str]:
    """Return *owners* in their order, each once."""
    return list(dict.fromkeys(owners))
