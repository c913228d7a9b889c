"""Variables, as states read and write them."""

from base64 import b64decode
from hashlib import sha256

from swf_temporal.base.data import JSON, json_or_base64
from swf_temporal.base.strict_json import write_json
from swf_temporal.languages.direktiv import codes
from swf_temporal.languages.direktiv.compat import Compat
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.names import path_of
from swf_temporal.runtime.variables import JSON_TYPE, Variable, VariableRef

BYTES_TYPE = "application/octet-stream"
_NOTHING = (b"", b"null", b'""', b"0", b"[]", b"{}")
TEXT_TYPES = ("text/plain", "text/plain; charset=utf-8")


def ref_of(scope: str | None, key: str, lane: Lane) -> VariableRef:
    """Return which variable *key* is in *scope*; without one it is the instance's."""
    match scope or "instance":
        case "instance":
            return VariableRef("instance", lane.run.instance.instance_id, key)
        case "workflow":
            return VariableRef("workflow", lane.execution.program.id, key)
        case "namespace":
            return VariableRef("namespace", "", key)
        case "thread":
            return VariableRef("thread", lane.execution.thread.get(key, lane.run.instance.instance_id), key)
        case "file":
            return VariableRef("file", lane.execution.program.id, path_of(key, lane.execution.program.id))
        case other:
            raise codes.internal(f"there is no scope {other!r}")


async def value_of(scope: str | None, key: str, lane: Lane) -> JSON:
    """Return what a getter finds: null where there is no such variable."""
    if scope == "system":
        return _system(key, lane)
    found = await lane.run.host.read_variable(ref_of(scope, key, lane))
    return None if found is None else json_or_base64(found.content)


def _system(key: str, lane: Lane) -> JSON:
    match key:
        case "instance":
            return lane.run.instance.instance_id
        case "uuid":
            return _uuid(lane.run.host.new_id())
        case "epoch":
            return int(lane.run.time())
        case _:
            raise codes.internal(f"there is no variable {key!r} in the scope 'system'")


def _uuid(unique: str) -> str:
    """Return a UUID of version 4 that is as random as *unique* is, and the same on every replay."""
    digest = sha256(unique.encode()).hexdigest()
    variant = "89ab"[int(digest[16], 16) % 4]
    return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"


async def store(scope: str | None, key: str, variable: Variable | None, lane: Lane) -> None:
    """Let the variable hold *variable*; None takes it away."""
    if scope == "thread":
        lane.execution.begin_thread_variable(key)
    await lane.run.host.write_variable(ref_of(scope, key, lane), variable)


def variable_of(value: JSON, mime_type: str | None, compat: Compat) -> Variable | None:
    """Return what a setter stores of *value*; None deletes the variable."""
    if value is None and compat.setting != "stores":
        return None
    variable = _variable_of(value, mime_type)
    return None if compat.setting == "nothing deletes" and variable.content in _NOTHING else variable


def _variable_of(value: JSON, mime_type: str | None) -> Variable:
    mime_type = mime_type or JSON_TYPE
    if isinstance(value, str) and mime_type == BYTES_TYPE:
        try:
            return Variable(b64decode(value, validate=True), mime_type)
        except ValueError:
            raise codes.internal(f"a value of the type {BYTES_TYPE} is not base64") from None
    if isinstance(value, str) and mime_type in TEXT_TYPES:
        return Variable(value.encode(), mime_type)
    return Variable(write_json(value, ensure_ascii=False).encode(), mime_type)
