"""An OAuth2 server that a library of others carries out: it issues, checks, exchanges and expires tokens."""

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc6749.errors import InvalidGrantError, InvalidRequestError
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
from flask import Flask, jsonify, request
from joserfc.jwk import OctKey
from werkzeug.serving import make_server

from tests.listening import listening

_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_METHODS = ("client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", "none")
_ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 - the name of a kind of token


@dataclass
class Client(ClientMixin):
    client_id: str
    secret: str
    method: str
    scopes: frozenset[str] = frozenset({"read", "write"})

    def get_client_id(self) -> str:
        return self.client_id

    def get_allowed_scope(self, scope: Collection[str] | str) -> str:
        return " ".join(one for one in str(scope or "").split() if one in self.scopes)

    def check_client_secret(self, client_secret: str) -> bool:
        return self.secret == client_secret

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return endpoint != "token" or method == self.method

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in {"client_credentials", "password", "authorization_code", "refresh_token", _EXCHANGE}


@dataclass
class Token(TokenMixin):
    text: str
    subject: str
    scope: str
    audience: str
    lifetime: int
    issued: float = field(default_factory=time.monotonic)

    def get_scope(self) -> str:
        return self.scope

    def is_expired(self) -> bool:
        return time.monotonic() >= self.issued + self.lifetime

    def is_revoked(self) -> bool:
        return False

    def check_client(self, client: Client) -> bool:
        return client.client_id == "app"


@dataclass
class Code:
    subject: str
    redirect_uri: str = ""

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return "read"


@dataclass
class Server:
    url: str = ""
    lifetime: int = 3600
    clients: dict[str, Client] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    codes: dict[str, Code] = field(default_factory=dict)
    refreshing: dict[str, Token] = field(default_factory=dict)
    """Refresh tokens, each of which may be used once."""
    assertions: list[dict[str, Any]] = field(default_factory=list)
    """The claims by which clients have authenticated."""
    public_key: Any = None
    """The key of clients that have one."""
    methods: list[str] = field(default_factory=lambda: ["client_secret_basic", "client_secret_post", "none"])


def _application(served: Server) -> Flask:  # noqa: C901 - one application, whose parts are the library's classes
    def save(token: dict[str, Any], asked: Any) -> None:
        subject = asked.user or asked.client.client_id
        audience = asked.form.get("audience", "")
        served.tokens[token["access_token"]] = Token(
            token["access_token"], subject, token.get("scope", ""), audience, served.lifetime
        )
        if "refresh_token" in token:
            text = token["refresh_token"]
            served.refreshing[text] = Token(text, subject, token.get("scope", ""), audience, served.lifetime)

    class Assertion(JWTBearerClientAssertion):
        def __init__(self, method: str) -> None:
            super().__init__()
            self._method = method

        def __call__(self, query_client: Any, request: Any) -> Any:
            client = query_client(request.form.get("client_id"))
            is_meant = client is not None and client.method == self._method
            return super().__call__(query_client, request) if is_meant else None  # type: ignore[no-untyped-call]

        def authenticate_client(self, client: Client) -> Client:
            return client

        def get_audiences(self) -> list[str]:
            return [f"{served.url}/realm/token", f"{served.url}/realm/oauth2/token"]

        def validate_jti(self, claims: Any, jti: str) -> bool:
            is_new = jti not in [one["jti"] for one in served.assertions]
            served.assertions.append(dict(claims))
            return is_new

        def resolve_client_public_key(self, client: Client) -> Any:
            return served.public_key if client.method == "private_key_jwt" else OctKey.import_key(client.secret)

    class Refresh(grants.RefreshTokenGrant):
        INCLUDE_NEW_REFRESH_TOKEN = True
        TOKEN_ENDPOINT_AUTH_METHODS = _METHODS

        def authenticate_refresh_token(self, refresh_token: str) -> Any:
            return served.refreshing.get(refresh_token)

        def authenticate_user(self, refresh_token: Token) -> str:
            return refresh_token.subject

        def revoke_old_credential(self, refresh_token: Any) -> None:
            del served.refreshing[refresh_token.text]

    class ByCode(grants.AuthorizationCodeGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = _METHODS

        def query_authorization_code(self, code: str, client: Any) -> Code | None:  # noqa: ARG002 - of all clients
            return served.codes.get(code)

        def authenticate_user(self, authorization_code: Code) -> str:
            return authorization_code.subject

        def delete_authorization_code(self, authorization_code: Code) -> None:
            [text] = [text for text, code in served.codes.items() if code is authorization_code]
            del served.codes[text]

    class Password(grants.ResourceOwnerPasswordCredentialsGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = _METHODS

        def authenticate_user(self, username: str, password: str) -> str | None:
            return username if (username, password) == ("ada", "pw & more") else None

    class ClientCredentials(grants.ClientCredentialsGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = _METHODS[:-1]

    class Exchange(grants.BaseGrant, grants.TokenEndpointMixin):
        """RFC 8693, as far as a test needs it; the library has none."""

        GRANT_TYPE = _EXCHANGE
        TOKEN_ENDPOINT_AUTH_METHODS = _METHODS[:-1]

        def validate_token_request(self) -> None:
            self.request.client = self.authenticate_token_endpoint_client()
            form = self.request.form
            if form.get("subject_token_type") != _ACCESS_TOKEN or bool(form.get("actor_token")) != bool(
                form.get("actor_token_type")
            ):
                raise InvalidRequestError("a token without its type")
            for name in ("subject_token", "actor_token"):
                if form.get(name) is not None and form[name] not in served.tokens:
                    raise InvalidGrantError(f"the {name} is not known")
            self.validate_requested_scope()

        def create_token_response(self) -> Any:
            form = self.request.form
            subject = served.tokens[form["subject_token"]].subject
            actor = form.get("actor_token") and f" by {served.tokens[form['actor_token']].subject}"
            self.request.user = f"{form.get('requested_subject', subject)}{actor or ''}"
            token = self.generate_token(scope=form.get("scope"), user=self.request.user, include_refresh_token=False)
            save(token, self.request)
            return 200, {**token, "issued_token_type": _ACCESS_TOKEN}, self.TOKEN_RESPONSE_HEADER

    class Validator(BearerTokenValidator):
        def authenticate_token(self, token_string: str) -> Token | None:
            return served.tokens.get(token_string)

    application = Flask(__name__)
    application.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
    server = AuthorizationServer(application, query_client=served.clients.get, save_token=save)
    for grant in (Password, ClientCredentials, Exchange, Refresh, ByCode):
        server.register_grant(grant)
    for method in ("client_secret_jwt", "private_key_jwt"):
        server.register_client_auth_method(method, Assertion(method))
    protect = ResourceProtector()
    protect.register_token_validator(Validator())

    @application.get("/realm/.well-known/openid-configuration")
    def about() -> Any:
        told = {"issuer": f"{served.url}/realm", "token_endpoint": f"{served.url}/realm/token"}
        return jsonify({**told, "token_endpoint_auth_methods_supported": served.methods})

    @application.post("/realm/token")
    @application.post("/realm/oauth2/token")
    def issue() -> Any:
        return server.create_token_response()

    @application.get("/orders")
    def orders() -> Any:
        with protect.acquire("read") as token:
            return jsonify({"for": token.subject, "audience": token.audience, "zone": request.args.get("zone")})

    return application


@contextmanager
def serving() -> Iterator[Server]:
    served = Server()
    server = make_server("127.0.0.1", 0, _application(served), threaded=True)
    served.url = f"http://127.0.0.1:{server.server_port}"
    with listening(server):
        yield served
