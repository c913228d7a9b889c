"""The results of running a state's body, and of a walk."""

from dataclasses import dataclass

from swf_temporal.data import JSON
from swf_temporal.languages.serverless_workflow.model.states import End


@dataclass(frozen=True, slots=True)
class Step:
    """The data a state's body ended with, and by which way the state is left.

    `by` is `own` for the state's own transition or end, `condition 2` or `default` for those of a switch, `error 0`
    for those of an onErrors entry.
    """

    data: JSON
    by: str = "own"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a walk ended, and with which data."""

    data: JSON
    end: End
