"""The operator's settings that change what a run does, as workflow code gets them.

Workers of different configurations may run one instance after the other. So what is asked for is written into the
history, by a marker, where it makes a difference: a replay goes by the marker alone. Where nothing is asked for there
is no marker, and the history is what it would be without these settings.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from temporalio import workflow
from temporalio.worker import Interceptor, WorkflowInboundInterceptor, WorkflowInterceptorClassInput

if TYPE_CHECKING:
    from swf_temporal.temporal.instance_part import Part

_NAME: Final = "swf_operator_options"


@dataclass(frozen=True, slots=True)
class OperatorOptions:
    ordered: bool = False
    """Whether events of an instance are delivered one after the other."""
    lifecycle: frozenset[str] = frozenset()
    """Which lifecycle events instances produce: `workflow`, `task`, `status`."""
    search_attributes: bool = False
    """Whether instances set search attributes."""
    only_known: bool = False
    """Whether a run may bring no definition along but those that its worker serves."""
    answers_all: bool = False
    """Whether the worker answers all functions, those too that name an activity of another worker."""
    parts: tuple[type["Part"], ...] | None = None
    """What belongs to an instance beside its interpretation; None is all that there is."""


class OperatorOptionsInterceptor(Interceptor):
    """Gives workflow code the settings of its worker."""

    def __init__(self, operator_options: OperatorOptions) -> None:
        self._options = operator_options

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002 - the SDK's name
    ) -> type[WorkflowInboundInterceptor] | None:
        """Hand the settings over; nothing is intercepted."""
        operator_options = self._options
        input.unsafe_extern_functions[_NAME] = lambda: operator_options
        return None


def operator_options() -> OperatorOptions:
    known: Any = workflow.extern_functions().get(_NAME)
    return OperatorOptions() if known is None else known()
