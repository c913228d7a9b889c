"""The context of a request: its tenant, permissions, parameters and body."""

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import unquote

from aiolimiter import AsyncLimiter
from starlette.requests import Request
from starlette.responses import Response
from temporalio.common import MetricMeter

from swf_temporal.base.data import JSON
from swf_temporal.base.request_bodies import BodyTooLargeError, SlowBodyError, body_of
from swf_temporal.http.gateway.answers import BUSINESS_KEY, WAIT, Parameter, what_is_wrong
from swf_temporal.http.gateway.cloud_events import json_of_body
from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.sdk.logs import in_one_line
from swf_temporal.sdk.metrics import REQUESTS
from swf_temporal.settings.forms import Rate
from swf_temporal.settings.http import GatewaySettings, Tenant
from swf_temporal.temporal import start_options
from swf_temporal.text.bodies import content_type_of

_log = logging.getLogger("swf")


class TenantLimits:
    """Counts the requests of each tenant, and of all together."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._of_all = None if settings.rate is None else _Limit(settings.rate)
        self._of_strangers = None if settings.rate is None else _Limit(settings.rate)
        self._by_tenant = {name: _Limit(one.rate) for name, one in settings.tenants.items() if one.rate is not None}

    async def count_request(self, tenant: Tenant) -> None:
        """Count a request of *tenant*. Raises Refused if it exceeds the rate."""
        await self._count(tenant, 1, 1)

    async def count_stranger(self) -> None:
        """Count a request without a valid key, apart from those of tenants. Raises Refused if it exceeds the rate."""
        if self._of_strangers is not None:
            await _count([self._of_strangers], 1, 1)

    async def count_batch(self, tenant: Tenant, events: int) -> None:
        """Count *events*, the first of which the request was counted for. Raises Refused if there are too many."""
        most = min((one.most for one in self._of(tenant)), default=events)
        if events > most:
            message = f"{events} events are more than the rate allows at once, {most}"
            raise Refused(413, "too-many-events", message, "send fewer at once")
        if events > 1:
            await self._count(tenant, events - 1, events)

    async def wait_for_turn(self, tenant: Tenant) -> None:
        """Count one of many changes that *tenant* makes by one request, once the rate has room for it."""
        for limit in self._of(tenant):
            await limit.count(1)

    async def _count(self, tenant: Tenant, amount: int, again: int) -> None:
        await _count(self._of(tenant), amount, again)

    def _of(self, tenant: Tenant) -> list["_Limit"]:
        return [one for one in (self._of_all, self._by_tenant.get(tenant.name)) if one is not None]


async def _count(limits: Sequence["_Limit"], amount: int, again: int) -> None:
    """Count *amount*, or refuse it until there is room for what is sent *again*: a batch with its request."""
    full = [one for one in limits if not one.has_room(amount)]
    if full:
        wait = max(one.wait(again) for one in full)
        raise Refused(429, "too-many-requests", "there are too many requests", retry_after=wait)
    for one in limits:
        await one.count(amount)


class _Limit:
    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._limiter = AsyncLimiter(max(rate.calls, 1), rate.seconds * max(1 / rate.calls, 1))

    @property
    def most(self) -> int:
        """The largest number of requests at once."""
        return int(self._limiter.max_rate)

    def has_room(self, amount: int) -> bool:
        return self._limiter.has_capacity(amount)

    async def count(self, amount: int) -> None:
        await self._limiter.acquire(amount)

    def wait(self, amount: int) -> float:
        """Return the seconds after which there is room for *amount*, at the latest."""
        return amount * self._rate.seconds / self._rate.calls


class Metrics:
    """Counts requests and events, without names of tenants, definitions or instances."""

    def __init__(self, meter: MetricMeter) -> None:
        self._duration = meter.create_histogram_timedelta(
            REQUESTS, "Requests that were answered, and how long that took", "duration"
        )
        self._in_progress = meter.create_gauge("swf_gateway_requests_in_progress", "Requests in progress")
        self._events = meter.create_counter("swf_gateway_events", "Events that were accepted, by status")
        self._number = 0

    def begin(self) -> None:
        """Count a request that has begun."""
        self._number += 1
        self._in_progress.set(self._number)

    def end(self, operation: str, status: int, seconds: float) -> None:
        """Count the answer to a request."""
        self._number -= 1
        self._in_progress.set(self._number)
        self._duration.record(timedelta(seconds=seconds), {"operation": operation, "status": str(status)})

    def count_event(self, status: str) -> None:
        """Count an event: `accepted`, `duplicate`, `ignored`, or an instance's answer."""
        self._events.add(1, {"status": status})


PATIENCE: Final = 20.0
"""Seconds that Temporal has for a request, or for each event of it, in addition to the time that it asks to wait."""
_CLOSE: Final = {"Connection": "close"}
_PREFERENCE: Final = re.compile(r'\s*wait\s*=\s*"?(\d+)"?\s*(?:;|$)', re.IGNORECASE)


class TenantCatalogue(Catalogue):
    """The definitions of a tenant. They may refer to all others: a sub-workflow need not be the tenant's own."""

    def __init__(self, everything: Catalogue, tenant: Tenant) -> None:
        super().__init__()
        self.share(everything)
        self.unreadable = everything.unreadable
        self._tenant = tenant

    def __iter__(self) -> Iterator[Definition]:
        """Yield the definitions of the tenant."""
        return (one for one in super().__iter__() if self._tenant.has_workflow(one.id))


@dataclass(frozen=True, slots=True)
class RequestContext:
    """A request of a tenant, and the means to answer it."""

    request: Request
    tenant: Tenant
    client: Client
    catalogue: TenantCatalogue
    settings: GatewaySettings
    limits: TenantLimits
    metrics: Metrics
    identity: str | None
    """The sender, if it is known, as its definitions see it. The client acts as who it is for histories."""

    @property
    def task_queue(self) -> str:
        """The task queue of the tenant's instances."""
        return self.tenant.task_queue or self.settings.task_queue or self.client.task_queue

    def path_id(self, name: str = "id") -> str:
        raw = str(self.request.path_params[name])
        try:
            found = unquote(raw, errors="strict")
        except UnicodeError:
            found = ""
        if not found.strip() or not found.isprintable():
            raise Refused(404, "unknown-id", f"there is no id {raw!r}", "an id in a path is percent-encoded UTF-8")
        return found

    async def body(self, limit: int | None = None) -> bytes:
        """Return the body of the request. Raises Refused if it has more bytes than *limit*, or is compressed."""
        limit = self.settings.max_bytes if limit is None else limit
        if self.request.headers.get("content-encoding", "identity").lower() != "identity":
            raise Refused(415, "content-encoding", "compressed bodies are not supported", "send it uncompressed")
        try:
            return await body_of(self.request, limit)
        except BodyTooLargeError as error:
            raise Refused(
                413, "too-large", str(error), "send less at once, or a reference to the data", headers=_CLOSE
            ) from None
        except SlowBodyError as error:
            raise Refused(408, "slow-body", str(error), headers=_CLOSE) from None

    async def json(self) -> JSON:
        """Return the JSON body of the request; None if it has no body. Raises Refused."""
        body = await self.body()
        if not body:
            return None
        media, charset = content_type_of(self.request.headers.get("content-type", ""))
        if media != "application/json" and not media.endswith("+json"):
            raise Refused(415, "no-json", f"Content-Type is {media or 'missing'}", "send application/json")
        return json_of_body(body, charset)

    def parameter(self, parameter: Parameter) -> str | None:
        """Return a parameter; None if it is missing. Raises Refused if it is invalid or given twice."""
        name, request = parameter["name"], self.request
        values = (request.headers if parameter["in"] == "header" else request.query_params).getlist(name)
        if len(values) > 1:
            raise Refused(400, "bad-parameter", f"the parameter {name} is given more than once")
        if not values and "required" in parameter:
            raise Refused(400, "bad-parameter", f"the parameter {name} is missing", parameter.get("description"))
        if values and (hint := what_is_wrong(parameter, values[0])):
            raise Refused(400, "bad-parameter", f"the parameter {name} is {values[0]!r}", hint)
        return values[0] if values else None

    def number(self, parameter: Parameter) -> int:
        """Return a number in the query, or its default. Raises Refused."""
        return int(self.parameter(parameter) or parameter["schema"]["default"])

    def flag(self, parameter: Parameter) -> bool:
        """Return whether a parameter in the query is true. Raises Refused."""
        return self.parameter(parameter) == "true"

    def memo(self) -> dict[str, JSON]:
        """Return the memo of an instance that this request starts. Raises Refused."""
        given = {name: self.request.headers.getlist(name) for name in self.settings.kept_headers}
        found: dict[str, JSON] = {
            start_options.HEADERS: {name: ",".join(values) for name, values in given.items() if values},
            start_options.IDENTITY: self.identity,
            start_options.BUSINESS_KEY: self.parameter(BUSINESS_KEY),
        }
        return {name: value for name, value in found.items() if value}

    @property
    def sees_everything(self) -> bool:
        """Whether the tenant has access to all definitions."""
        return "*" in self.tenant.workflows

    def known(self, definition: str | None = None) -> list[str]:
        """Return the ids of the tenant's definitions, or only *definition*, if it is one of them."""
        return sorted({one.id for one in self.catalogue if definition in (None, one.id)})

    def seconds_to_wait(self, *, always: bool = False) -> float:
        """Return the seconds that the client wants to wait, by `?wait=` or the header `Prefer`, up to the limit.

        The default is zero, or with *always* the limit.
        """
        most, text = self.settings.max_wait.total_seconds(), self.parameter(WAIT)
        if text is None:
            given = ",".join(self.request.headers.getlist("prefer")).split(",")
            found = next(filter(None, map(_PREFERENCE.match, given)), None)
            text = found[1] if found else None
        return min(float(text), most) if text is not None else most if always else 0.0


def log_change(asked: RequestContext, response: Response) -> None:
    """Log that a request which may change something was answered, and who sent it."""
    request = asked.request
    if request.method not in ("GET", "HEAD"):
        path = in_one_line(request.url.path)
        _log.info("%s sent %s %s: %s", asked.client.identity, request.method, path, response.status_code)
