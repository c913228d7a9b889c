"""The raw content of files that are named by the URLs of their pages on GitHub and GitLab."""

import re
from typing import Final
from urllib.parse import urlsplit

_GITHUB: Final = re.compile(r"/(?P<repo>[^/]+/[^/]+?)(?:\.git)?/(?:tree|blob|raw)/(?P<ref>[^/]+)(?P<path>/.*)?")
_GITHUB_AT: Final = re.compile(r"/(?P<repo>[^/]+/[^/]+)(?P<path>/[^@]+)@(?P<ref>[^/@]+)")
_GITHUB_ROOT: Final = re.compile(r"/(?P<repo>[^/]+/[^/]+?)(?:\.git)?/?")
_GITLAB: Final = re.compile(r"(?P<before>.+)/-/(?:tree|blob)(?P<path>/.+)")
_FIXED: Final = re.compile(r"v?\d+(?:\.\d+)*(?:[-+].*)?|[0-9a-f]{40}|HEAD")
"""A tag with a version, or a commit: any other reference is taken as a branch."""


def raw(uri: str) -> str:
    """Return *uri*, or the URL of the raw content if it is a page of GitHub or GitLab."""
    try:
        parts = urlsplit(uri)
        host = (parts.hostname or "").lower()
    except ValueError:
        return uri
    if host in ("github.com", "www.github.com"):
        found = _GITHUB.fullmatch(parts.path) or _GITHUB_AT.fullmatch(parts.path)
        if found is None:
            whole = _GITHUB_ROOT.fullmatch(parts.path)
            return uri if whole is None else f"https://raw.githubusercontent.com/{whole['repo']}/HEAD"
        ref = found["ref"] if _FIXED.fullmatch(found["ref"]) else f"refs/heads/{found['ref']}"
        return f"https://raw.githubusercontent.com/{found['repo']}/{ref}{found['path'] or ''}"
    gitlab = _GITLAB.fullmatch(parts.path)
    if gitlab is not None:
        return f"{parts.scheme}://{parts.netloc}{gitlab['before']}/-/raw{gitlab['path']}"
    is_project = host == "gitlab.com" and "/-/" not in parts.path and "." not in parts.path.rpartition("/")[2]
    return f"{uri.rstrip('/')}/-/raw/HEAD" if is_project else uri
