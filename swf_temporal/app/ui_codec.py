"""A codec server for the UI of a development server, whose pages then show what workers encode."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from swf_temporal.app.option_values import Address
from swf_temporal.payloads.settings import PLAIN, PayloadSettings
from swf_temporal.temporal.converter import converter_of

_LOOPBACK = "127.0.0.1"
_HINT = "it takes any free port"


@asynccontextmanager
async def codec_for_ui(
    payloads: PayloadSettings, ui_port: int, tell: Callable[[str], None]
) -> AsyncIterator[list[str]]:
    """Decode *payloads* for the UI at *ui_port* as long as the context lasts; yield the options that tell it where.

    There are none if nothing is encoded. Only pages of that UI are answered, and only on this machine, so that no
    token is needed. *tell* is told what to install if the codec server is not.
    """
    if payloads == PLAIN:
        yield []
        return
    try:
        from swf_temporal.app.asgi_server import asgi_server  # noqa: PLC0415 - of an extra
        from swf_temporal.app.codec_server.application import codec_application  # noqa: PLC0415 - of an extra
        from swf_temporal.app.http_settings import CodecServerSettings  # noqa: PLC0415 - as above
    except ImportError as error:
        tell(f"the UI shows no payloads: that needs {error.name} (pip install 'swf-temporal[codec-server]')")
        yield []
        return
    origins = tuple(f"http://{host}:{ui_port}" for host in (_LOOPBACK, "localhost"))
    settings = CodecServerSettings(address=Address(_LOOPBACK, 0), origins=origins)
    application = codec_application(settings, lambda namespace: converter_of(payloads, namespace), is_logged=False)
    async with asgi_server(application, settings.address, _HINT) as address:
        yield ["--ui-codec-endpoint", f"http://{address}"]
