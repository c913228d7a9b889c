"""The rules, in the order of the specification's chapters. A rule takes a Context and yields problems."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from swf_temporal.base.errors import Problem
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.languages.serverless_workflow.validation.rules import (
    auth_schemes,
    callbacks_correlated,
    compensation,
    concurrency,
    conditions_decide,
    continuations,
    counts,
    custom_operations,
    data_schema,
    definitions_used,
    durations,
    event_definitions,
    event_kinds,
    events_start_others,
    expression_language,
    expressions_compile,
    extensions,
    fields_set,
    function_metadata,
    function_operations,
    identity,
    inject_data,
    input_collections,
    names_fit,
    names_free,
    names_unique,
    not_empty,
    one_call,
    operation_forms,
    output_collections,
    properties_known,
    references_defined,
    references_unique,
    repeats,
    results_polled,
    retried_errors,
    retry_values,
    run_before,
    schedules,
    search_attributes,
    secrets_for_functions,
    selection_sets,
    spec_version,
    states_reachable,
    switch_conditions,
    targets_exist,
    texts_meant,
    variables_known,
    ways_out,
)

Rule: TypeAlias = Callable[[Context], Iterator[Problem]]

RULES: tuple[Rule, ...] = (
    # Workflow Definition Structure
    identity.check,
    spec_version.check,
    properties_known.check,
    names_unique.check,
    names_fit.check,
    not_empty.check,
    data_schema.check,
    extensions.check,
    definitions_used.check,
    # Workflow Expressions
    expression_language.check,
    expressions_compile.check,
    conditions_decide.check,
    input_collections.check,
    output_collections.check,
    results_polled.check,
    texts_meant.check,
    variables_known.check,
    fields_set.check,
    secrets_for_functions.check,
    names_free.check,
    # Function, Event, Retry, Error and Auth Definitions
    references_defined.check,
    function_operations.check,
    operation_forms.check,
    function_metadata.check,
    custom_operations.check,
    event_definitions.check,
    event_kinds.check,
    events_start_others.check,
    callbacks_correlated.check,
    retry_values.check,
    retried_errors.check,
    auth_schemes.check,
    references_unique.check,
    repeats.check,
    # Workflow States
    one_call.check,
    selection_sets.check,
    inject_data.check,
    switch_conditions.check,
    counts.check,
    targets_exist.check,
    ways_out.check,
    continuations.check,
    states_reachable.check,
    schedules.check,
    # Workflow Timeouts, Workflow Compensation
    durations.check,
    run_before.check,
    compensation.check,
    # Workflow Metadata
    concurrency.check,
    search_attributes.check,
)


def validate(workflow: Workflow, expressions: Expressions | None) -> list[Problem]:
    """Return all problems of *workflow*, errors and warnings, rule by rule.

    *expressions* compiles its expressions, and caches them; None if their language is not supported.
    """
    context = Context(workflow, expressions)
    return [problem for rule in RULES for problem in rule(context)]
