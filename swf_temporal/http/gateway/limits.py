"""The rate limits of the gateway."""

from aiolimiter import AsyncLimiter

from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.settings.forms import Rate
from swf_temporal.settings.http import GatewaySettings, Tenant


class TenantLimits:
    """Counts the requests of tenants, and of all together."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._of_all = None if settings.rate is None else _Limit(settings.rate)
        self._by_tenant = {name: _Limit(one.rate) for name, one in settings.tenants.items() if one.rate is not None}

    async def count_request(self, tenant: Tenant) -> None:
        """Count a request of *tenant*. Raises Refused if it may make none now."""
        await self._count(tenant, 1, 1)

    async def count_batch(self, tenant: Tenant, events: int) -> None:
        """Count so many *events*, the first of which its request was. Raises Refused if there are too many of them."""
        most = min((one.most for one in self._of(tenant)), default=events)
        if events > most:
            message = f"{events} events are more than the rate allows at once, {most}"
            raise Refused(413, "too-many-events", message, "send fewer at once")
        if events > 1:
            await self._count(tenant, events - 1, events)

    async def _count(self, tenant: Tenant, amount: int, again: int) -> None:
        """Count *amount*, or refuse it until there is room for what comes *again*: a batch with its request."""
        limits = self._of(tenant)
        full = [one for one in limits if not one.has_room(amount)]
        if full:
            wait = max(one.wait(again) for one in full)
            raise Refused(429, "too-many-requests", "there are too many requests", retry_after=wait)
        for one in limits:
            await one.count(amount)

    def _of(self, tenant: Tenant) -> list["_Limit"]:
        return [one for one in (self._of_all, self._by_tenant.get(tenant.name)) if one is not None]


class _Limit:
    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._limiter = AsyncLimiter(max(rate.calls, 1), rate.seconds * max(1 / rate.calls, 1))

    @property
    def most(self) -> int:
        """The largest number of requests at one moment."""
        return int(self._limiter.max_rate)

    def has_room(self, amount: int) -> bool:
        return self._limiter.has_capacity(amount)

    async def count(self, amount: int) -> None:
        await self._limiter.acquire(amount)

    def wait(self, amount: int) -> float:
        """Return the seconds in which there is room for that many, at the latest."""
        return amount * self._rate.seconds / self._rate.calls
