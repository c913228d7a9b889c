"""How does a request show who is calling, and that it is the same call as before?"""

from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import parse_qsl, quote, urlsplit

from swf_temporal.functions.auth.auth import Key, key_for
from swf_temporal.functions.call import Call
from swf_temporal.functions.http.requests import Request


def signed(request: Request, call: Call) -> Request:
    """Return *request* as the function's: with its credentials, and the idempotency key if it changes anything."""
    request = replace(request, function=call.function.name)
    references = call.function.auth_ref
    key = key_for(references.invocation if references else None, call)
    request = with_keys(request, () if key is None else (key,))
    given = {name.lower() for name, _ in request.headers}
    if request.is_safe or not call.idempotency_key or "idempotency-key" in given:
        return request
    return replace(request, headers=(*request.headers, ("Idempotency-Key", call.idempotency_key)))


def with_keys(request: Request, keys: Iterable[Key]) -> Request:
    """Return *request* with *keys*; what is set already stays as it is."""
    url, headers = request.url, list(request.headers)
    for key in keys:
        name = key.name.lower()
        if key.where == "query":
            if key.name in (given for given, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True)):
                continue
            url += f"{'&' if '?' in url else '?'}{quote(key.name, safe='')}={quote(key.value, safe='')}"
        elif key.where == "cookie":
            before = [value for name, value in headers if name.lower() == "cookie"]
            headers = [(name, value) for name, value in headers if name.lower() != "cookie"]
            headers.append(("Cookie", "; ".join([*before, f"{key.name}={quote(key.value, safe='')}"])))
        elif name not in {given.lower() for given, _ in headers}:
            headers.append((key.name, key.value))
    return replace(request, url=url, headers=tuple(headers))
