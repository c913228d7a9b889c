"""Small modules: one that only one other module imports belongs in it, unless a reason keeps them apart."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from swf_temporal.cli.lazy import COMMANDS

ROOT = Path(__file__).parents[2]
MIN_LINES = 100
LOADED_BY_NAME = {f"swf_temporal.cli.{command.module}" for command in COMMANDS.values()} | {
    f"swf_temporal.functions.{path.parent.name}.type" for path in ROOT.glob("swf_temporal/functions/*/type.py")
}
"""Modules that a table names: they are light, and import what does the work when it is needed."""
PROGRAMS = {
    *("swf_temporal.cli.entry", "swf_temporal.temporal.process_watchdog"),
    "swf_temporal.functions.processes.quickjs_process",
}
"""Modules at which a process begins."""


def _modules() -> dict[str, Path]:
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in ROOT.glob("swf_temporal/**/*.py")}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def _is_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _imports(tree: ast.AST, is_late: bool = False) -> Iterator[tuple[str, bool]]:  # noqa: FBT001, FBT002 - of a recursion
    """Yield the name of each imported thing, and whether it is imported in a function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from ((f"{node.module}.{one.name}", is_late) for one in node.names)
        elif isinstance(node, ast.Import):
            yield from ((one.name, is_late) for one in node.names)
        # No expression imports, and what is only for type checkers is not imported at all.
        elif not isinstance(node, ast.expr) and not (isinstance(node, ast.If) and _is_checking(node.test)):
            yield from _imports(node, is_late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_a_small_module_with_one_importer_has_a_reason() -> None:
    """It is imported only when it is needed, stands in its package's list of a kind, or is loaded by its name."""
    modules = _modules()
    importers: defaultdict[str, dict[str, bool]] = defaultdict(dict)
    for name, path in modules.items():
        for imported, is_late in _imports(ast.parse(path.read_text(encoding="utf-8"))):
            module = imported if imported in modules else imported.rpartition(".")[0]
            if module in modules and module != name:
                importers[module][name] = is_late and importers[module].get(name, True)
    without = []
    for name, found in importers.items():
        is_small = len(modules[name].read_text(encoding="utf-8").splitlines()) < MIN_LINES
        if not is_small or len(found) != 1 or modules[name].name == "__init__.py":
            continue
        [(importer, is_late)] = found.items()
        if not (is_late or importer == name.rpartition(".")[0] or name in LOADED_BY_NAME | PROGRAMS):
            without.append(f"{name} is imported by {importer} alone")
    assert without == [], "move it into the module that imports it"
