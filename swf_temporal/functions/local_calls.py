"""The operator's settings for local calls.

The setting for a function or its service overrides that for the host, which overrides that for the function's type,
then that for all calls, then the definition. Hosts are only known when a request is about to be sent.
"""

from typing import Final

from swf_temporal.base.function_types import Callee
from swf_temporal.runtime.variables import (
    MAX_ATTEMPT,
    LocalCalls,
    NotLocal,
    is_local,
    is_wanted_local,
    may_be_safe,
    want_local,
)
from swf_temporal.settings.calls import Settings

_ASKING_HOSTS: Final = frozenset({"rest", "openapi", "http", "request", "graphql", "odata", "rpc"})
"""The types whose performers call `check_local_host` before they send anything."""


def check_local_function(settings: Settings, callee: Callee, kind: str) -> None:
    """Raise NotLocal if the current call is a local one, and its function may not be called locally."""
    if not is_local():
        return
    own = settings.for_callee(callee).local_calls
    for_all = True if kind in settings.local_call_types else settings.calls.local_calls
    _want(for_all if own is None else own)
    depends_on_host = own is None and settings.hosts_decide_local_calls
    if not is_wanted_local() and not (kind in _ASKING_HOSTS and (depends_on_host or may_be_safe())):
        raise NotLocal(f"calls of function {callee.function!r} are not local")


def check_local_host(
    settings: Settings, callee: Callee | None, host: str, port: int, *, method: str | None = None
) -> None:
    """Raise NotLocal if the call is local, and its *method*, its timeout or the settings of the host forbid that."""
    if not is_local() or callee is None:
        return
    if settings.hosts_decide_local_calls and settings.for_callee(callee).local_calls is None:
        _want(settings.for_host(host, port).local_calls)
    is_slow = settings.options_for(callee, host, port).timeout > MAX_ATTEMPT
    if is_slow or not is_wanted_local(method):
        raise NotLocal(f"calls of function {callee.function!r} at {host} are not local")


def _want(said: LocalCalls | None) -> None:
    if said is not None:
        want_local(wanted=said)
