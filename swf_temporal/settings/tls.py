"""TLS: how servers are checked, and the certificate that a client shows."""

from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import ValidationInfo, model_validator

from swf_temporal.base.errors import UsageError
from swf_temporal.settings.configuration import NO_VARIABLE, Section, reading
from swf_temporal.settings.forms import File

if TYPE_CHECKING:
    import ssl


class Tls(Section):
    """TLS settings. By default: the system's certificate authorities, and no client certificate."""

    prefix: ClassVar[str] = "SWF_TLS_"

    verify: Annotated[bool, NO_VARIABLE] = True
    """Whether the server must prove who it is. It can be turned off for single hosts alone."""
    ca: File | None = None
    """A file of certificates, in PEM, of those who may vouch for a server."""
    cert: File | None = None
    """A file with the certificate that the client shows, in PEM."""
    key: File | None = None
    """A file with its key, if it is not in the same one."""

    @model_validator(mode="after")
    def _can_be_used(self, info: ValidationInfo) -> Self:
        if reading(info) is not None:
            self.context()
        return self

    def context(self) -> "ssl.SSLContext":
        """Return the context of such connections; one for all. Raises UsageError if a file cannot be used."""
        return _context(self)


def _usual_context() -> "ssl.SSLContext":
    import httpx  # noqa: PLC0415 - of all that settings are read for, few make a connection

    return httpx.create_ssl_context()


@lru_cache(maxsize=256)
def _context(tls: Tls) -> "ssl.SSLContext":
    import ssl  # noqa: PLC0415 - as above

    try:
        context = ssl.create_default_context(cafile=tls.ca) if tls.ca else _usual_context()
        if tls.cert is not None:
            context.load_cert_chain(tls.cert, tls.key)
    except (OSError, ValueError) as error:
        files = ", ".join(name for name in (tls.ca, tls.cert, tls.key) if name)
        raise UsageError(f"the certificates in {files} cannot be used: {error}", "they are files in PEM") from error
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
