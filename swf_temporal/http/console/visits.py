"""A request of a person: who asks, what that person may do, and the form that was sent.

Nothing is kept here: any gateway answers any browser, and a key that does not count any longer ends its sessions.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias
from urllib.parse import parse_qsl, quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from swf_temporal.http.console.pages import HEADERS, page
from swf_temporal.http.gateway.authentication import refuse_operation
from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.http.gateway.requests import RequestContext
from swf_temporal.settings.http import Operation

if TYPE_CHECKING:
    from swf_temporal.http.console.drawing import Drawing
    from swf_temporal.http.console.watching import Watching


COOKIE: Final = "swf-console"
CSRF: Final = "csrf"
"""The field of forms that tells that a page of the console has sent them."""
MAX_KEY_BYTES: Final = 2800
"""How many bytes of a key a cookie can hold: browsers drop those of more than 4,096."""
_PATH: Final = "/console"


@dataclass(frozen=True, slots=True)
class Session:
    key: str = field(default="", repr=False)
    """An API key or a JWT; empty where nobody has logged in."""
    secret: str = field(default_factory=lambda: token_urlsafe(24), repr=False)
    """What only the browser knows."""

    @classmethod
    def of(cls, request: Request) -> Self | None:
        """Return the session that *request* belongs to; None if it has no cookie that can be read."""
        secret, _, key = request.cookies.get(COOKIE, "").partition(".")
        if not secret:
            return None
        try:
            return cls(urlsafe_b64decode(key.encode()).decode(), secret)
        except ValueError:
            return None

    @property
    def csrf(self) -> str:
        """What forms of this session say to be from its pages."""
        return sha256(f"{CSRF}\n{self.secret}".encode()).hexdigest()

    def has_sent(self, csrf: str) -> bool:
        return hmac.compare_digest(csrf.encode(errors="replace"), self.csrf.encode())

    def keep(self, request: Request, response: Response) -> None:
        """Let the browser keep the session until it is closed."""
        value = f"{self.secret}.{urlsafe_b64encode(self.key.encode()).decode()}"
        is_secure = "https" in (request.url.scheme, request.headers.get("x-forwarded-proto"))
        response.set_cookie(COOKIE, value, path=_PATH, secure=is_secure, httponly=True, samesite="strict")


def end_session(response: Response) -> None:
    """Let the browser forget its session."""
    response.delete_cookie(COOKIE, path=_PATH, httponly=True, samesite="strict")


_MAX_FIELDS: Final = 1000
_CHANGING: Final = (Operation.EVENTS, Operation.START, Operation.END, Operation.TASKS, Operation.RERUN)


@dataclass(frozen=True, slots=True)
class Visit:
    asked: RequestContext
    session: Session
    watching: "Watching"
    drawing: "Drawing"

    @property
    def values(self) -> dict[str, Any]:
        """What every page is given."""
        return {
            "csrf": self.session.csrf,
            "may": {str(one): self.may(one) for one in Operation},
            "has_tasks": Operation.TASKS in self.asked.tenant.operations,
            "tenant": None if self.asked.settings.is_open else self.asked.tenant.name,
            "ui": self.asked.client.server.ui,
        }

    def may(self, operation: Operation) -> bool:
        """Tell whether the person may do that here. Where the console is read-only, all may only look."""
        is_barred = self.asked.settings.console_read_only and operation in _CHANGING
        return operation in self.asked.tenant.operations and not is_barred

    def refuse(self, operation: Operation) -> None:
        """Raise Refused if the person may not do that here."""
        refuse_operation(self.asked.tenant, operation)
        if not self.may(operation):
            raise Refused(403, "read-only", "this console is read-only", "see gateway › consoleReadOnly")

    def query(self, name: str) -> str:
        return self.asked.request.query_params.get(name, "").strip()

    async def form(self) -> Mapping[str, str]:
        """Return the fields of the form that was sent. Raises Refused if no page of this session has sent it."""
        body = await self.asked.body()
        try:
            text = body.decode()
            fields = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict"))
        except ValueError:
            raise Refused(400, "bad-form", "this is not a form of this console") from None
        if not self.session.has_sent(fields.pop(CSRF, "")):
            raise Refused(
                403, "other-page", "the form was not sent by a page of this session", "go back, and reload it"
            )
        return {name: value.replace("\r\n", "\n") for name, value in fields.items()}

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        return page(template, status, **self.values, **values)

    def download(self, text: str, name: str, media: str = "text/plain; charset=utf-8") -> Response:
        """Answer with *text* for the browser to save."""
        where = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
        return Response(text.encode(), media_type=media, headers=HEADERS | {"Content-Disposition": where})


def redirect(path: str) -> Response:
    return RedirectResponse(path, 303, HEADERS)


Show: TypeAlias = Callable[[Visit], Awaitable[Response]]
