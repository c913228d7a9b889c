"""A person's request: who sent it, what that person may do, and the form that was sent.

Sessions are not stored here: any gateway answers any browser, and a revoked key ends its sessions. Those that people
have ended are: a copy of their cookie is not answered by the gateway that they were ended at.
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
"""The form field with the token against cross-site request forgery."""
MAX_KEY_BYTES: Final = 2800
"""The number of bytes of a key that a cookie can hold: browsers drop cookies of more than 4,096."""
_PATH: Final = "/console"


@dataclass(frozen=True, slots=True)
class Session:
    key: str = field(default="", repr=False)
    """An API key or a JWT; empty if the person has not logged in."""
    secret: str = field(default_factory=lambda: token_urlsafe(24), repr=False)
    """A secret known to the browser alone."""

    @classmethod
    def of(cls, request: Request) -> Self | None:
        """Return the session of *request*; None if it has no readable cookie."""
        secret, _, key = request.cookies.get(COOKIE, "").partition(".")
        if not secret:
            return None
        try:
            return cls(urlsafe_b64decode(key.encode()).decode(), secret)
        except ValueError:
            return None

    @property
    def csrf(self) -> str:
        """The token that forms of this session have to send."""
        return sha256(f"{CSRF}\n{self.secret}".encode()).hexdigest()

    def has_sent(self, csrf: str) -> bool:
        return hmac.compare_digest(csrf.encode(errors="replace"), self.csrf.encode())

    def keep(self, request: Request, response: Response) -> None:
        """Store the session in the browser until that is closed."""
        value = f"{self.secret}.{urlsafe_b64encode(self.key.encode()).decode()}"
        is_secure = request.url.scheme == "https" or _was_https(request)
        response.set_cookie(COOKIE, value, path=_PATH, secure=is_secure, httponly=True, samesite="strict")


def _was_https(request: Request) -> bool:
    """Return True if a proxy says that the browser's request came by HTTPS. It is the first of several."""
    proto = request.headers.get("x-forwarded-proto", "").partition(",")[0]
    first = request.headers.get("forwarded", "").partition(",")[0].split(";")
    pairs = {name.strip().lower(): value.strip(' "') for name, _, value in (one.partition("=") for one in first)}
    return "https" in (proto.strip().lower(), pairs.get("proto", "").lower())


class EndedSessions:
    """The sessions that people have ended at this gateway, as far as there is room: the latest."""

    def __init__(self) -> None:
        self._ended: dict[str, None] = {}

    def __contains__(self, session: Session) -> bool:
        return session.csrf in self._ended

    def end(self, session: Session, response: Response) -> None:
        """End *session*, here and in the browser."""
        self._ended[session.csrf] = None
        if len(self._ended) > _MAX_ENDED:
            del self._ended[next(iter(self._ended))]
        response.delete_cookie(COOKIE, path=_PATH, httponly=True, samesite="strict")


_MAX_ENDED: Final = 100_000


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
        """The values that every page gets."""
        return {
            "csrf": self.session.csrf,
            "may": {str(one): self.may(one) for one in Operation},
            "has_tasks": Operation.TASKS in self.asked.tenant.operations,
            "tenant": None if self.asked.settings.is_open else self.asked.tenant.name,
        }

    def may(self, operation: Operation) -> bool:
        """Return whether the person may do this here. Where the console is read-only, people may only look."""
        is_barred = self.asked.settings.console_read_only and operation in _CHANGING
        return operation in self.asked.tenant.operations and not is_barred

    def refuse(self, operation: Operation) -> None:
        """Raise Refused if the person may not do this here."""
        refuse_operation(self.asked.tenant, operation)
        if not self.may(operation):
            raise Refused(403, "read-only", "this console is read-only", "see gateway › consoleReadOnly")

    def query(self, name: str) -> str:
        return self.asked.request.query_params.get(name, "").strip()

    async def form(self) -> Mapping[str, str]:
        """Return the fields of the form that was sent. Raises Refused unless a page of this session has sent it."""
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
        """Answer with *text* as a download."""
        where = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
        return Response(text.encode(), media_type=media, headers=HEADERS | {"Content-Disposition": where})


def redirect(path: str) -> Response:
    return RedirectResponse(path, 303, HEADERS)


Show: TypeAlias = Callable[[Visit], Awaitable[Response]]
