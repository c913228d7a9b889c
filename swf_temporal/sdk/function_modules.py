"""The functions that a worker offers: from installed packages, and from given modules and files."""

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from swf_temporal.base.errors import UsageError
from swf_temporal.functions.custom.modules import installed, offered_by
from swf_temporal.functions.registry import Registry


def functions_of(modules: Iterable[str], allowed: tuple[str, ...] | None = None) -> Registry:
    """Return the functions, and types of functions, of installed packages and *modules*; the latter have precedence.

    Installed packages and modules only count if *allowed* names them; None allows all. A module is the path of a Python
    file, or a dotted name. It offers the content of its registries; without a registry, its public functions by their
    names. `module:function` names them too: a file is the module of the same name. Raises UsageError if one fails.
    """
    offered = installed(allowed)
    for name in modules:
        found = offered_by(import_module_or_file(name), Path(name).stem if name.endswith(".py") else name)
        if not found and not found.types:
            raise UsageError(
                f"{name} has no functions", "it offers the functions in its registries, or its public functions"
            )
        offered.include(found)
    return offered


def import_module_or_file(name: str) -> ModuleType:
    """Return the module with a dotted name, or a Python file as a module. Raises UsageError if importing it fails."""
    file = Path(name) if name.endswith(".py") else None
    if file is not None and not file.is_file():
        raise UsageError(f"there is no file {file}")
    if file is None and (os.sep in name or Path(name).is_file()):
        raise UsageError(f"{name} is not a Python file", "functions are in a file that ends in .py, or in a module")
    try:
        if file is not None:
            return _run_file(file)
        # As `python -m` does: modules in the current folder can be imported.
        if "" not in sys.path:
            sys.path.insert(0, "")
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        why = error.message if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
        raise UsageError(f"the functions in {name} cannot be imported: {why}") from error


def _run_file(file: Path) -> ModuleType:
    # A distinct name, so that a file called json.py does not replace the module of that name.
    specification = importlib.util.spec_from_file_location(f"functions in {file}", file)
    if specification is None or specification.loader is None:
        raise UsageError("it is not a Python module")
    module = importlib.util.module_from_spec(specification)
    sys.path.append(str(file.parent.resolve()))
    specification.loader.exec_module(module)
    return module
