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


class FollowedModules:
    """Modules of functions during development: they are imported again once one of their files has changed.

    Their files include the modules that they import from their own folders, except installed packages.
    """

    def __init__(self, modules: Iterable[str], allowed: tuple[str, ...] | None = None) -> None:
        """Import *modules*; both arguments are those of `functions_of`. Raises UsageError if one fails."""
        self._modules = list(modules)
        self._allowed = allowed
        self._before = frozenset(sys.modules)
        self.registry = functions_of(self._modules, allowed)
        self._stamps = self._stamped()

    def refresh(self) -> bool:
        """Import the modules again if a file has changed; return True if so.

        Raises UsageError, once for a change, if that fails: the registry remains as it was.
        """
        stamps = self._stamped()
        if stamps == self._stamps:
            return False
        for name, _ in self._imported():
            del sys.modules[name]
        importlib.invalidate_caches()
        self._stamps = stamps
        self.registry = functions_of(self._modules, self._allowed)
        self._stamps = self._stamped()
        return True

    def _stamped(self) -> dict[Path, int | None]:
        named = [Path(name) for name in self._modules if name.endswith(".py")]
        return {file: _changed(file) for file in [*named, *(file for _, file in self._imported())]}

    def _imported(self) -> list[tuple[str, Path]]:
        """Return the names and files of the modules, and of those in their folders, that were imported for them."""
        folders = tuple(f"{Path(name).resolve().parent}{os.sep}" for name in self._modules if name.endswith(".py"))
        packages = {name.partition(".")[0] for name in self._modules if not name.endswith(".py")}
        found = []
        for name, module in list(sys.modules.items()):
            file, package = getattr(module, "__file__", None), name.partition(".")[0]
            if not isinstance(file, str) or not file.endswith(".py") or "site-packages" in file:
                continue
            is_ours = name in self._before or package == "swf_temporal"
            if not is_ours and (package in packages or file.startswith(folders)):
                found.append((name, Path(file)))
        return found


def _changed(file: Path) -> int | None:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return None


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
