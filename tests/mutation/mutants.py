"""Which mutants are there? mutmut makes them; each is a function of ours with one small change.

A file with mutants holds every function once as it was and once for each change, behind a switch that mutmut calls a
trampoline. So one import serves for all of them, and a process that is forked from it chooses one by its name.
"""

import ast
import difflib
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final, cast

import libcst as cst
from mutmut.mutation import mutators
from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.mutation.trampoline import set_mutant_under_test

from tests.mutation.mutant import PACKAGES, ROOT, Mutant

KEPT: Final = ROOT / ".mutation"
"""Where is kept what takes long to find out."""
JQ_PROCESS: Final = "swf_temporal.expressions.guarding.jq_process"
HELPERS: Final[Mapping[str, tuple[str, str]]] = {
    JQ_PROCESS: (
        "swf_temporal/expressions/guarding/helper.py",
        "self._await_answer(time.monotonic() + _STARTING_SECONDS",
    ),
    "swf_temporal.expressions.js_process": ("swf_temporal/expressions/js.py", "guard(JAVASCRIPT).run(text, None)"),
    "swf_temporal.expressions.jsonpath": ("swf_temporal/expressions/jsonpath.py", "ask(self._asked, text"),
}
"""Modules that run in processes of their own, where their mutants are files; and the line that starts or asks one."""

_IN_HELPER: Final = """
import importlib.util, runpy, sys

class _Finder:
    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_file_location(name, {mutated!r}) if name == {module!r} else None

sys.meta_path.insert(0, _Finder())
_run_path = runpy.run_path
runpy.run_path = lambda file: _run_path({mutated!r} if file == {original!r} else file)
"""
"""What lets a helper process run a file in the place of another."""


def _force(node: cst.If) -> Iterable[cst.If]:
    """Take an `if` one way whatever its condition says."""
    test = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    for operator, literal in ((cst.And(), "False"), (cst.Or(), "True")):
        yield node.with_changes(test=cst.BooleanOperation(left=test, operator=operator, right=cst.Name(literal)))


def _leave_out(node: cst.Expr | cst.Raise) -> Iterable[cst.Pass]:
    """Leave out what is only done: a call, or an error that is raised."""
    if not (isinstance(node, cst.Expr) and isinstance(node.value, cst.BaseString)):
        yield cst.Pass()


def _other_text(node: cst.BaseString) -> Iterable[cst.BaseString]:
    """Change a text once; mutmut's changes of case tell nothing that this one does not."""
    yield from list(mutators.operator_string(node))[:1]


def _choose_operators() -> None:
    kept = [(kind, make) for kind, make in mutators.mutation_operators if make is not mutators.operator_string]
    ours = [(cst.BaseString, _other_text), (cst.If, _force), (cst.Expr, _leave_out), (cst.Raise, _leave_out)]
    operators: list[Any] = cast("list[Any]", mutators.mutation_operators)
    operators[:] = [*kept, *ours]


@dataclass(frozen=True)
class MutatedFile:
    """A file of ours with all its mutants."""

    path: Path
    module: str
    code: str
    spans: dict[str, Sequence[int]]
    names: Sequence[str] = field(repr=False)

    @cached_property
    def mutants(self) -> list[Mutant]:
        """Return its mutants, in the order of lines."""
        lines = self.code.split("\n")
        source = self.path.read_text(encoding="utf-8")
        starts = starts_of(source)
        found = []
        for name in self.names:
            mangled = name.partition("__mutmut_")[0]
            function = mangled.removeprefix("x_") if mangled.startswith("x_") else mangled[2:].replace("ǁ", ".")
            original = self._text(f"{mangled}__mutmut_orig", lines)
            changed = self._text(name, lines)
            first, before, after = _difference(original, changed)
            begin, end = starts[function]
            file, line = str(self.path.relative_to(ROOT)), begin + first
            found.append(Mutant(f"{self.module}.{name}", file, function, (begin, end), line, before, after))
        return sorted(found, key=lambda one: one.line)

    def _text(self, name: str, lines: list[str]) -> list[str]:
        """Return the lines of a function from its `def` on, under one name for all."""
        start, end = self.spans[name]
        text = [line.replace(f"{name}(", "f(") for line in lines[start - 1 : end]]
        while "def f(" not in text[0]:
            text.pop(0)
        return text

    def text_of(self, mutant: Mutant) -> list[str]:
        """Return the lines of the function that is *mutant*, as they would stand in the file."""
        changed = self._text(mutant.name.rpartition(".")[2], self._lines)
        changed[0] = self._source[mutant.lines[0] - 1]
        return changed

    @cached_property
    def _lines(self) -> list[str]:
        return self.code.split("\n")

    @cached_property
    def _source(self) -> list[str]:
        return self.path.read_text(encoding="utf-8").split("\n")

    def source_of(self, mutant: Mutant) -> str:
        """Return the file as it is with that one change, without trampolines."""
        lines = self._source
        changed = self.text_of(mutant)
        mangled = mutant.name.rpartition(".")[2].partition("__mutmut_")[0]
        original = self._text(f"{mangled}__mutmut_orig", self.code.split("\n"))
        first = mutant.lines[0] - 1
        return "\n".join([*lines[:first], *changed, *lines[first + len(original) :]])


def starts_of(source: str) -> dict[str, tuple[int, int]]:
    """Return the first and the last line of every function, by its name with its class."""
    found = {}
    for node in ast.parse(source).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        for one in inside:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = one.lineno, one.end_lineno or one.lineno
                found[f"{node.name}.{one.name}" if isinstance(node, ast.ClassDef) else one.name] = lines
    return found


def _difference(original: list[str], changed: list[str]) -> tuple[int, str, str]:
    """Return the first line that differs, and all from there to the last, before and after."""
    blocks = difflib.SequenceMatcher(None, original, changed, autojunk=False).get_opcodes()
    differing = [block for block in blocks if block[0] != "equal"]
    first, last = differing[0], differing[-1]
    before, after = original[first[1] : last[2]], changed[first[3] : last[4]]
    return first[1], "\n".join(line.strip() for line in before), "\n".join(line.strip() for line in after)


def line_of_helper(module: str) -> tuple[str, int]:
    """Return the file and the line by which everything comes that has *module* run in a helper process."""
    file, text = HELPERS[module]
    lines = (ROOT / file).read_text(encoding="utf-8").split("\n")
    return file, next(number for number, line in enumerate(lines, start=1) if text in line)


def files() -> list[Path]:
    """Return the files that are mutated."""
    return sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))


def mutate(path: Path) -> MutatedFile:
    """Return the file at *path* with its mutants. They take seconds to make, and are kept for the next time."""
    relative = path.relative_to(ROOT)
    module = ".".join(relative.with_suffix("").parts).removesuffix(".__init__")
    source = path.read_text(encoding="utf-8")
    ours = Path(__file__).read_text(encoding="utf-8")
    kept = KEPT / "mutated" / hashlib.sha256(f"{relative}\0{source}\0{ours}".encode()).hexdigest()
    if kept.is_file():
        code, spans, names = json.loads(kept.read_text(encoding="utf-8"))
    else:
        made = mutate_file_contents(str(relative), source)
        spans = {name: (span.start, span.end) for name, span in made.line_span_by_function_name.items()}
        code, names = made.code, list(made.mutant_names)
        kept.parent.mkdir(parents=True, exist_ok=True)
        new = kept.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps([code, spans, names]), encoding="utf-8")
        new.replace(kept)
    return MutatedFile(path, module, code, spans, names)


class _MutatedLoader(Loader):
    def __init__(self, mutated: MutatedFile) -> None:
        self._mutated = mutated

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        del spec
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._mutated.code, str(self._mutated.path), "exec"), module.__dict__)  # noqa: S102 - our own code


class _MutatedFinder(MetaPathFinder):
    def __init__(self, mutated: dict[str, MutatedFile]) -> None:
        self._mutated = mutated

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        del path, target
        found = self._mutated.get(fullname)
        if found is None:
            return None
        inside = [str(found.path.parent)] if found.path.name == "__init__.py" else None
        loader = _MutatedLoader(found)
        return spec_from_file_location(fullname, found.path, loader=loader, submodule_search_locations=inside)


def install(mutated: Sequence[MutatedFile]) -> None:
    """Let those files be imported with their mutants. Raises RuntimeError if one of them is imported already."""
    modules = {one.module: one for one in mutated if one.module != JQ_PROCESS}
    if early := sorted(modules.keys() & sys.modules.keys()):
        raise RuntimeError(f"imported before it could be mutated: {', '.join(early)}")
    sys.meta_path.insert(0, _MutatedFinder(modules))


def choose(mutant: Mutant, mutated: Sequence[MutatedFile], scratch: Path) -> None:
    """Let *mutant* be what runs in this process from now on, and in the helper processes that it starts."""
    set_mutant_under_test(mutant.name)
    module = mutant.name.rpartition(".")[0]
    of = next(one for one in mutated if one.module == module)
    if module in sys.modules:
        _make_tables_again(sys.modules[module], of.path.read_text(encoding="utf-8"))
    if module not in HELPERS:
        return
    file = scratch / of.path.name
    file.write_text(of.source_of(mutant), encoding="utf-8")
    if module != JQ_PROCESS:
        process = next(one for one in mutated if one.module == JQ_PROCESS).path.read_text(encoding="utf-8")
        instead = _IN_HELPER.format(mutated=str(file), module=module, original=str(of.path))
        file = scratch / "jq_process.py"
        file.write_text(instead + process, encoding="utf-8")
    sys.modules[JQ_PROCESS].__file__ = str(file)


def _make_tables_again(module: ModuleType, source: str) -> None:
    """Make again what *module* made with its own functions when it was imported, wherever it is used since."""
    tree = ast.parse(source)
    functions = {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
    before = dict(vars(module))
    for statement in tree.body:
        called = {
            one.func.id for one in ast.walk(statement) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)
        }
        if isinstance(statement, ast.Assign | ast.AnnAssign) and called & functions:
            code = ast.Module([statement], type_ignores=[])
            exec(compile(code, module.__name__, "exec"), vars(module))  # noqa: S102 - our own code
    tables = {name: old for name, old in before.items() if isinstance(old, dict | list)}
    made = {id(old): vars(module)[name] for name, old in tables.items() if vars(module)[name] is not old}
    for user in list(sys.modules.values()):
        for name, value in list(vars(user).items()) if made else ():
            if id(value) in made:
                setattr(user, name, made[id(value)])


_choose_operators()
