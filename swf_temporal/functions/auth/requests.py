"""Requests with the credentials of a function, and with the idempotency key."""

from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import parse_qsl, quote, urlsplit

from swf_temporal.functions.auth.auth import Credential, credential_for, digest_login
from swf_temporal.functions.call import IDEMPOTENCY_KEY, Call
from swf_temporal.functions.http.client import Request


def authenticated(request: Request, call: Call) -> Request:
    """Return *request* with the function's credentials, and the idempotency key if it changes anything."""
    request = replace(request, callee=call.callee)
    references = call.function.auth_ref
    request = with_auth(request, references.invocation if references else None, call)
    given = {name.lower() for name, _ in request.headers}
    if request.is_safe or call.key_in_headers is None or IDEMPOTENCY_KEY.lower() in given:
        return request
    return replace(request, headers=(*request.headers, (IDEMPOTENCY_KEY, call.key_in_headers)))


def with_auth(request: Request, name: str | None, call: Call) -> Request:
    """Return *request* with the credentials of the definition's auth *name*, if it is not None. Raises CallFailed."""
    login = digest_login(name, call)
    if login is None:
        key = credential_for(name, call)
        return with_credentials(request, () if key is None else (key,))
    is_set = any(name.lower() == "authorization" for name, _ in request.headers)
    return request if is_set else replace(request, login=login)


def with_credentials(request: Request, credentials: Iterable[Credential]) -> Request:
    """Return *request* with *credentials*, which do not override what is already set."""
    url, headers = request.url, list(request.headers)
    for credential in credentials:
        name = credential.name.lower()
        if credential.where == "query":
            if credential.name in (given for given, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True)):
                continue
            url += f"{'&' if '?' in url else '?'}{quote(credential.name, safe='')}={quote(credential.value, safe='')}"
        elif credential.where == "cookie":
            before = [value for name, value in headers if name.lower() == "cookie"]
            headers = [(name, value) for name, value in headers if name.lower() != "cookie"]
            headers.append(("Cookie", "; ".join([*before, f"{credential.name}={quote(credential.value, safe='')}"])))
        elif name not in {given.lower() for given, _ in headers}:
            headers.append((credential.name, credential.value))
    return replace(request, url=url, headers=tuple(headers))
