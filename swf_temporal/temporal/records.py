"""What travels between clients, workflows and activities, beside the user's own data?

The second argument of a workflow, if our client started it, is a *pin*: the texts of the definitions that the run
may need, so that a changed file never changes a running instance. A run that was started with nothing but its data
looks its definition up once, by a local activity, and carries the same record from then on.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from typing import Any

from swf_temporal.calls import Auth, Function
from swf_temporal.data import JSON
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.loading import load, load_pinned
from swf_temporal.runtime.host import FunctionCall, SecretTemplate
from swf_temporal.runtime.retrying import RetryRule
from swf_temporal.runtime.run import Program
from swf_temporal.runtime.semantics import FIRST_SEMANTICS, SEMANTICS

RESOLVE = "resolve definitions"
"""The local activity that finds the definition of a workflow type."""

ADMIT = "look definitions up"
"""The local activity that says which of the definitions of a run its worker serves."""

PUBLISH = "publish event"
"""The activity that sends a produced event."""

_SEMANTICS = "semantics"
"""Where the number stands among those of a pin: workers of the first release refuse records with unknown fields.

The other numbers belong to ids of calls, which have a slash in them.
"""


@dataclass(frozen=True, slots=True)
class Pinned:
    """The text of a definition, where it was read from, and the text's SHA-256 for whoever compares."""

    text: str
    name: str
    sha256: str = ""

    @staticmethod
    def from_json(record: Mapping[str, str]) -> "Pinned":
        """Return what was pinned; fields that a later release added are passed over."""
        return Pinned(**_known(Pinned, record))


@dataclass(slots=True)
class Pin:
    """What a run carries from its start on."""

    definitions: list[Pinned] = field(default_factory=list)
    version: str | None = None
    events: list[dict[str, JSON]] = field(default_factory=list)
    """Events that were sent with the start."""
    progress: dict[str, Any] | None = None
    """Where a continued run goes on."""
    numbers: dict[str, int] = field(default_factory=dict)
    """How often ids were given in the executions before this one."""
    limit: JSON = None
    """What a `continueAs` sets in place of the workflow's own timeout."""
    call: dict[str, Any] | None = None
    """The call that this run consists in: one that was invoked `async`, and that nobody waits for."""
    scripted: bool = False
    """Whether a script answers all functions, so that activities of others are not run."""
    semantics: int | None = SEMANTICS
    """The reading that the run began with; None for a run that has yet to record one, because it has no pin."""
    suspend_after: int | None = None
    """After how many events of history the run continues as new, where the server's own advice is not to be awaited."""

    def to_json(self) -> dict[str, Any]:
        """Return the pin as JSON, without what says nothing."""
        record = asdict(self)
        semantics = record.pop("semantics")
        if semantics not in (None, FIRST_SEMANTICS):
            record["numbers"] = {**self.numbers, _SEMANTICS: semantics}
        return {key: value for key, value in record.items() if value not in (None, [], {}) and value is not False}

    @staticmethod
    def from_json(record: dict[str, Any]) -> "Pin":
        """Return the pin that `to_json` wrote, in this release or another: unknown fields are passed over."""
        definitions = [Pinned.from_json(one) for one in record.get("definitions", ())]
        numbers = dict(record.get("numbers", {}))
        # What comes without digests was not written by any release of ours: it is as new as a run without a pin.
        unrecorded = None if any(not one.sha256 for one in definitions) else FIRST_SEMANTICS
        semantics = numbers.pop(_SEMANTICS, unrecorded)
        return Pin(
            **{**_known(Pin, record), "definitions": definitions, "numbers": numbers, "semantics": semantics},
        )


def _known(kind: type[Pin] | type[Pinned], record: Mapping[str, Any]) -> dict[str, Any]:
    names = {one.name for one in fields(kind)}
    return {key: value for key, value in record.items() if key in names}


def pinned(workflows: list[Definition]) -> list[Pinned]:
    """Return the texts of *workflows*."""
    return [Pinned(workflow.source.text, workflow.source.name, workflow.digest) for workflow in workflows]


@lru_cache(maxsize=512)
def catalogue_of(definitions: tuple[Pinned, ...]) -> Catalogue:
    """Return the definitions that a run carries.

    One with a digest was checked when the run was started; one without came from somebody else, unchecked.
    """
    return Catalogue(
        load_pinned(one.text, name=one.name) if one.sha256 else load(one.text, name=one.name) for one in definitions
    )


@lru_cache(maxsize=512)
def program_of(
    definitions: tuple[Pinned, ...], workflow_id: str, version: str | None, semantics: int
) -> tuple[Definition, Program]:
    """Return the definition *workflow_id* among those that a run carries, and its program."""
    definition = catalogue_of(definitions).find(workflow_id, version)
    return definition, definition.language.prepare(definition, semantics)


def call_to_json(call: FunctionCall, source: str) -> dict[str, Any]:
    """Return what an activity has to know of a call. *source* is where the definition was read from."""
    record: dict[str, Any] = {"function": call.function.to_json(), "source": source}
    if call.arguments is not None:
        record["arguments"] = call.arguments
    if call.deferred is not None:
        record["deferred"] = asdict(call.deferred)
    if call.retry is not None:
        record["retry"] = call.retry.to_json()
    if call.selection_set is not None:
        record["selectionSet"] = call.selection_set
    if call.auth:
        record["auth"] = [auth.to_json() for auth in call.auth]
    if call.secrets:
        record["secrets"] = list(call.secrets)
    return record


def call_from_json(record: dict[str, Any], *, activity_id: str, state: str) -> FunctionCall:
    """Return the call that `call_to_json` wrote."""
    deferred = record.get("deferred")
    retry = record.get("retry")
    return FunctionCall(
        id=activity_id,
        function=Function.from_json(record["function"]),
        arguments=record.get("arguments"),
        state=state,
        action=activity_id,
        deferred=None if deferred is None else SecretTemplate(**deferred),
        retry=None if retry is None else RetryRule.from_json(retry),
        selection_set=record.get("selectionSet"),
        auth=tuple(Auth.from_json(auth) for auth in record.get("auth", ())),
        secrets=tuple(record.get("secrets", ())),
    )
