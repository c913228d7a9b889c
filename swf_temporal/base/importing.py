"""Imports of modules whose names are values."""

from types import ModuleType
from typing import Any

from swf_temporal.base.errors import permanent_failure


def module_named(name: str) -> ModuleType:
    """Return the module *name*, as an import statement does.

    `importlib.import_module` asks nobody: in the SDK's sandbox it runs the module once more, even where imports are
    passed through, and its classes are others than the worker's.
    """
    return __import__(name, fromlist=("__name__",))


def optional(module: str, extra: str, what: str) -> Any:
    """Return *module*, which the extra of that name brings for *what*. Raises CallFailed if it is not installed."""
    try:
        return module_named(module)
    except ImportError as error:
        message = f"{what} need {error.name or module}: pip install 'swf-temporal[{extra}]'"
        raise permanent_failure("NotInstalled", message) from error
