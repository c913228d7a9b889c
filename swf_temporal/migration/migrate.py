"""Migrates a SonataFlow project: makes a report on everything in it, and the files that replace it.

In Kubernetes each workflow is an application, whose ConfigMap configures only its own clients.
"""

import keyword
import posixpath
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from swf_temporal.base.errors import InvalidDefinition, UsageError
from swf_temporal.base.files import refuse_outside
from swf_temporal.base.function_types import environment_name
from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.base import Upgraded
from swf_temporal.languages.known import migrate as rewritten
from swf_temporal.migration.checking import checked
from swf_temporal.migration.configuration import SCOPES, configuration, put_secret, secret_start
from swf_temporal.migration.configuration import write as write_setting
from swf_temporal.migration.contents import Part, Project
from swf_temporal.migration.owners import Called, functions_of
from swf_temporal.migration.project import project_at
from swf_temporal.migration.report import Finding, Kind, MigratedFile, Migration
from swf_temporal.migration.sharing import Sharing
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_data
from swf_temporal.text.properties import in_production
from swf_temporal.text.yaml_text import write_yaml

_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_NO_WORD: Final = re.compile(r"\W+|^(?=\d)")
_FUNCTIONS: Final = "functions.py"
_HEAD: Final = '''"""What the definitions call that has no counterpart, such as Java: each function is to be written.

Run a worker with `--functions functions.py`.
"""

from typing import Any

from swf_temporal import Registry

registry = Registry()
'''


def stubs(functions: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """Return a module that registers a function under each name, whose parameters have the names given.

    One that is named with different parameters takes all of them as one.
    """
    parameters: dict[str, set[tuple[str, ...]]] = {}
    for name, taken in functions:
        parameters.setdefault(name, set()).add(taken)
    return _HEAD + "".join(
        _stub(name, () if len(several) > 1 else several.pop()) for name, several in sorted(parameters.items())
    )


def _stub(name: str, parameters: tuple[str, ...]) -> str:
    plain = [one for one in parameters if _NAME.fullmatch(one) and not keyword.iskeyword(one)]
    if len(plain) < len(parameters):
        taken = "arguments: dict[str, Any]"
    elif plain:
        taken = ", ".join(f"{one}: Any" for one in plain)
    else:
        taken = "arguments: Any = None"
    word = _NO_WORD.sub("_", name)
    called = f"{word}_" if keyword.iskeyword(word) else word
    return (
        f"\n\n@registry.custom({show_json(name)})\ndef {called}({taken}) -> Any:\n"
        f"    raise NotImplementedError({show_json(f'{name} is to be written')})\n"
    )


_KINDS: dict[str, Kind] = {
    "respelled": "rewritten", "changed": "rewritten", "differs": "differs", "refused": "differs",
    "inexpressible": "by hand",
}  # fmt: skip


_SERVED: Final = re.compile(r"function '(\w+)': (?![^$]*\$WORKFLOW)")
"""A finding about a function that the configuration may let something else serve."""


def migrate(path: Path) -> Migration:
    """Return the findings at *path*, and the files to write in its place. Raises UsageError."""
    project = project_at(path)
    migrating = _Migrating(project)
    apart = migrating.shared.apart() | migrating.entangled
    if apart:
        migrating = _Migrating(project, apart)
    return migrating.done()


class _Migrating:
    """Migrates a project, with services named after their applications for those that are *apart*."""

    def __init__(self, project: Project, apart: Container[str] = ()) -> None:
        self._project, self._apart = project, apart
        self._findings: list[Finding] = list(project.findings)
        self._files = dict(project.documents)
        self._functions: list[Called] = []
        self._to_write: tuple[tuple[str, tuple[str, ...]], ...] = ()
        self._taken: set[str] = set()
        """The properties that are used by constants of definitions."""
        self._secrets: list[tuple[str | None, str, tuple[str, ...]]] = []
        """The properties that functions are given as secrets, each with its application, and the path of the secret."""
        self._unknown: dict[tuple[str, ...], str] = {}
        """The paths of secrets that functions are given, and that are not among the properties; and a definition."""
        self._told: dict[str, tuple[str, ...]] = {}
        """How findings begin that are by hand already, by the paths of the definitions."""
        self._written: dict[str, Part] = {}
        """The definitions, by their paths in the migrated project."""
        for part in project.parts:
            self._definition(part)
        self.shared = Sharing(self._functions, project)
        self.entangled: frozenset[str] = frozenset()
        """Applications whose services are to be told apart by the names of the applications."""
        self._settings, self._named_secrets = self._configuration()

    def done(self) -> Migration:
        """Return everything, checked as it is written."""
        if self._settings:
            self._files["swf.yaml"] = write_yaml(self._settings).encode()
        if self._named_secrets:
            text = write_yaml(self._named_secrets)
            self._files["secrets.example.yaml"] = text.encode()
            self._findings += _to_set(self._unknown, self._named_secrets, text)
        if self._to_write and not (self._project.root / _FUNCTIONS).exists():  # it may be written already
            self._files[_FUNCTIONS] = stubs(self._to_write).encode()
            self._findings += _to_write(self._to_write)
        files = tuple(MigratedFile(place, content) for place, content in sorted(self._files.items()))
        self._findings += checked(files, self._written, self._told)
        names = tuple(part.name for part in self._project.parts)
        return Migration(names, tuple(self._findings), files)

    def _definition(self, part: Part) -> None:
        application = part.application if part.application is not None and part.application in self._apart else ""
        try:
            upgraded = rewritten(Source(part.text, part.name), self._properties_of(part), application=application)
        except InvalidDefinition as invalid:
            for one in invalid.problems:
                line, message = one.position.line + part.line, f"{one.code}: {one.message}"
                self._findings.append(Finding(part.name, line, "by hand", message, one.hint, task="definitions"))
            self._files[part.place] = part.text.encode()
            return
        self._files[part.place] = upgraded.text.encode()
        self._written[part.place] = part
        self._note(part, upgraded)
        self._functions += functions_of(_data(upgraded.text), part.name, part.application)
        self._to_write += upgraded.to_write
        self._taken.update(upgraded.properties)
        for path, key in upgraded.secrets.items():
            if key is not None:
                self._secrets.append((part.application, key, path))
            else:
                self._unknown[path] = part.name
        told = [f"{one.message.partition(':')[0]}: " for one in upgraded.changes if one.kind == "inexpressible"]
        self._told[part.place] = tuple(told)

    def _properties_of(self, part: Part) -> dict[str, str]:
        """Return the properties that apply to a definition."""
        return in_production(self._project.properties_of(part.application))

    def _note(self, part: Part, upgraded: Upgraded) -> None:
        for one in upgraded.changes:
            line = None if one.line is None else one.line + part.line
            kind = _KINDS[one.kind]
            found = _SERVED.match(one.message) if kind == "by hand" else None
            start = None if found is None else f"functions:\n  {found[1]}: {{operation: 'MODULE:{found[1]}'}}"
            self._findings.append(Finding(part.name, line, kind, one.message, one.hint, start, "definitions"))

    def _configuration(self) -> tuple[dict[str, Any], dict[str, Any]]:
        settings: dict[str, Any] = {}
        secrets: dict[str, Any] = {}
        for file in self._project.properties:
            if file.profile not in (None, "prod"):
                message = f"properties only for the profile {file.profile!r} are not written"
                self._findings.append(Finding(file.name, 1, "differs", message, "write the part that production needs"))
                continue
            meant = [one for one in self._functions if self._project.has_properties(one.application, file)]
            given: dict[str, list[tuple[str, ...]]] = {}
            for application, key, path in self._secrets:
                if self._project.has_properties(application, file):
                    given.setdefault(key, []).append(path)
            made = configuration(file, meant, self._taken, self._functions, given)
            _merge(settings, {key: value for key, value in made.settings.items() if key not in SCOPES})
            self.shared.add(file, made)
            self.entangled |= made.entangled
            for path in made.secrets:
                put_secret(secrets, path)
            self._findings += made.findings
        for path in self._unknown:
            put_secret(secrets, path)
        self._findings += self.shared.findings()
        for said in self.shared.agreed():
            write_setting(settings, said)
        return settings, secrets


def _to_write(functions: Iterable[tuple[str, tuple[str, ...]]]) -> Iterator[Finding]:
    """Yield a finding for each function that is to be written in Python."""
    lines = stubs(functions).splitlines()
    for name in sorted({name for name, _ in functions}):
        line = lines.index(f"@registry.custom({show_json(name)})") + 1
        message, start = f"the function {name!r} is to be written", "\n".join(lines[line - 1 : line + 1])
        yield Finding(_FUNCTIONS, line, "by hand", message, None, start, "functions", _FUNCTIONS)


def _to_set(unknown: Mapping[tuple[str, ...], str], secrets: Mapping[str, Any], text: str) -> Iterator[Finding]:
    """Yield a finding for each path of *secrets*, which are written as *text*, whose value is *unknown*."""
    lines, file = text.splitlines(), "secrets.example.yaml"
    for path, definition in unknown.items():
        found = (number for number, line in enumerate(lines, 1) if line.startswith((f"{path[0]}:", f"'{path[0]}':")))
        message = f"$SECRET.{'.'.join(path)} of {definition} is not among the properties: functions are given a secret"
        hint = f"set SWF_SECRET_{environment_name(path[0])} to the value that it has there"
        yield Finding(
            file, next(found, None), "by hand", message, hint, secret_start(path[0], secrets[path[0]]), "secrets", file
        )


def _merge(into: dict[str, Any], other: dict[str, Any]) -> None:
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        elif isinstance(value, list) and isinstance(into.get(key), list):
            into[key] += value
        else:
            into[key] = value


def _data(text: str) -> Any:
    try:
        return read_data(text)
    except ValueError:
        return None


def write(migration: Migration, folder: Path) -> None:
    """Write the files of *migration* into *folder*. Raises UsageError if it has other files already."""
    for file in migration.files:
        place = posixpath.normpath(file.path)
        if place.startswith(("/", "..")):
            raise UsageError(f"{file.path} is outside of {folder}", "a ConfigMap may only name files of the project")
        path = folder / place
        try:
            refuse_outside(path, folder)
            if path.exists() and path.read_bytes() != file.content:
                raise UsageError(f"{path} exists already, with other content", "give a folder that is empty")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from None
