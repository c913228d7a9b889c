"""The keys that have names as values, for editors."""

from typing import Final

from swf_temporal.languages.marks import Kind, NameKeys

NAMES: Final = NameKeys(
    defining={"states": Kind.STATE, "functions": Kind.FUNCTION},
    referring={"transition": Kind.STATE, "defaultTransition": Kind.STATE, "function": Kind.FUNCTION},
    at={("start", "state"): Kind.STATE},
)
