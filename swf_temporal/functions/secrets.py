"""What are a worker's secrets, and how are they kept out of what people read?"""

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Self
from urllib.parse import quote, quote_plus

import yaml

from swf_temporal.data import JSON
from swf_temporal.errors import UsageError
from swf_temporal.functions.call import refusal
from swf_temporal.functions.operator.settings import environment_name

_PREFIX = "SWF_SECRET_"
_SHORTEST = 4
_HIDDEN = "***"


class Secrets:
    """The secrets that a worker knows, by the names that definitions give them."""

    def __init__(self, values: Mapping[str, JSON] | None = None) -> None:
        self._values = {environment_name(name): value for name, value in (values or {}).items()}

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Self:
        """Return the secrets in the file that `SWF_SECRETS_FILE` names, and in variables `SWF_SECRET_<NAME>`.

        A variable wins over the file; one that holds a JSON object is read as that. Raises UsageError for a
        file that cannot be read as a JSON or YAML object.
        """
        values = _from_file(env["SWF_SECRETS_FILE"]) if env.get("SWF_SECRETS_FILE") else {}
        found = cls(values)
        for key, text in env.items():
            if key.startswith(_PREFIX):
                found._values[key.removeprefix(_PREFIX)] = _structured(text)
        return found

    def get(self, name: str) -> JSON:
        """Return the secret *name*, in any case, with dots or dashes. Raises KeyError if there is none."""
        return self._values[environment_name(name)]

    def as_mapping(self, names: Iterable[str]) -> dict[str, JSON]:
        """Return those of *names* that are known here, each under the name that was asked for."""
        return {name: self._values[environment_name(name)] for name in names if environment_name(name) in self._values}

    def entrusted(self, names: Iterable[str]) -> dict[str, JSON]:
        """Return all of *names* for a call. Raises CallFailed, which no repetition mends, if one is not known here."""
        wanted = list(names)
        known = self.as_mapping(wanted)
        for name in wanted:
            if name not in known:
                variable = f"{_PREFIX}{environment_name(name)}"
                how = f"a worker is given it by {variable} or SWF_SECRETS_FILE"
                raise refusal("UnknownSecret", f"the secret {name!r} is not known here: {how}")
        return known


def scrub(value: JSON, secrets: Mapping[str, JSON]) -> JSON:
    """Return *value* with every secret of four characters or more in its texts replaced by `***`.

    A secret is also known as URLs, forms, JSON and base64 have it; what stands under no name, such as the many tokens
    that a worker may hold, only as it is.
    """
    named = set(_texts([secret for name, secret in secrets.items() if name]))
    spelled = {spelling for text in named for spelling in _spellings(text)}
    hidden = sorted({*spelled, *_texts(secrets.get(""))}, key=len, reverse=True)
    return _scrubbed(value, hidden) if hidden else value


@lru_cache(maxsize=1024)
def _spellings(text: str) -> frozenset[str]:
    """Return how *text* is written by those who send it, and by those who send it back."""
    content = text.encode(errors="replace")
    inner = (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
    urls = (quote(content, safe=""), quote(content), quote_plus(content))
    encoded = [encode(content).decode().rstrip("=") for encode in (b64encode, urlsafe_b64encode)]
    return frozenset({text, *inner, *urls, *encoded})


def _scrubbed(value: JSON, hidden: list[str]) -> JSON:
    if isinstance(value, str):
        for secret in hidden:
            value = value.replace(secret, _HIDDEN)
        return value
    if isinstance(value, list):
        return [_scrubbed(item, hidden) for item in value]
    if isinstance(value, dict):
        return {str(_scrubbed(key, hidden)): _scrubbed(item, hidden) for key, item in value.items()}
    return value


def _texts(value: JSON) -> Iterable[str]:
    """Yield the texts in *value* that are long enough to be told from ordinary words."""
    if isinstance(value, str) and len(value) >= _SHORTEST:
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))


def _structured(text: str) -> JSON:
    """Return the object that *text* is as JSON, or else *text*: a password of digits stays a text."""
    try:
        value = json.loads(text) if text.lstrip().startswith("{") else text
    except ValueError:
        return text
    return value if isinstance(value, dict) else text


def _from_file(name: str) -> dict[str, JSON]:
    try:
        values = yaml.safe_load(Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"the secrets file {name} cannot be read: {reason}", "see SWF_SECRETS_FILE") from error
    except yaml.YAMLError:
        # The parser's message would show the line, and what stands there is secret.
        raise UsageError(f"the secrets file {name} is neither JSON nor YAML", "see SWF_SECRETS_FILE") from None
    if not isinstance(values, dict):
        raise UsageError(f"the secrets file {name} does not hold an object", "see SWF_SECRETS_FILE")
    return {str(key): value for key, value in values.items()}
