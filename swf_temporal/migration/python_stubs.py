"""Python functions in the place of Java methods: their names and parameters, and nothing that they do."""

import keyword
import re
from collections.abc import Mapping
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_HEAD: Final = '''"""What the definitions called in Java: each function is to be written.

Run a worker with `--functions functions.py`.
"""

from typing import Any
'''


def stubs(functions: Mapping[str, tuple[str, ...]]) -> str:
    """Return a module with a function for each name, whose parameters have the names given."""
    return _HEAD + "".join(_stub(name, parameters) for name, parameters in sorted(functions.items()))


def _stub(name: str, parameters: tuple[str, ...]) -> str:
    plain = [one for one in parameters if _NAME.fullmatch(one) and not keyword.iskeyword(one)]
    if len(plain) < len(parameters):
        taken = "arguments: dict[str, Any]"
    elif plain:
        taken = ", ".join(f"{one}: Any" for one in plain)
    else:
        taken = "arguments: Any = None"
    return f'\n\ndef {name}({taken}) -> Any:\n    raise NotImplementedError("{name} is to be written")\n'
