"""The correlation rules of an event definition (section "Correlation Definition").

Each names a context attribute, case-insensitively. If the rule has a value, the attribute must have that value.
"""

from collections.abc import Awaitable, Callable
from functools import lru_cache, partial

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.expressions.early_paths import EarlyPath
from swf_temporal.languages.serverless_workflow.model.workflow import Correlation, Event
from swf_temporal.runtime.correlation import KeyRule


def rules_of(definition: Event) -> tuple[KeyRule, ...]:
    return tuple(
        KeyRule(_key(one.context_attribute_name), partial(value_in, one), one.context_attribute_value is not None)
        for one in definition.correlation
    )


async def required_values(definition: Event, fill: Callable[[JSON], Awaitable[JSON]]) -> dict[str, JSON]:
    """Return the required values of attributes, as *fill* evaluates them."""
    return {
        _key(rule.context_attribute_name): await fill(rule.context_attribute_value)
        for rule in definition.correlation
        if rule.context_attribute_value is not None
    }


@lru_cache(maxsize=1024)
def _compiled(path: str) -> EarlyPath:
    return EarlyPath(path)


def value_in(rule: Correlation, event: CloudEvent) -> JSON:
    """Return the value that *rule* compares: of a context attribute or, in the first draft, at a path."""
    if rule.path is None:
        return event.attribute(rule.context_attribute_name)
    path = _compiled(rule.path)
    found = path.found(event.to_json()) or path.found(event.data)
    return found[0] if found else None


def _key(name: str) -> str:
    return name.lower()
