"""Recovery of a draft's definition without its malformed parts.

All problems are reported at once: the well-formed parts are still validated by the rules. Malformed parts are replaced
by stand-ins with the same name, so that references to them are not reported as dangling.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from pydantic import ValidationError

from swf_temporal.base.errors import Problem, Severity
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.text.located import Object

_ROUNDS: Final = 8
"""The maximum number of rounds that remove malformed parts. Each may reveal problems that were hidden before."""
_OF_ABSENCE: Final = {
    "empty-list", "missing", "num-completed", "schedule", "start", "switch-conditions", "transition-or-end",
}  # fmt: skip
"""The codes of problems about something missing."""

N = TypeVar("N", bound=Node)


@dataclass(frozen=True, slots=True)
class Recovery(Generic[N]):
    """Recovers definitions of one draft without their malformed parts."""

    model: type[N]
    stand_ins: Mapping[str, Mapping[str, Any]]
    """Harmless stand-ins, by the key of the list that contains them."""

    def recover(self, root: Object, refused: ValidationError) -> N | None:
        """Return the definition in *root* without its malformed parts, or None if too little is left."""
        for _ in range(_ROUNDS):
            for details in refused.errors(include_url=False, include_context=False, include_input=False):
                self._take_out(root, details["loc"])
            try:
                return self.model.model_validate(root)
            except ValidationError as again:
                refused = again
        return None

    def _take_out(self, root: Object, path: tuple[int | str, ...]) -> None:
        """Replace the innermost state or definition on *path* by a stand-in with the same name."""
        value: Any = root
        place: tuple[list[Any], int, str] | None = None
        key = ""
        for step in path:
            if isinstance(value, dict) and step in value:
                key, value = str(step), value[step]
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                place = (value, step, key) if key in self.stand_ins else place
                value = value[step]
        if place is None:
            root.pop(str(path[0]) if path else "", None)
            if path and path[0] == "id":
                root["id"] = "unnamed"
            return
        items, index, key = place
        name = items[index].get("name") if isinstance(items[index], dict) else None
        items[index] = {**self.stand_ins[key], "name": name if isinstance(name, str) else f"unnamed {key} {index}"}


def of_what_is_left(found: list[Problem]) -> list[Problem]:
    """Return the problems that cannot be caused by the removal of malformed parts."""
    return [one for one in found if one.severity is Severity.ERROR and one.code not in _OF_ABSENCE]
