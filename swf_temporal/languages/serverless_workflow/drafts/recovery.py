"""The rest of a draft's definition without the parts that have the wrong form.

An author is told everything at once: so what does have the right form is still put before the rules. What is taken out
keeps its name, so that references to it are not called dangling.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from pydantic import ValidationError

from swf_temporal.base.errors import Problem, Severity
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.text.located import Object

_ROUNDS: Final = 8
"""The number of rounds in which parts are taken out. Each reveals what the ones before it hid."""
_OF_ABSENCE: Final = {
    "empty-list", "missing", "num-completed", "schedule", "start", "switch-conditions", "transition-or-end",
}  # fmt: skip
"""The codes of problems that consist in something not being there."""

N = TypeVar("N", bound=Node)


@dataclass(frozen=True, slots=True)
class Recovery(Generic[N]):
    """Recovers broken definitions of one draft, without their broken parts."""

    model: type[N]
    stand_ins: Mapping[str, Mapping[str, Any]]
    """Harmless stand-ins, by the key of the list that they stand in."""

    def recover(self, root: Object, refused: ValidationError) -> N | None:
        """Return the definition in *root* without its broken parts, or None if too little would be left."""
        for _ in range(_ROUNDS):
            for details in refused.errors(include_url=False, include_context=False, include_input=False):
                self._take_out(root, details["loc"])
            try:
                return self.model.model_validate(root)
            except ValidationError as again:
                refused = again
        return None

    def _take_out(self, root: Object, path: tuple[int | str, ...]) -> None:
        """Put a stand-in of the same name in the place of the innermost state or definition on *path*."""
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
    """Return the problems that what was taken out cannot be the reason of."""
    return [one for one in found if one.severity is Severity.ERROR and one.code not in _OF_ABSENCE]
