"""Migrates a SonataFlow project: makes a report on everything in it, and the files that replace it.

In Kubernetes each workflow is an application, whose ConfigMap configures only its own clients.
"""

import keyword
import os
import posixpath
import re
import tempfile
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from swf_temporal.base.errors import InvalidDefinition, Position, Problem, Severity, UsageError
from swf_temporal.base.files import DEFINITIONS, refuse_outside
from swf_temporal.base.function_types import environment_name, path_of
from swf_temporal.base.strict_json import show_json
from swf_temporal.functions.documents.local_documents import file_named
from swf_temporal.languages.base import UpgradeChange, Upgraded
from swf_temporal.languages.known import migrate as rewritten
from swf_temporal.languages.known import upgrade
from swf_temporal.languages.loading import check_file, conflicting, files_in
from swf_temporal.languages.port import Definition
from swf_temporal.migration.configuration import (
    SCOPES,
    Configuration,
    Option,
    Said,
    configuration,
    put_secret,
    secret_start,
)
from swf_temporal.migration.configuration import write as write_setting
from swf_temporal.migration.contents import Part, Project
from swf_temporal.migration.owners import Called, functions_of, has_settings_of
from swf_temporal.migration.project import project_at
from swf_temporal.migration.report import Finding, Kind, MigratedFile, Migration, Task
from swf_temporal.text.fetching.resources import Resources
from swf_temporal.text.origin import MissingResourceError, Resource, Source
from swf_temporal.text.parsing import read_data
from swf_temporal.text.properties import Owner, PropertiesText, in_production, named_in
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


def migrate(path: Path, to: str | None = None, namespace: str | None = None) -> Migration:
    """Return the findings at *path*, and the files to write in its place.

    With *to*, definitions are written in that version, in *namespace* if it has any. Raises UsageError.
    """
    project = project_at(path)
    target = None if to is None else partial(upgrade, to=to, namespace=namespace)
    migrating = _Migrating(project, target)
    apart = migrating.shared.apart() | migrating.entangled
    if apart:
        migrating = _Migrating(project, target, apart)
    return migrating.done()


def _placed(changes: Iterable[UpgradeChange], is_as_written: bool) -> tuple[UpgradeChange, ...]:  # noqa: FBT001 - of one use
    """Return *changes* with lines only if they are those of the text that the author has written."""
    return tuple(one if is_as_written else replace(one, line=None) for one in changes)


class _Migrating:
    """Migrates a project, with services named after their applications for those that are *apart*."""

    def __init__(
        self, project: Project, upgraded: Callable[..., Upgraded] | None = None, apart: Container[str] = ()
    ) -> None:
        """*upgraded* writes a definition in another version."""
        self._upgraded = upgraded
        self._project, self._apart = project, apart
        self._findings: list[Finding] = list(project.findings)
        self._files = dict(project.documents)
        self._functions: list[Called] = []
        self._to_write: tuple[tuple[str, tuple[str, ...]], ...] = ()
        self._taken: list[tuple[str | None, str]] = []
        """The properties that constants and auths of definitions are made of, each with its application."""
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
        """Applications whose services have the names of their applications before their own."""
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
            source, properties = Source(part.text, part.name), self._properties_of(part)
            upgraded = rewritten(source, properties, partial(self._document, part), application=application)
        except InvalidDefinition as invalid:
            for one in invalid.problems:
                line, message = one.position.line + part.line, f"{one.code}: {one.message}"
                self._findings.append(Finding(part.name, line, "by hand", message, one.hint, task="definitions"))
            self._files[part.place] = part.text.encode()
            return
        made = upgraded
        if self._upgraded is not None:
            fetch = partial(self._document, part)
            made = self._upgraded(Source(upgraded.text, part.name), fetch=fetch)
            made = replace(made, changes=(*upgraded.changes, *_placed(made.changes, upgraded.text == part.text)))
        self._files[part.place] = made.text.encode()
        self._written[part.place] = part
        self._note(part, made)
        self._functions += functions_of(_data(upgraded.text), part.name, part.application)
        self._to_write += made.to_write
        self._taken += ((part.application, key) for key in upgraded.properties)
        for path, key in upgraded.secrets.items():
            if key is not None:
                self._secrets.append((part.application, key, path))
            else:
                self._unknown[path] = part.name
        told = [f"{one.message.partition(':')[0]}: " for one in made.changes if one.kind == "inexpressible"]
        self._told[part.place] = tuple(told)

    def _document(self, part: Part, uri: str) -> Resource:
        """Return the document of the project that a definition names. Raises MissingResourceError."""
        place = posixpath.normpath(posixpath.join(posixpath.dirname(part.place), path_of(uri).lstrip("/")))
        if place not in self._project.documents:
            raise MissingResourceError
        return Resource(place, self._project.documents[place])

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
            taken = {key for application, key in self._taken if self._project.has_properties(application, file)}
            made = configuration(file, meant, taken, self._functions, given)
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


_TOLD: Final = frozenset({"foreign-operation", "extension", "identity", "tolerated-spelling", "unused-definition"})
"""The codes of problems that have another finding already, or that change nothing."""

_MISSING: Final = frozenset({"external-missing", "function-document"})
"""The codes of problems that are files which are not there."""


_REPEATED: Final = frozenset({"expression-syntax", "secrets-in-expression"})
"""The codes of problems that repeat a finding of the same part, which is by hand already."""


def checked(
    files: Iterable[MigratedFile], definitions: Mapping[str, Part], told: Mapping[str, tuple[str, ...]]
) -> list[Finding]:
    """Return the problems of the definitions in *files*, of which *definitions* has the originals by path.

    *told* has what findings begin with that there are already, by path.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        for one in files:
            path = folder / one.path
            if path.resolve().is_relative_to(folder):  # others are refused when they are written
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(one.content)
        return [_finding(one, folder, definitions) for one in _problems(folder, definitions, told)]


def _problems(folder: Path, definitions: Mapping[str, Part], told: Mapping[str, tuple[str, ...]]) -> Iterator[Problem]:
    environment = {**os.environ, "SWF_RESOURCE_FOLDERS": str(folder), "SWF_MODE": ""}
    resources = Resources.from_environment(environment)
    found: list[Definition] = []
    for file in files_in(folder):
        place = file.relative_to(folder).as_posix()
        one = check_file(file, resources=resources, folder=folder)
        for each in one.problems if place in definitions else ():
            is_repeated = each.code in _REPEATED and each.message.startswith(told.get(place, ()))
            if each.code not in _TOLD and not is_repeated:
                yield each
        if place not in definitions and one.definition is None and not file.name.endswith(DEFINITIONS):
            message = "a worker takes this file for a definition, and refuses it"
            yield Problem("no-definition", message, Position(), hint="keep it elsewhere", file=str(file))
        if one.definition is not None:
            found.append(one.definition)
    yield from conflicting(found)
    for definition in found:
        yield from _missing(definition, folder)


def _missing(definition: Definition, folder: Path) -> Iterator[Problem]:
    """Yield a problem for each function whose document is a file that is not there."""
    base = str(Path(definition.source.name).parent)
    for use in definition.functions:
        path = None if use.depends_on_data else file_named(use.function, base)
        if path is not None and not path.exists():
            name = os.path.relpath(path, folder)
            message = f"function {use.function.name!r}: its document {name!r} is not in the project"
            yield definition.problem("function-document", message, use.position, f"put the file at {name}")


def _finding(problem: Problem, folder: Path, definitions: Mapping[str, Part]) -> Finding:
    path = Path(problem.file)
    place = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else problem.file
    part = definitions.get(place)
    is_missing = problem.code in _MISSING
    kind: Kind = "by hand" if is_missing or problem.severity is Severity.ERROR else "differs"
    message = f"{problem.code}: {problem.message}".replace(f"{folder}/", "")
    hint = None if problem.hint is None else problem.hint.replace(f"{folder}/", "")
    name = place if part is None else part.name
    task: Task = "files" if is_missing else "definitions"
    return Finding(name, problem.position.line, kind, message, hint, task=task, written=place)


_Place: TypeAlias = tuple[tuple[str, str], Option]
_HINT = "serve each with a separate worker, which has its own configuration and secrets"


class Sharing:
    """Settings that all applications share, and conflicts between their properties."""

    def __init__(self, functions: Iterable[Called], project: Project) -> None:
        self._functions, self._project = list(functions), project
        self._said: dict[str | None, dict[_Place, Said]] = {one.application: {} for one in self._functions}
        """The settings of each application, by its name; None has those of definitions without an application."""

    def add(self, file: PropertiesText, made: Configuration) -> None:
        """Add the settings made from one *file* of properties, which override those that were added earlier."""
        secrets = (
            Said(Owner("secrets", path[0]), path[1:], value, path[0], None, file.name)
            for path, value in made.secrets.items()
        )
        for said in (*made.said, *secrets):
            if file.application is not None:
                self._said.setdefault(file.application, {})
            for application, settings in self._said.items():
                if self._project.has_properties(application, file) and self._is_of(application, said.owner):
                    settings[said.owner.identity, said.option] = said

    def _is_of(self, application: str | None, owner: Owner) -> bool:
        """Return False if what *owner* is called says that it is another application's."""
        others = (one for one in self._said if one is not None and one != application)
        return not any(owner.name.startswith(named_in(one, "")) for one in others)

    def agreed(self) -> Iterator[Said]:
        """Yield the settings that are the same for all that have them."""
        for said in self._settings():
            if said[0].owner.scope != "secrets" and not self._differ(said):
                yield said[0]

    def apart(self) -> frozenset[str]:
        """Return the applications that do not agree on what a service is."""
        found: set[str | None] = set()
        for said in self._settings():
            if self._differ(said):
                place = said[0].owner.identity, said[0].option
                found |= {name for name, settings in self._said.items() if place in settings}
                found |= {one.application for one in self._functions if has_settings_of(one, said[0].owner)}
        return frozenset(one for one in found if one is not None)

    def findings(self) -> Iterator[Finding]:
        """Yield a finding for each setting that is not the same for all."""
        for said in self._settings():
            if self._differ(said):
                one = said[0]
                what = f"the secret {one.owner}" if one.owner.scope == "secrets" else f"{one.key}: {one.owner}"
                message = f"{what} is not the same for all workflows that have it, and one worker serves them all"
                yield Finding(one.file, one.line, "by hand", message, _HINT)

    def _settings(self) -> Iterator[list[Said]]:
        """Yield the values of each setting in all applications."""
        for place in dict.fromkeys(place for said in self._said.values() for place in said):
            yield [said[place] for said in self._said.values() if place in said]

    def _differ(self, said: list[Said]) -> bool:
        """Return True if applications that have the setting disagree."""
        owner, place = said[0].owner, (said[0].owner.identity, said[0].option)
        if len({one.value for one in said}) > 1:
            return True
        having = {one.application for one in self._functions if has_settings_of(one, owner)}
        return owner.scope != "secrets" and any(place not in self._said[application] for application in having)
