"""Applications of one project that have settings of their own: a worker that serves all of them has one of each.

In Kubernetes each workflow is an application, whose ConfigMap speaks of its clients alone.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from swf_temporal.migration.configuration import Configuration, Option, Said
from swf_temporal.migration.findings import Finding
from swf_temporal.migration.owners import Called, has_settings_of
from swf_temporal.text.clients import Owner
from swf_temporal.text.properties import PropertiesText

_Place: TypeAlias = tuple[tuple[str, str], Option]
_HINT = "let a worker of its own serve each, with a configuration and secrets of its own"


class Sharing:
    """What the properties of all applications say of each setting, and whether they agree."""

    def __init__(self, functions: Iterable[Called]) -> None:
        self._functions = list(functions)
        self._said: dict[str | None, dict[_Place, Said]] = {}
        """By the name of the workflow: what its properties say; None has those that are no application of their own."""
        for one in self._functions:
            self._said.setdefault(one.workflow, {})

    def add(self, file: PropertiesText, made: Configuration) -> None:
        """Take in what one *file* of properties made: it counts before those that were taken in earlier."""
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
        """Yield what tells of the settings that are not."""
        for said in self._settings():
            if self._differ(said):
                one = said[0]
                what = f"the secret {one.owner}" if one.owner.scope == "secrets" else f"{one.key}: {one.owner}"
                message = f"{what} is not the same for all workflows that have it, and one worker serves them all"
                yield Finding(one.file, one.line, "by hand", message, _HINT)

    def _settings(self) -> Iterator[list[Said]]:
        """Yield, for each setting, what is said of it."""
        for place in dict.fromkeys(place for said in self._said.values() for place in said):
            yield [said[place] for said in self._said.values() if place in said]

    def _differ(self, said: list[Said]) -> bool:
        """Tell whether not all applications that have the setting say the same."""
        owner, place = said[0].owner, (said[0].owner.identity, said[0].option)
        if len({one.value for one in said}) > 1:
            return True
        having = {one.workflow for one in self._functions if has_settings_of(one, owner)}
        return owner.scope != "secrets" and any(place not in self._said[workflow] for workflow in having)
