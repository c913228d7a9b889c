"""The parts of a URL, and where one leads from another. Services and documents also give texts that are not URLs."""

from urllib.parse import SplitResult, urljoin, urlsplit

from swf_temporal.base.errors import permanent_failure


def split_url(url: str) -> SplitResult:
    """Return the parts of *url*. Raises CallFailed if its host cannot be one."""
    try:
        return urlsplit(url)
    except ValueError as error:
        raise permanent_failure("BadUrl", f"'{url}' is not a URL: {error}") from error


def join_url(base: str, url: str) -> str:
    """Return where *url* leads from *base*. Raises CallFailed if a host in them cannot be one."""
    try:
        return urljoin(base, url)
    except ValueError as error:
        raise permanent_failure("BadUrl", f"'{url}', relative to '{base}', is not a URL: {error}") from error
