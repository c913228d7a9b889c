"""The answers of OData services, in versions 2, 3 and 4."""

from swf_temporal.base.data import JSON

_COUNTS = ("@odata.count", "@count", "odata.count", "__count")
_LINKS = ("@odata.nextLink", "@nextLink", "odata.nextLink", "__next")
_ABOUT_THE_ANSWER = frozenset({"@odata.context", "@context", "odata.metadata"})


def entities(answer: JSON) -> JSON:
    """Return what *answer* holds without its wrapping: an array of entities, an entity, or a single value.

    If it tells the count, the result is `{count, value}`.
    """
    inner = _inner(answer)
    if not isinstance(inner, dict):
        return inner
    for wrapping in ("value", "results"):
        if wrapping in inner and all(key == wrapping or _is_annotation(key) for key in inner):
            return _counted(inner, inner[wrapping])
    return {key: value for key, value in inner.items() if key not in _ABOUT_THE_ANSWER}


def next_link(answer: JSON) -> str | None:
    """Return where the entities go on that are not in *answer*, or None."""
    inner = _inner(answer)
    links = [inner.get(name) for name in _LINKS] if isinstance(inner, dict) else []
    return next((link for link in links if isinstance(link, str)), None)


def error_in(answer: JSON) -> tuple[str, str]:
    """Return the code and the message of an answer that tells of an error; empty where it does not say."""
    if not isinstance(answer, dict):
        return "", ""
    error = answer.get("error", answer.get("odata.error"))
    if not isinstance(error, dict):
        return "", ""
    code, message = error.get("code"), error.get("message")
    if isinstance(message, dict):  # in versions 2 and 3 it has a language
        message = message.get("value")
    return "" if code is None else str(code), "" if message is None else str(message)


def _inner(answer: JSON) -> JSON:
    return answer["d"] if isinstance(answer, dict) and set(answer) == {"d"} else answer


def _counted(inner: dict[str, JSON], value: JSON) -> JSON:
    for name in _COUNTS:
        count = inner.get(name)
        if count is not None:  # version 2 writes numbers of 64 bits as texts
            return {"count": int(count) if isinstance(count, str) and count.isdecimal() else count, "value": value}
    return value


def _is_annotation(key: str) -> bool:
    return key.startswith(("@", "odata.", "__"))
