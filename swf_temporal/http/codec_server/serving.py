"""Serving the codec server until the process is asked to stop.

It imports the application, which needs an extra, when it serves.
"""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from swf_temporal.base.errors import MissingExtra, UsageError
from swf_temporal.sdk.logs import log_lines
from swf_temporal.settings.http import CodecServerSettings, read_codec_server_settings
from swf_temporal.settings.payloads import PLAIN, PayloadSettings
from swf_temporal.settings.values import Address
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.converter import converter_of


def prepare(
    address: Address, origins: Sequence[str], config: Path | None, **log: object
) -> tuple[CodecServerSettings, PayloadSettings]:
    """Return the settings of a codec server, and of the payloads that it reads.

    It logs to stderr as the settings of workers say, which *log* overrides. Raises UsageError.
    """
    payloads = PayloadSettings.read(file=config)
    if payloads == PLAIN:
        hint = "give the configuration of the workers with --config or SWF_CONFIG"
        raise UsageError("payloads are neither encrypted, compressed nor stored: there is nothing to decode", hint)
    settings = read_codec_server_settings(os.environ, address, origins, file=config)
    converter_of(payloads)  # reports wrong keys and storage now
    logging = WorkerSettings.read(file=config, with_secrets=False, arguments=log)
    log_lines(logging.log_format, logging.log_level)
    return settings, payloads


async def serve(
    settings: CodecServerSettings,
    payloads: PayloadSettings,
    ready: Callable[[str], None],
    tls: Mapping[str, Path],
) -> int:
    """Serve until cancelled, with the options of `tls_files` (*tls*); call *ready* with the URL. Raises UsageError."""
    try:
        from swf_temporal.http.codec_server.application import codec_application  # noqa: PLC0415 - of an extra
        from swf_temporal.sdk.asgi_server import asgi_server  # noqa: PLC0415 - of an extra
    except ImportError as error:
        raise MissingExtra("codec-server", "the codec server", error.name) from None
    application = codec_application(settings, lambda namespace: converter_of(payloads, namespace))
    async with asgi_server(application, settings.address, "choose another with --host and --port", **tls) as address:
        ready(f"{'https' if tls else 'http'}://{address}")
        await asyncio.Event().wait()
    return 0
