"""What the documentation shows works, what it links to is there, and what it lists is complete."""

import ast
import asyncio
import importlib
import os
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest

import swf_temporal
from swf_temporal.base.errors import Position
from swf_temporal.functions.http.failures import FAULTS
from swf_temporal.languages.loading import check
from swf_temporal.simulation.scenario import read_scenarios, run
from swf_temporal.text.origin import duplicate_key
from tests.corpus import CORPUS
from tests.docs import api_page
from tests.docs.pages import ROOT, Block, blocks_of

PACKAGE = ROOT / "swf_temporal"
RULES = PACKAGE / "languages" / "serverless_workflow" / "validation" / "rules"
REFUSED = ROOT / "tests" / "scenarios" / "refused"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"[a-z]+(?:-[a-z]+)*")
_TELLING = {"error", "warning", "problem", "warn", "fail", "Problem"}
_TABLE_CODE = re.compile(r"^\| (`[^|]*`) \|", re.MULTILINE)
_BACKTICKED = re.compile(r"`([^`]+)`")


def _blocks(language: str) -> Iterator[tuple[str, str]]:
    """Yield where each block of *language* stands, and its text; not definitions that the page then shows as wrong."""
    for page in PAGES:
        blocks = blocks_of(str(page.relative_to(ROOT)))
        for block, after in pairwise([*blocks, None]):
            if block is not None and block.language == language and not _is_validated(after):
                yield block.where, block.text


def _is_validated(block: Block | None) -> bool:
    """Tell whether a block begins with `swf validate`: the page itself tells what is wrong with what is before it."""
    return block is not None and block.text.startswith("$ swf validate")


YAML = [(where, text) for where, text in _blocks("yaml") if "states:" in text or "\ndo:\n" in text]
SCENARIOS = [(where, text) for where, text in YAML if text.startswith("scenario:")]
DEFINITIONS = [(where, text) for where, text in YAML if not text.startswith("scenario:")]
PROGRAMS = [(where, text) for where, text in _blocks("python") if where.startswith("docs/testing.md")]
API = ROOT / "docs" / "api.md"
API_PROGRAMS = [block for block in blocks_of("docs/api.md") if block.language == "python"]
EMBEDDING = [block for block in blocks_of("docs/embedding.md") if block.language == "python"]


@pytest.mark.parametrize(("where", "text"), DEFINITIONS, ids=[where for where, _ in DEFINITIONS])
def test_definitions_load(where: str, text: str) -> None:
    assert [str(problem) for problem in check(text, name=where).problems] == []


@pytest.mark.parametrize(("where", "text"), SCENARIOS, ids=[where for where, _ in SCENARIOS])
def test_scenarios_hold(where: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(text, encoding="utf-8")
    scenarios = read_scenarios(file)
    assert len(scenarios) == 1, where
    assert run(scenarios[0])[1] == []


def names_after(program: str, where: str) -> set[str]:
    names: dict[str, object] = {"__name__": where}
    exec(compile(program, where, "exec"), names)  # noqa: S102 - our own text
    return names.keys() - {"__name__", "__builtins__"}


@pytest.mark.parametrize(("where", "text"), PROGRAMS, ids=[where for where, _ in PROGRAMS])
def test_programs_run(where: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert names_after(text, where)


@pytest.mark.temporal
@pytest.mark.parametrize("block", API_PROGRAMS, ids=[block.where for block in API_PROGRAMS])
def test_programs_of_the_api_run(block: Block, server_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("TEMPORAL_ADDRESS", server_address)
    assert names_after(block.text, block.where)


@pytest.mark.temporal
def test_the_page_about_embedding_can_be_followed(
    server_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", server_address)
    monkeypatch.syspath_prepend(tmp_path)
    for number, block in enumerate(EMBEDDING):
        named = re.match(r"# (\w+)\.py\n", block.text)
        name = named[1] if named else f"program_{number}"
        (tmp_path / f"{name}.py").write_text(block.text, encoding="utf-8")
        module = importlib.import_module(name)
        assert callable(module.main) if named else module.__name__ == name
        if named:
            asyncio.run(module.main())


def test_the_public_names_are_documented() -> None:
    """The page about the Python API has the public names and no other, as the code describes them.

    Its programs import each of them but types that are only for annotations, and what is said to be raised is public.
    """
    page = API.read_text(encoding="utf-8")
    assert sorted(api_page.names_in(page)) == sorted(api_page.PUBLIC)
    assert page == api_page.written(page), "python -m tests.docs.api_page writes it anew"
    assert api_page.unknown_errors() == []
    imports = [node for block in API_PROGRAMS for node in ast.walk(ast.parse(block.text))]
    used = {
        name.name
        for node in imports
        if isinstance(node, ast.ImportFrom) and node.module == "swf_temporal"
        for name in node.names
    }
    of_types = set(api_page.names_in(page[page.index("\n## Types\n") :].partition("\n## Errors\n")[0]))
    assert used - of_types == set(swf_temporal.__all__) - of_types


def test_programs_import_public_names_alone() -> None:
    programs = [(where, text) for where, text in _blocks("python")]
    programs += [(str(path), path.read_text(encoding="utf-8")) for path in (ROOT / "examples").rglob("*.py")]
    private = re.compile(r"(?:from|import) swf_temporal\.")
    assert [where for where, text in programs if private.search(text)] == []


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_resolve(page: Path) -> None:
    broken = []
    for link in _LINK.findall(_without_code(page.read_text(encoding="utf-8"))):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = Path(os.path.normpath(page.parent / name)) if name else page
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            broken.append(link)
    assert broken == []


def test_index_leads_everywhere() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / link).resolve() for link in _LINK.findall(index.read_text(encoding="utf-8"))}
    pages = set((ROOT / "docs").rglob("*.md")) - {index}
    assert {str(page.relative_to(ROOT)) for page in pages if page.resolve() not in linked} == set()


def test_pages_of_commands_and_of_operation_are_short() -> None:
    """Each is for one thing that a reader looks for. What grows longer belongs on a page of its own."""
    names = ("cli", "operating", "following", "instances", "retrying", "upgrades", "limits", "troubleshooting")
    pages = [*(ROOT / "docs" / "cli").glob("*.md"), *(ROOT / "docs" / f"{name}.md" for name in names)]
    assert {page.name: words for page in pages if (words := len(page.read_text(encoding="utf-8").split())) > 2500} == {}


def test_every_problem_is_listed() -> None:
    """The page about problems has every code that reading, validation and a look at documents give, and no other."""
    assert _listed(ROOT / "docs" / "problems.md") == _problem_codes()


def test_every_problem_has_a_scenario() -> None:
    """For every code a scenario claims message and place, but for what only a look at this machine's files finds."""
    expected = [problem for one in CORPUS if REFUSED in one.file.parents for problem in one.expect.problems or ()]
    inexact = [str(problem) for problem in expected if not {"at", "message"} <= problem.facts.keys()]
    assert inexact == []
    assert {problem.code for problem in expected} == _problem_codes() - {
        "credentials-missing", "function-document", "function-unknown", "operation-undefined",
    }  # fmt: skip


def test_every_rule_has_scenarios() -> None:
    rules = {path.stem for path in RULES.glob("*.py")} - {"__init__"}
    assert rules
    assert rules - {path.stem for path in REFUSED.glob("*.yaml")} == set()


def test_every_code_of_a_failed_call_is_listed() -> None:
    listed = _listed(ROOT / "docs" / "functions.md")
    assert {code for code in _call_codes() if code not in listed} == set()


def test_every_variable_is_listed() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (PACKAGE / "functions").rglob("*.py"))
    page = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("functions.md", "configuration.md"))
    assert {name for name in re.findall(r"\"(SWF_[A-Z_]+)\"", text) if name not in page} == set()


def test_contributing_names_files_that_exist() -> None:
    paths = re.findall(r"`([\w-]+/[\w/.-]*)`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_nothing_is_said_of_where_it_was_made() -> None:
    pages = [page for page in PAGES if re.search(r"(?<![\w.])/(?:work|tmp|root)/", page.read_text(encoding="utf-8"))]
    assert pages == []


@cache
def _anchors(page: Path) -> frozenset[str]:
    headings = re.findall(r"^#+ (.+)$", _without_code(page.read_text(encoding="utf-8")), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)


def _without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def _listed(page: Path) -> set[str]:
    cells = _TABLE_CODE.findall(page.read_text(encoding="utf-8"))
    return {code for cell in cells for code in _BACKTICKED.findall(cell)}


@cache
def _problem_codes() -> frozenset[str]:
    """Return the codes that stand in the source, wherever it tells of a problem."""
    folders = [*(PACKAGE / "languages").rglob("*.py"), *(PACKAGE / "text").rglob("*.py")]
    types = [PACKAGE / "base" / "function_types.py", *(PACKAGE / "functions").rglob("type.py")]
    sources = [*folders, *types, PACKAGE / "sdk" / "documents.py"]
    codes = {duplicate_key("", Position(), Position())[0]}
    for source in sources:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            codes |= _codes_in(node)
    # The rule references_defined makes these of the kind that is referred to.
    return frozenset(codes | {f"{kind}-undefined" for kind in ("function", "event", "retry", "error", "auth")})


def _codes_in(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["_CODE"]:
        return {str(ast.literal_eval(node.value))}
    if isinstance(node, ast.AnnAssign | ast.keyword) and _is_code(node) and isinstance(node.value, ast.Constant):
        # `code="code"` says how a property is called.
        return {node.value.value} - {"code"} if isinstance(node.value.value, str) else set()
    if not isinstance(node, ast.Call) or not node.args:
        return set()
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    first = node.args[0]
    if name in _TELLING and isinstance(first, ast.Constant) and _CODE.fullmatch(str(first.value)):
        return {str(first.value)}
    return set()


def _is_code(node: ast.AnnAssign | ast.keyword) -> bool:
    return (node.arg if isinstance(node, ast.keyword) else ast.unparse(node.target)) == "code"


def _call_codes() -> set[str]:
    """Return the codes of CallFailed that stand in the source of functions, and of the worker that performs them."""
    codes = {code for code, _ in FAULTS.values()}
    for source in (PACKAGE / "functions").rglob("*.py"):
        text = source.read_text(encoding="utf-8")
        codes |= set(re.findall(r"(?:code=|permanent_failure\(\s*)\"(\w+)\"", text))
        codes |= set(re.findall(r"Error: \(\"(\w+)\", ", text))
    return codes - {"SecretsUnavailable"}  # before a call is made
