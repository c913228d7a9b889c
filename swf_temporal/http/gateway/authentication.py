"""Assigns requests to tenants: by API key, or by the claims of a JWT."""

import hashlib
import logging
import socket
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.requests import Request

from swf_temporal.http.authentication import JwtVerifier, KeysUnavailableError, NotAuthenticatedError, bearer_token
from swf_temporal.http.gateway.refusals import Refused, unavailable
from swf_temporal.operations.identity import identity_of
from swf_temporal.settings.http import EVERYONE, GatewaySettings, Operation, Tenant, name_of_key

_log = logging.getLogger("swf")

API_KEY = "x-api-key"
"""The header of an API key, besides that of bearer tokens."""


class Caller(NamedTuple):
    """The sender of a request."""

    tenant: Tenant
    name: str | None
    """The subject of the token, or the tenant of the key; None without authentication."""
    identity: str
    """Who the histories of instances say that it is: `TENANT/SUBJECT` of a token, `TENANT:NAME` of an API key."""


_ANYONE = Caller(EVERYONE, None, identity_of(f"unauthenticated@{socket.gethostname()}"))


class Authentication:
    """Finds the sender of a request."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._settings = settings
        # Looked up by hash, so that the time of a look-up reveals nothing about the keys.
        tenants = settings.tenants.values()
        self._by_key = {_hashed(key): _of_key(tenant, key) for tenant in tenants for key in tenant.keys}
        self._jwts = None if settings.jwks is None else JwtVerifier(settings)

    async def caller_of(self, request: Request, token: str | None = None) -> Caller:
        """Return the sender of *request*, by its *token* or, without one, by its headers.

        Raises Refused: 401 without a valid key, 403 if the key belongs to no tenant, 503 if it cannot be verified.
        """
        if self._settings.is_open:
            return _ANYONE
        try:
            if token is None:
                token = request.headers.get(API_KEY) or bearer_token(request)
            known = self._by_key.get(_hashed(token))
            if known is not None:
                return known
            claims = await self._claims_of(token)
        except NotAuthenticatedError as error:
            hint = "send an API key as Authorization: Bearer KEY, or as X-API-Key"
            raise Refused(401, "unauthenticated", str(error), hint, headers={"WWW-Authenticate": "Bearer"}) from None
        except KeysUnavailableError as error:
            _log.error("%s", error)
            raise unavailable("the keys of the issuer of tokens cannot be fetched") from None
        found = next(
            (one for one in self._settings.tenants.values() if one.claims and _claims(claims, one.claims)), None
        )
        if found is None:
            raise Refused(
                403,
                "no-tenant",
                "the token does not belong to a tenant of this gateway",
                "see gateway › tenants › claims",
            )
        subject = str(claims.get("sub") or "")
        return Caller(found, subject or found.name, _identity(found, "/", subject))

    async def _claims_of(self, token: str) -> Mapping[str, Any]:
        if self._jwts is None:
            raise NotAuthenticatedError("this is not an API key of this gateway")
        return await self._jwts.claims_of(token)


def _of_key(tenant: Tenant, key: str) -> Caller:
    return Caller(tenant, tenant.name, _identity(tenant, ":", name_of_key(key)))


def _identity(tenant: Tenant, mark: str, name: str) -> str:
    """Return who has that *name* in *tenant*; the mark tells a subject from a key, whatever a token says."""
    return identity_of(f"{quote(tenant.name, safe=' ')}{mark}{name}" if name else quote(tenant.name, safe=" "))


def refuse_operation(tenant: Tenant, operation: Operation) -> None:
    if operation not in tenant.operations:
        may = ", ".join(sorted(tenant.operations)) or "nothing"
        raise Refused(403, "not-permitted", f"this key is not for {operation!s}", f"it is for {may}")


def refuse_workflow(tenant: Tenant, definition_id: str) -> None:
    """Raise Refused if *tenant* may not use the definition of that id, whether it exists or not."""
    if not tenant.has_workflow(definition_id):
        raise Refused(403, "not-permitted", f"this key is not for the definition {definition_id!r}")


def _claims(claims: Mapping[str, Any], wanted: Mapping[str, str]) -> bool:
    return all(value in _values(claims.get(name)) for name, value in wanted.items())


def _values(claim: object) -> list[str]:
    """Return the values of a claim: the elements of a list, or a text and its words, as in `scope`."""
    if isinstance(claim, str):
        return [claim, *claim.split()]
    return [str(one) for one in claim] if isinstance(claim, list) else [] if claim is None else [str(claim)]


def _hashed(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="replace")).digest()
