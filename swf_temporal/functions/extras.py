"""How is a library used that a worker need not have?"""

import importlib
from typing import Any

from swf_temporal.functions.call import permanent_failure


def optional(module: str, extra: str, what: str) -> Any:
    """Return *module*, which the extra of that name brings for *what*. Raises CallFailed if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        message = f"{what} need {error.name or module}: pip install 'swf-temporal[{extra}]'"
        raise permanent_failure("NotInstalled", message) from error
