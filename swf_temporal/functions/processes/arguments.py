"""The arguments of functions that start processes."""

from collections.abc import Mapping
from typing import Final

from swf_temporal.base.strict_json import write_json
from swf_temporal.functions.named_arguments import NamedArguments
from swf_temporal.functions.processes.running import checked_environment

RETURNS: Final = ("stdout", "stderr", "code", "all", "none")


class ProcessArguments(NamedArguments):
    """The arguments of a call that starts a process."""

    def stdin(self) -> str:
        """Return the standard input: a text as it is, anything else as JSON."""
        value = self.value("stdin")
        return value if isinstance(value, str) else "" if value is None else write_json(value, ensure_ascii=False)

    def environment(self) -> Mapping[str, str]:
        """Return the environment. Raises CallFailed if it is invalid."""
        return checked_environment(self.pairs("environment"))
