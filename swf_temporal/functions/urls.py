"""Splitting and joining URLs from services and documents, which may be invalid."""

from urllib.parse import SplitResult, urljoin, urlsplit

from swf_temporal.base.errors import permanent_failure


def split_url(url: str) -> SplitResult:
    """Return the parts of *url*. Raises CallFailed if its host is invalid."""
    try:
        return urlsplit(url)
    except ValueError as error:
        raise permanent_failure("BadUrl", f"'{url}' is not a URL: {error}") from error


def join_url(base: str, url: str) -> str:
    """Return *url* relative to *base*. Raises CallFailed if a host in them is invalid."""
    try:
        return urljoin(base, url)
    except ValueError as error:
        raise permanent_failure("BadUrl", f"'{url}', relative to '{base}', is not a URL: {error}") from error
