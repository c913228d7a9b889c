"""The credentials that an OpenAPI document asks for. Section "AuthRef Definition"."""

from dataclasses import replace
from typing import Any

from swf_temporal.base.calls import Auth, AuthRef
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.functions.auth.auth import Credential, find_auth
from swf_temporal.functions.auth.credentials import properties_of
from swf_temporal.functions.auth.schemes import matching, secret_of
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.documents import Document
from swf_temporal.functions.openapi.operations import OpenApiOperation


def secure(
    document: Document, operation: OpenApiOperation, server: str, call: Call
) -> tuple[Call, tuple[Credential, ...]]:
    """Return *call* with the auths that the operation asks for in place of its own, and the credentials to add.

    The credentials are those of the auth that the function names, or else of the secret of the scheme. Of several
    possibilities the first counts for which there are some. Without an auth and such a secret the call stays as it is.
    Raises CallFailed if the auth lacks what the document asks for.
    """
    if operation.security is None:
        return call, ()
    references = call.function.auth_ref
    named = find_auth(references.invocation, call) if references and references.invocation else None
    for alternative in filter(None, operation.security):
        offered = [_offered(document, name, list(scopes), server, named, call) for name, scopes in alternative.items()]
        found = [one for one in offered if one is not None]
        if len(found) == len(offered):
            return _with(call, found)
    if not all(operation.security) or not operation.security:
        return _with(call, [])
    if named is None:
        return call, ()
    wanted = " or ".join(" and ".join(f"'{name}'" for name in alternative) for alternative in operation.security)
    message = f"the document '{document.name}' asks for {wanted}, and auth '{named.name}' has no credentials for that"
    raise permanent_failure("BadAuth", message)


def _with(call: Call, offered: list[Auth | Credential]) -> tuple[Call, tuple[Credential, ...]]:
    auths = [one for one in offered if isinstance(one, Auth)]
    references = call.function.auth_ref
    changed = AuthRef(resource=references.resource if references else None, invocation=auths[0].name if auths else None)
    function = replace(call.function, auth_ref=changed)
    credentials = tuple(one for one in offered if isinstance(one, Credential))
    return replace(call, function=function, auth=(*auths, *call.auth)), credentials


def _offered(
    document: Document, name: str, scopes: list[JSON], server: str, named: Auth | None, call: Call
) -> Auth | Credential | None:
    scheme = _scheme(document, name)
    for auth in (named, secret_of(name, call)):
        if auth is not None:
            offered = matching(scheme, scopes, server, auth, properties_of(auth, call))
            if offered is not None:
                return offered
    return None


def _scheme(document: Document, name: str) -> dict[str, Any]:
    content = document.content
    components = content if document.is_swagger else document.resolve(content.get("components"))
    declared = document.resolve(components.get("securityDefinitions" if document.is_swagger else "securitySchemes"))
    if name not in declared:
        raise permanent_failure(
            "BadDocument", f"'{document.name}' asks for the security scheme '{name}', which is not in it"
        )
    return document.resolve(declared[name])
