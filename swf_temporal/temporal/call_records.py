"""The record of a call: what its activity has to know, or the workflow of its own that makes it."""

from datetime import timedelta
from typing import Any, TypedDict, cast

from swf_temporal.calls import Auth, Function
from swf_temporal.data import JSON
from swf_temporal.runtime.host import CallFile, CallFolder, FunctionCall, SecretTemplate
from swf_temporal.runtime.retrying import RetryRule
from swf_temporal.runtime.variables import VariableScope
from swf_temporal.temporal.formats import check_format
from swf_temporal.temporal.variables import RefRecord, ref_from_json, ref_to_json


class _FileRecord(TypedDict):
    of: RefRecord
    name: str
    form: str


class FolderRecord(TypedDict):
    files: list[_FileRecord]
    owners: dict[str, str]


class _CallRecord(TypedDict):
    function: dict[str, JSON]
    source: str
    """Where the definition was read from."""


class CallRecord(_CallRecord, total=False):
    language: str
    """The name of the definition's language."""
    arguments: JSON
    deferred: dict[str, Any]
    retry: dict[str, Any]
    selectionSet: JSON
    headers: dict[str, str]
    auth: list[dict[str, JSON]]
    secrets: list[str]
    folder: FolderRecord
    place: "PlaceRecord"
    owner: "OwnerRecord"
    """Both of a call that a workflow of its own makes while a run waits for it."""
    attempts: dict[str, Any]
    """Of such a call: what is known of the attempts that earlier executions of its workflow have made, if any have."""
    run: str
    """The execution that the call's idempotency key names, if it is not that of the activity."""
    local: "LocalRecord"
    """Missing where the call is an ordinary activity."""
    made: int
    """How many attempts were made locally before."""
    format: int
    """Missing in records of the first format."""


class LocalRecord(TypedDict):
    """What the activity has to know of a local call."""

    most: int
    """How many bytes its result may have."""
    asked: bool
    """Whether the definition asks that it is local; else the operator may."""


class OwnerRecord(TypedDict):
    """The run that waits for such a call: its id, and its first execution."""

    id: str
    run: str


class PlaceRecord(TypedDict):
    """The action that waits for such a call."""

    state: str
    action: str
    timeout: float | None
    """Seconds, for the call with all its retries."""


def call_to_json(call: FunctionCall, source: str) -> CallRecord:
    """Return what an activity has to know of a call. *source* is where the definition was read from."""
    record: CallRecord = {"function": call.function.to_json(), "source": source, "language": call.language}
    if call.arguments is not None:
        record["arguments"] = call.arguments
    if call.secret_template is not None:
        record["deferred"] = call.secret_template.to_json()
    if call.retry is not None:
        record["retry"] = call.retry.to_json()
    if call.selection_set is not None:
        record["selectionSet"] = call.selection_set
    if call.headers:
        record["headers"] = dict(call.headers)
    if call.auth:
        record["auth"] = [auth.to_json() for auth in call.auth]
    if call.secrets:
        record["secrets"] = list(call.secrets)
    if call.folder is not None:
        record["folder"] = _folder_to_json(call.folder)
    if call.outlast is not None:
        seconds = None if call.timeout is None else call.timeout.total_seconds()
        record["place"] = {"state": call.state, "action": call.action, "timeout": seconds}
    return record


def call_from_json(record: CallRecord, *, activity_id: str, state: str) -> FunctionCall:
    """Return the call that `call_to_json` wrote, in this release or another.

    Raises NewerRecord for one that only a newer release can perform.
    """
    check_format(record, "a call's record")
    secret_template = record.get("deferred")
    retry = record.get("retry")
    unknown: PlaceRecord = {"state": state, "action": activity_id, "timeout": None}
    place = record.get("place", unknown)
    return FunctionCall(
        id=activity_id,
        function=Function.from_json(record["function"]),
        arguments=record.get("arguments"),
        state=place["state"],
        action=place["action"],
        timeout=None if place["timeout"] is None else timedelta(seconds=place["timeout"]),
        secret_template=None if secret_template is None else SecretTemplate.from_json(secret_template),
        retry=None if retry is None else RetryRule.from_json(retry),
        selection_set=record.get("selectionSet"),
        headers=record.get("headers", {}),
        auth=tuple(Auth.from_json(auth) for auth in record.get("auth", ())),
        secrets=tuple(record.get("secrets", ())),
        folder=_folder_from_json(record["folder"]) if "folder" in record else None,
        language=record.get("language", ""),
    )


def _folder_to_json(folder: CallFolder) -> FolderRecord:
    files = [_FileRecord(of=ref_to_json(file.of), name=file.name, form=file.form) for file in folder.files]
    return {"files": files, "owners": {str(scope): owner for scope, owner in folder.owners.items()}}


def _folder_from_json(record: FolderRecord) -> CallFolder:
    files = (CallFile(ref_from_json(file["of"]), file["name"], file["form"]) for file in record["files"])
    return CallFolder(tuple(files), {cast("VariableScope", scope): owner for scope, owner in record["owners"].items()})
