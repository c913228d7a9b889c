"""Data of instances as pages show them: the beginning. It is taken from the JSON that was sent, and no more is read."""

import re
from typing import Final

from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter

from swf_temporal.base.strict_json import NotJSON, read_written, show_json
from swf_temporal.http.console.pages import MOST_SHOWN, cut, shown_json

_TOKEN: Final = re.compile(r'\{\s*\}|\[\s*\]|[{}\[\],:]|"(?:[^"\\]+|\\.)*"?|[^\s{}\[\],:"]+', re.DOTALL)
_WIDEST: Final = 6
"""The bytes that a character takes at most, as JSON."""
_JSON: Final = b"json/plain"


def shown_payload(payload: Payload, converter: DataConverter) -> str:
    """Return what *payload* holds, which *converter* has decoded, as indented JSON, cut if it is long."""
    if payload.metadata.get("encoding") == _JSON:
        return cut(*indented(payload.data, MOST_SHOWN))
    return shown_json(next(iter(converter.payload_converter.from_payloads([payload])), None))


def indented(written: bytes, most: int) -> tuple[str, bool]:
    """Return *most* characters of *written*, which is JSON, with lines and indents, and whether there are more."""
    known = written[: _WIDEST * (most + 1)]
    pieces, length, depth = list[str](), 0, 0
    for found in _TOKEN.finditer(known.decode(errors="ignore")):
        token = found[0]
        depth += _DEEPER.get(token, 0)
        piece = _piece(token, "\n" + "  " * max(depth, 0))
        pieces.append(piece)
        length += len(piece)
        if length > most:
            break
    return "".join(pieces)[:most], length > most or len(known) < len(written)


_DEEPER: Final = {"{": 1, "[": 1, "}": -1, "]": -1}


def _piece(token: str, line: str) -> str:
    match token[0]:
        case _ if token in ("{", "[", ","):
            return token + line
        case "}" | "]":
            return line + token
        case ":":
            return ": "
        case "{" | "[":
            return token[0] + token[-1]
        case '"' if "\\" in token:
            try:
                return show_json(read_written(token))
            except NotJSON:  # it is cut
                return token
    return token
