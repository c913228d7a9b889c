"""What several applications say of the services that one worker calls for all of them."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from swf_temporal.migration.configuration import Configuration, Option, Said
from swf_temporal.migration.contents import Project
from swf_temporal.migration.owners import Called, has_settings_of
from swf_temporal.migration.report import Finding
from swf_temporal.text.properties import Owner, PropertiesText

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
                if self._project.has_properties(application, file):
                    settings[said.owner.identity, said.option] = said

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
