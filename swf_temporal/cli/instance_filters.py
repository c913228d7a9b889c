"""The options by which `swf list`, and the commands that change many instances, find instances."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from swf_temporal.cli.options import not_empty
from swf_temporal.cli.shell_completion import definition_ids

if TYPE_CHECKING:
    from swf_temporal.operations.listing import Conditions

_HAVING = "Only instances with this {}, by a search attribute."
_MOMENT = "Only instances that {} since: a duration ago such as 2h, a time of day such as 12:00, or a time."

Definition = Annotated[
    str | None,
    typer.Option(
        "--definition",
        metavar="ID",
        callback=not_empty,
        help="Only instances of the definition with this id.",
        autocompletion=definition_ids,
    ),
]
Version = Annotated[
    str | None, typer.Option("--version", metavar="VERSION", callback=not_empty, help=_HAVING.format("version"))
]
State = Annotated[str | None, typer.Option("--state", metavar="NAME", callback=not_empty, help=_HAVING.format("state"))]
BusinessKey = Annotated[
    str | None, typer.Option("--business-key", metavar="KEY", callback=not_empty, help=_HAVING.format("key"))
]
ErrorCode = Annotated[
    str | None, typer.Option("--error-code", metavar="CODE", callback=not_empty, help=_HAVING.format("error code"))
]
Error = Annotated[
    str | None,
    typer.Option("--error", metavar="ERROR", callback=not_empty, help=_HAVING.format("error, its name or its code")),
]
WaitsFor = Annotated[
    str | None,
    typer.Option(
        "--waits-for",
        metavar="EVENT",
        callback=not_empty,
        help="Only instances that wait for the event with this name, by a search attribute.",
    ),
]
LongerThan = Annotated[
    str | None,
    typer.Option(
        "--longer-than",
        metavar="DURATION",
        callback=not_empty,
        help="Only instances that have been in their state, or waited, longer than that, such as 1d.",
    ),
]
StartedSince = Annotated[
    str | None,
    typer.Option("--started-since", metavar="TIME", callback=not_empty, help=_MOMENT.format("have started")),
]
EndedSince = Annotated[
    str | None,
    typer.Option("--ended-since", metavar="TIME", callback=not_empty, help=_MOMENT.format("have ended, or failed,")),
]


@dataclass(frozen=True, slots=True)
class InstanceFilters:
    """The filters given on a command line, as written."""

    definition: str | None
    version: str | None
    state: str | None
    business_key: str | None
    error_code: str | None
    error: str | None
    waits_for: str | None
    longer_than: str | None
    started_since: str | None
    ended_since: str | None

    def __bool__(self) -> bool:
        """Return whether there is one."""
        return self != InstanceFilters(*[None] * len(self.__slots__))

    def conditions(self) -> "Conditions":
        """Return them as conditions. Raises UsageError for a duration or a time that cannot be read."""
        from swf_temporal.operations.listing import Conditions, length_of, moment_of

        return Conditions(
            attributes={
                "version": self.version,
                "state": self.state,
                "businessKey": self.business_key,
                "errorCode": self.error_code,
            },
            error=self.error,
            waits_for=self.waits_for,
            longer_than=None if self.longer_than is None else length_of(self.longer_than),
            started_since=None if self.started_since is None else moment_of(self.started_since),
            ended_since=None if self.ended_since is None else moment_of(self.ended_since),
        )

    def query(self, query: str | None) -> str | None:
        """Return them and the list filter *query* as one list filter; None if there is none. Raises UsageError."""
        from swf_temporal.operations.listing import filter_of

        return filter_of(None, self.definition, query, conditions=self.conditions()) or None


def instance_filters(
    *,
    definition: Definition = None,
    version: Version = None,
    state: State = None,
    business_key: BusinessKey = None,
    error_code: ErrorCode = None,
    error: Error = None,
    waits_for: WaitsFor = None,
    longer_than: LongerThan = None,
    started_since: StartedSince = None,
    ended_since: EndedSince = None,
) -> InstanceFilters:
    """Return the given filters. Its parameters are the options that all commands with filters have."""
    return InstanceFilters(
        definition,
        version,
        state,
        business_key,
        error_code,
        error,
        waits_for,
        longer_than,
        started_since,
        ended_since,
    )
