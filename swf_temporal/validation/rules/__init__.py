"""The rules, in the order of the specification's chapters. A rule takes a Context and yields problems."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from swf_temporal.errors import Problem
from swf_temporal.validation.context import Context
from swf_temporal.validation.rules import (
    auth_defined,
    auth_schemes,
    compensation,
    conditions_decide,
    continuations,
    counts,
    custom_operations,
    data_schema,
    definitions_used,
    durations,
    errors_defined,
    event_definitions,
    event_kinds,
    events_defined,
    expression_language,
    expressions_compile,
    extensions,
    fields_set,
    function_metadata,
    function_operations,
    functions_defined,
    identity,
    inject_data,
    names_free,
    names_unique,
    not_empty,
    one_call,
    operation_forms,
    properties_known,
    references_unique,
    retries_defined,
    retry_values,
    run_before,
    schedules,
    secrets_for_functions,
    spec_version,
    states_reachable,
    switch_conditions,
    targets_exist,
    ways_out,
)

Rule: TypeAlias = Callable[[Context], Iterator[Problem]]

RULES: tuple[Rule, ...] = (
    # Workflow Definition Structure
    identity.check,
    spec_version.check,
    properties_known.check,
    names_unique.check,
    not_empty.check,
    data_schema.check,
    extensions.check,
    definitions_used.check,
    # Workflow Expressions
    expression_language.check,
    expressions_compile.check,
    conditions_decide.check,
    fields_set.check,
    secrets_for_functions.check,
    names_free.check,
    # Function, Event, Retry, Error and Auth Definitions
    functions_defined.check,
    function_operations.check,
    operation_forms.check,
    function_metadata.check,
    custom_operations.check,
    events_defined.check,
    event_definitions.check,
    event_kinds.check,
    retries_defined.check,
    retry_values.check,
    errors_defined.check,
    auth_defined.check,
    auth_schemes.check,
    references_unique.check,
    # Workflow States
    one_call.check,
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
)
