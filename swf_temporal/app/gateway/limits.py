"""The rate limits of the gateway."""

from collections.abc import Iterable

from aiolimiter import AsyncLimiter

from swf_temporal.app.gateway.refusals import Refused
from swf_temporal.app.http_settings import GatewaySettings, Tenant
from swf_temporal.functions.operator.forms import Rate


class TenantLimits:
    """Counts the requests of tenants, and of all together."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._of_all = None if settings.rate is None else _Limit(settings.rate)
        self._by_tenant = {name: _Limit(one.rate) for name, one in settings.tenants.items() if one.rate is not None}

    async def count(self, tenant: Tenant, amount: int = 1) -> None:
        """Count *amount* requests of *tenant*. Raises Refused if that is more than it may make now."""
        limits = [one for one in (self._of_all, self._by_tenant.get(tenant.name)) if one is not None]
        refuse_too_many(limits, amount)
        for one in limits:
            await one.count(amount)


class _Limit:
    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._limiter = AsyncLimiter(max(rate.calls, 1), rate.seconds * max(1 / rate.calls, 1))

    def has_room(self, amount: int) -> bool:
        return self._limiter.has_capacity(self._counted(amount))

    async def count(self, amount: int) -> None:
        await self._limiter.acquire(self._counted(amount))

    def wait(self, amount: int) -> float:
        """Return the seconds in which there is room for that many, at the latest."""
        return self._counted(amount) * self._rate.seconds / self._rate.calls

    def _counted(self, amount: int) -> float:
        return min(amount, self._limiter.max_rate)  # a batch that is larger takes all


def refuse_too_many(limits: Iterable[_Limit], amount: int) -> None:
    """Raise Refused if one of *limits* has no room for *amount* requests."""
    full = [one for one in limits if not one.has_room(amount)]
    if full:
        wait = max(one.wait(amount) for one in full)
        raise Refused(429, "too-many-requests", "there are too many requests", retry_after=wait)
