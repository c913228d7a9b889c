"""Matching of errors by catches and retry policies."""

from collections.abc import Iterable

from swf_temporal.languages.direktiv.globs import is_glob_of
from swf_temporal.languages.direktiv.model.workflow import Catch


def catch_for(code: str, catches: Iterable[Catch]) -> Catch | None:
    """Return the first of *catches* whose glob matches the whole of *code*."""
    return next((one for one in catches if is_glob_of(one.error, code)), None)
