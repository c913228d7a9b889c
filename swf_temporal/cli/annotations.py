"""Problems in formats for code hosts: SARIF, and GitHub's workflow commands, which are shown beside the lines."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from swf_temporal import __version__
from swf_temporal.base.errors import Problem, Severity
from swf_temporal.migration.report import MEANINGS, Migration

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final[Mapping[str, str]] = {
    Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note",
    "rewritten": "note", "differs": "warning", "by hand": "error",
}  # fmt: skip
_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_ESCAPED: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_ESCAPED_WITHIN: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def sarif_of_problems(problems: Iterable[Problem]) -> dict[str, Any]:
    """Return *problems* as SARIF 2.1.0."""
    found = list(problems)
    rules = [{"id": code} for code in sorted({one.code for one in found})]
    results = [
        _result(one.code, one.severity, _with(one.message, one.hint), one.file, one.position.line, one.position.column)
        for one in found
    ]
    return _log("swf validate", rules, results)


def sarif_of_migration(migration: Migration) -> dict[str, Any]:
    """Return the findings of *migration* as SARIF 2.1.0."""
    rules = [{"id": kind, "shortDescription": {"text": meaning}} for kind, meaning in MEANINGS.items()]
    results = [
        _result(one.kind, one.kind, _with(one.message, one.hint), one.file.partition("#")[0], one.line)
        for one in migration.findings
    ]
    return _log("swf migrate", rules, results)


def github_commands(problems: Iterable[Problem]) -> str:
    """Return *problems* as GitHub workflow commands: a job prints them to annotate the code."""
    lines = []
    for one in problems:
        facts = {"file": one.file, "line": one.position.line, "col": one.position.column, "title": one.code}
        told = ",".join(f"{key}={str(value).translate(_ESCAPED_WITHIN)}" for key, value in facts.items())
        lines.append(f"::{_COMMANDS[one.severity]} {told}::{_with(one.message, one.hint).translate(_ESCAPED)}\n")
    return "".join(lines)


def _with(message: str, hint: str | None) -> str:
    return f"{message}\n{hint}" if hint else message


def _result(rule: str, level: str, text: str, file: str, line: int | None, column: int | None = None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": file}}
    if line is not None:
        place["region"] = {"startLine": line, **({} if column is None else {"startColumn": column})}
    return {
        "ruleId": rule,
        "level": _LEVELS[level],
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }


def _log(name: str, rules: list[dict[str, Any]], results: list[dict[str, Any]]) -> dict[str, Any]:
    driver = {"name": name, "version": __version__, "rules": rules}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
