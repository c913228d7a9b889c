"""How does an AsyncAPI document want to know who is calling?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from swf_temporal.calls import Auth
from swf_temporal.data import JSON
from swf_temporal.functions.asyncapi.brokers.port import Credentials
from swf_temporal.functions.asyncapi.operations import Possibilities
from swf_temporal.functions.auth.auth import Key, find_auth, key_for
from swf_temporal.functions.auth.credentials import key_in, properties_of
from swf_temporal.functions.auth.schemes import matching, secret_named
from swf_temporal.functions.call import Call, permanent_failure

_MECHANISMS = {
    "userPassword": None,
    "plain": "PLAIN",
    "scramSha256": "SCRAM-SHA-256",
    "scramSha512": "SCRAM-SHA-512",
}
"""The schemes that ask for a name and a password, and how SASL calls them."""
_BEYOND = frozenset({"gssapi", "symmetricEncryption", "asymmetricEncryption"})
_CERTIFICATE = Key("certificate", "", "")
"""What the operator's settings for TLS prove."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Who is calling, as far as it is known before tokens are fetched."""

    call: Call
    """With the auths that `auths` name."""
    auths: tuple[str, ...] = ()
    keys: tuple[Key, ...] = ()
    mechanism: str | None = None


def prove(document: str, demands: Sequence[Possibilities], call: Call) -> Proof:
    """Return what proves who is calling, one of the possibilities of each of *demands*.

    The credentials are those of the auth that the function names, or else of a secret that is called like the
    scheme. Without an auth and such a secret nothing is proven, and the server decides; where nothing is demanded, the
    function's auth counts as it is. Raises CallFailed if the auth lacks what the document asks for.
    """
    references = call.function.auth_ref
    named = find_auth(references.invocation, call) if references and references.invocation else None
    if not any(demands):
        return Proof(call, (named.name,) if named else ())
    auths: list[Auth] = []
    keys: list[Key] = []
    mechanism: str | None = None
    for possibilities in filter(None, demands):
        chosen = _first(document, possibilities, named, call)
        for scheme, proof in chosen:
            if isinstance(proof, Auth):
                auths.append(proof)
                mechanism = _MECHANISMS.get(str(scheme.get("type"))) or mechanism
            elif proof is not _CERTIFICATE:
                keys.append(proof)
    return Proof(replace(call, auth=(*auths, *call.auth)), tuple(auth.name for auth in auths), tuple(keys), mechanism)


def credentials(proof: Proof, call: Call, *, by_http: bool) -> Credentials:
    """Return *proof* as a broker takes it; *call* has tokens for its auths. *by_http* is for what begins with HTTP."""
    found = Credentials(mechanism=proof.mechanism)
    headers: list[tuple[str, str]] = []
    for key in proof.keys:
        if key.where == "user":
            found = replace(found, username=key.value)
        elif key.where == "password":
            found = replace(found, password=key.value)
        elif key.where == "header":
            headers.append((key.name, key.value))
        elif key.where == "cookie":
            headers.append(("Cookie", f"{key.name}={quote(key.value, safe='')}"))
    for name in proof.auths:
        properties = properties_of(find_auth(name, call), call)
        key_of_auth = key_for(name, call) if by_http else None
        if key_of_auth is not None:
            headers.append((key_of_auth.name, key_of_auth.value))
        found = replace(
            found,
            username=found.username or _text(properties.get("username")),
            password=found.password or _text(properties.get("password")),
            token=found.token or _text(properties.get("token")),
        )
    return replace(found, headers=tuple(headers))


def _first(
    document: str, possibilities: Possibilities, named: Auth | None, call: Call
) -> list[tuple[dict[str, Any], Auth | Key]]:
    """Return the proofs of the first possibility for which there are any."""
    for possibility in filter(None, possibilities):
        proofs = [(scheme, _proof(scheme, name, scopes, named, call)) for name, (scheme, scopes) in possibility.items()]
        found = [(scheme, proof) for scheme, proof in proofs if proof is not None]
        if len(found) == len(proofs):
            return found
    if not all(possibilities):
        return []
    kinds = {str(scheme.get("type")) for possibility in possibilities for scheme, _ in possibility.values()}
    if kinds <= _BEYOND:
        message = f"the document '{document}' asks for security of type '{min(kinds)}', which is not carried out here"
        raise permanent_failure("Unsupported", message)
    if named is None:
        return []
    wanted = " or ".join(" and ".join(f"'{name}'" for name in possibility) for possibility in possibilities)
    message = f"the document '{document}' asks for {wanted}, and auth '{named.name}' has no credentials for that"
    raise permanent_failure("BadAuth", message)


def _proof(scheme: dict[str, Any], name: str, scopes: list[JSON], named: Auth | None, call: Call) -> Auth | Key | None:
    kind = str(scheme.get("type"))
    if kind == "X509":
        return _CERTIFICATE
    if kind in _BEYOND:
        return None
    for auth in (named, secret_named(name, call)):
        if auth is None:
            continue
        properties = properties_of(auth, call)
        if kind in _MECHANISMS:
            proof: Auth | Key | None = matching({"type": "http", "scheme": "basic"}, [], "", auth, properties)
        elif kind == "apiKey":
            key = key_in(properties)
            proof = None if key is None else Key(str(scheme.get("in")), "", key)
        else:
            known = {**scheme, "type": "apiKey"} if kind == "httpApiKey" else scheme
            proof = matching(known, scopes, "", auth, properties)
        if proof is not None:
            return proof
    return None


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) else None
