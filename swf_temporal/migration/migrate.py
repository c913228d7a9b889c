"""Migrates a SonataFlow project: makes a report on everything in it, and the files that replace it.

In Kubernetes each workflow is an application, whose ConfigMap configures only its own clients.
"""

import keyword
import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from swf_temporal.base.errors import InvalidDefinition, Problem, Severity, UsageError
from swf_temporal.base.files import refuse_outside
from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.base import Upgraded
from swf_temporal.languages.known import migrate as rewritten
from swf_temporal.languages.loading import check
from swf_temporal.migration.configuration import SCOPES, Configuration, Option, Said, configuration
from swf_temporal.migration.configuration import write as write_setting
from swf_temporal.migration.project import Called, Part, Project, functions_of, has_settings_of, project_at
from swf_temporal.migration.report import Finding, Kind, MigratedFile, Migration
from swf_temporal.text.fetching.resources import Resources
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_data
from swf_temporal.text.properties import Owner, PropertiesText, in_production
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


_Place: TypeAlias = tuple[tuple[str, str], Option]
_HINT = "serve each with a separate worker, which has its own configuration and secrets"


class Sharing:
    """Settings that all applications share, and conflicts between their properties."""

    def __init__(self, functions: Iterable[Called]) -> None:
        self._functions = list(functions)
        self._said: dict[str | None, dict[_Place, Said]] = {}
        """The settings of each workflow, by its name; None has those of workflows without their own application."""
        for one in self._functions:
            self._said.setdefault(one.workflow, {})

    def add(self, file: PropertiesText, made: Configuration) -> None:
        """Add the settings made from one *file* of properties, which override those that were added earlier."""
        secrets = (
            Said(Owner("secrets", name), (option,), value, name, None, file.name)
            for name, options in made.secrets.items()
            for option, value in options.items()
        )
        for said in (*made.said, *secrets):
            for workflow in self._said if file.workflow is None else (file.workflow,):
                self._said.setdefault(workflow, {})[said.owner.identity, said.option] = said

    def agreed(self) -> Iterator[Said]:
        """Yield the settings that are the same for all that have them."""
        for said in self._settings():
            if said[0].owner.scope != "secrets" and not self._differ(said):
                yield said[0]

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
        having = {one.workflow for one in self._functions if has_settings_of(one, owner)}
        return owner.scope != "secrets" and any(place not in self._said[workflow] for workflow in having)


_KINDS: dict[str, Kind] = {
    "respelled": "rewritten", "changed": "rewritten", "differs": "differs", "refused": "differs",
    "inexpressible": "by hand",
}  # fmt: skip
_TOLD = frozenset({"foreign-operation", "extension", "identity", "tolerated-spelling", "unused-definition"})
"""The codes of problems that have another finding already, or that change nothing."""
_REPEATED = frozenset({"expression-syntax", "secrets-in-expression"})
"""The codes of problems that repeat a finding of the same part, which is by hand already."""


def migrate(path: Path) -> Migration:
    """Return the findings at *path*, and the files to write in its place. Raises UsageError."""
    return _Migrating(project_at(path)).done()


class _Migrating:
    def __init__(self, project: Project) -> None:
        self._project = project
        self._findings: list[Finding] = []
        self._files: dict[str, bytes] = {}
        self._functions: list[Called] = []
        self._to_write: tuple[tuple[str, tuple[str, ...]], ...] = ()
        self._taken: set[str] = set()
        """The properties that are used by constants of definitions."""

    def done(self) -> Migration:
        for name, why in self._project.left_out:
            hint = "put the file in its place, if the project needs it"
            self._findings.append(Finding(name, None, "by hand", f"left out: {why}", hint))
        for part in self._project.parts:
            self._definition(part)
        self._files |= {
            place: content for place, content in self._project.documents.items() if place not in self._files
        }
        settings, secrets = self._configuration()
        if settings:
            self._files["swf.yaml"] = write_yaml(settings).encode()
        if secrets:
            self._files["secrets.example.yaml"] = write_yaml(secrets).encode()
        if self._to_write and not (self._project.root / _FUNCTIONS).exists():  # it may be written already
            self._files[_FUNCTIONS] = stubs(self._to_write).encode()
        files = tuple(MigratedFile(place, content) for place, content in sorted(self._files.items()))
        names = tuple(part.name for part in self._project.parts)
        return Migration(names, tuple(self._findings), files)

    def _definition(self, part: Part) -> None:
        try:
            upgraded = rewritten(Source(part.text, part.name), self._properties_of(part))
        except InvalidDefinition as invalid:
            self._problems(part, invalid.problems)
            self._files[part.place] = part.text.encode()
            return
        self._files[part.place] = upgraded.text.encode()
        self._note(part, upgraded)
        data = _data(upgraded.text)
        self._functions += functions_of(data, part.name, part.workflow or self._application(data))
        self._to_write += upgraded.to_write
        self._taken.update(upgraded.properties)
        resources = Resources.from_environment({**os.environ, "SWF_RESOURCE_FOLDERS": str(self._project.root)})
        checked = check(upgraded.text, name=part.name, folder=part.path.parent, resources=resources)
        told = [f"{one.message.partition(':')[0]}: " for one in upgraded.changes if one.kind == "inexpressible"]
        others = [one for one in checked.problems if one.code not in _REPEATED or not one.message.startswith((*told,))]
        self._problems(part, others, is_rewritten=upgraded.text != part.text)

    def _application(self, definition: Any) -> str | None:
        """Return the id of a *definition* in a file if it has its own ConfigMap."""
        name = definition.get("id") if isinstance(definition, dict) else None
        return next((one.workflow for one in self._project.properties if name and one.workflow == name), None)

    def _properties_of(self, part: Part) -> dict[str, str]:
        """Return the properties that apply to a definition: the common ones, and those in its ConfigMap."""
        return in_production(one for one in self._project.properties if one.workflow in (None, part.workflow))

    def _note(self, part: Part, upgraded: Upgraded) -> None:
        for one in upgraded.changes:
            line = None if one.line is None else one.line + part.line
            self._findings.append(Finding(part.name, line, _KINDS[one.kind], one.message, one.hint))

    def _problems(self, part: Part, problems: Any, *, is_rewritten: bool = False) -> None:
        """Add findings for the problems of a definition, with lines unless it was rewritten."""
        found: Iterator[Problem] = (one for one in problems if one.code not in _TOLD)
        for one in found:
            line = one.position.line + part.line if one.file == part.name and not is_rewritten else None
            kind: Kind = "by hand" if one.severity is Severity.ERROR else "differs"
            self._findings.append(Finding(part.name, line, kind, f"{one.code}: {one.message}", one.hint))

    def _configuration(self) -> tuple[dict[str, Any], dict[str, Any]]:
        settings: dict[str, Any] = {}
        secrets: dict[str, Any] = {}
        shared = Sharing(self._functions)
        for file in self._project.properties:
            if file.profile not in (None, "prod"):
                message = f"properties only for the profile {file.profile!r} are not written"
                self._findings.append(Finding(file.name, 1, "differs", message, "write the part that production needs"))
                continue
            meant = [one for one in self._functions if file.workflow in (None, one.workflow)]
            made = configuration(file, meant, self._taken, self._functions)
            _merge(settings, {key: value for key, value in made.settings.items() if key not in SCOPES})
            shared.add(file, made)
            secrets |= {secret: dict.fromkeys(fields, "…") for secret, fields in made.secrets.items()}
            self._findings += made.findings
        self._findings += shared.findings()
        for said in shared.agreed():
            write_setting(settings, said)
        return settings, secrets


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
