"""Documents of functions on this machine: addresses in them, and warnings about those that are missing.

Nothing is fetched, and a missing document is only a warning: the worker that makes the calls may have other files. Most
definitions name no file, and for those nothing heavy is imported.
"""

import os.path
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from swf_temporal.base.calls import Function
from swf_temporal.base.errors import CallFailed, Problem, Severity
from swf_temporal.base.function_types import (
    CONFIG_KEY,
    Callee,
    callee_of,
    environment_name,
    operation_type,
    secrets_for,
)
from swf_temporal.functions.documents.local_documents import file_named
from swf_temporal.languages.port import Definition, FunctionUse
from swf_temporal.text.fetching.resources import Resources, is_web
from swf_temporal.text.suggestions import nearest

if TYPE_CHECKING:
    from swf_temporal.functions.calling import Functions
    from swf_temporal.functions.port import Described

AddressFacts: TypeAlias = dict[str, Any]

_ASKED = "; did you mean "
"""The text in a failed call's message before a suggested name: here that becomes the hint."""


def missing_from_files(workflows: Iterable[Definition], resources: Resources) -> list[Problem]:
    """Return a warning for each function of *workflows* whose document, or operation, is missing on this machine.

    Proto files are not checked unless the libraries that compile them are installed.
    """
    naming = [one for one in workflows if any(_file_of(use, folder_of(one)) for use in one.functions)]
    if not naming:
        return []
    import asyncio  # noqa: PLC0415 - most definitions name no file

    from swf_temporal.functions.calling import Functions  # noqa: PLC0415 - as above
    from swf_temporal.settings.calls import Settings  # noqa: PLC0415 - as above

    functions = Functions(settings=Settings(resources=resources))
    return asyncio.run(_missing(naming, partial(_prepared, functions), is_worker=False))


async def missing(workflows: Iterable[Definition], functions: "Functions") -> list[Problem]:
    """Return a warning for each function of *workflows* that a worker's *functions* do not find in its document.

    The documents found are cached for calls. Python functions are only known if *functions* has them.
    """

    async def prepare(use: FunctionUse, base: str | None) -> "Described | None":
        functions.check(use.function)
        return await _prepared(functions, use, base)

    return await _missing(workflows, prepare, is_worker=True)


async def _missing(
    workflows: Iterable[Definition],
    prepare: "Callable[[FunctionUse, str | None], Awaitable[Described | None]]",
    *,
    is_worker: bool,
) -> list[Problem]:
    """Return a warning for each function that *prepare* does not find; missing libraries only matter to a worker."""
    problems = []
    for workflow in list(workflows):  # others may be added meanwhile
        folder = folder_of(workflow)
        for use in workflow.functions:
            try:
                found = await prepare(use, folder)
            except OSError as error:  # such as no file descriptor for the compiler of proto files
                problems.append(_problem(workflow, use, CallFailed(str(error))))
            except CallFailed as fault:
                if is_worker or fault.code != "NotInstalled":
                    problems.append(_problem(workflow, use, fault))
            else:
                problems.extend(_unproven(workflow, use, found))
    return list(dict.fromkeys(problems))


async def _prepared(functions: "Functions", use: FunctionUse, base: str | None) -> "Described | None":
    return None if use.depends_on_data else await functions.prepare(use.function, base)


def _file_of(use: FunctionUse, base: str | None) -> Path | None:
    return None if use.depends_on_data else file_named(use.function, base)


def addresses_of(folder: str | None, uses: Iterable[FunctionUse]) -> dict[str, AddressFacts]:
    """Return the operation of each function and, if its document is on this machine, the address.

    Documents are found relative to *folder*.
    """
    import asyncio  # noqa: PLC0415 - as above

    return asyncio.run(_addresses(folder, uses))


async def _addresses(folder: str | None, uses: Iterable[FunctionUse]) -> dict[str, AddressFacts]:
    from swf_temporal.functions.calling import Functions  # noqa: PLC0415 - as above

    performing = Functions()
    return {one.function.name: await _address(one, folder, performing) for one in uses}


async def _address(use: FunctionUse, folder: str | None, functions: "Functions") -> AddressFacts:
    function = use.function
    kind = operation_type(function.type)
    named = {} if kind is None else kind.named(function.operation)
    facts: AddressFacts = {name: value for name, value in named.items() if value}
    if use.depends_on_data:
        return facts
    try:
        found = await functions.look(function, folder)
    except CallFailed as fault:
        return facts | {"problem": " ".join(fault.message.split())}
    return facts if found is None else {**facts, **found.address}


def folder_of(workflow: Definition) -> str | None:
    """Return the base of the documents that *workflow* refers to; None for a text without a file."""
    name = workflow.source.name
    if name.startswith("<"):
        return None
    # Absolute, so that messages show where a file was looked for.
    return name if is_web(name) else str(Path(name).absolute().parent)


def in_one_line(problem: Problem) -> str:
    where = f"{problem.file}:{problem.position.line}:{problem.position.column}"
    return f"{where} {problem.code}: {problem.message}{f'; {problem.hint}' if problem.hint else ''}"


def _problem(workflow: Definition, use: FunctionUse, fault: CallFailed) -> Problem:
    function = use.function
    message, asked, meant = fault.message.partition(_ASKED)
    hint = f"did you mean {meant}" if asked else _file_meant(function, folder_of(workflow))
    problem = partial(
        workflow.problem,
        message=f"function {function.name!r}: {' '.join(message.split())}",
        position=use.position,
        hint=hint,
        severity=Severity.WARNING,
    )
    if fault.code == "UnknownFunction":
        return problem("function-unknown")
    if fault.code == "UnknownOperation":
        return problem("operation-undefined")
    return problem("function-document")


def _unproven(workflow: Definition, use: FunctionUse, found: "Described | None") -> Iterator[Problem]:
    """Yield a warning if a function's document requires credentials that the definition does not provide."""
    function = use.function
    security = () if found is None else found.credentials
    is_named = function.auth_ref is not None and function.auth_ref.invocation is not None
    if is_named or not security or not all(security) or CONFIG_KEY in function.metadata:  # only known when it is called
        return
    declared, callee = set(map(environment_name, workflow.secrets)), callee_of(function)
    if any(all(_is_declared(scheme, callee, declared) for scheme in schemes) for schemes in security):
        return

    schemes = list(security[0])
    asked = " or ".join(" and ".join(map(repr, one)) for one in security)
    variables = " and ".join(f"SWF_SECRET_{environment_name(scheme)}" for scheme in schemes)
    listed = ", ".join(schemes)
    yield (
        workflow.problem(
            "credentials-missing",
            f"function {function.name!r}: its document asks for {asked}, and the definition has no credentials for it",
            use.position,
            f"{workflow.words.credentials}, or list 'secrets: [{listed}]' and give the worker {variables}",
            Severity.WARNING,
        )
    )


def _is_declared(scheme: str, callee: Callee, declared: Container[str]) -> bool:
    return any(environment_name(name) in declared for name in secrets_for(scheme, callee))


def _file_meant(function: Function, folder: str | None) -> str | None:
    """Return a hint at a file with a similar name: beside the missing one, or in a folder above the definition."""
    path = file_named(function, folder)
    if path is None or folder is None:
        return None
    try:
        return None if path.exists() else _nearest(path, folder)
    except OSError:  # an invalid file name, or a folder without permission
        return None


def _nearest(path: Path, folder: str) -> str | None:
    inside = os.path.relpath(path, folder)
    above = [one / inside for one in Path(folder).resolve().parents if not inside.startswith("..")]
    found = next((one for one in above if one.is_file()), None)
    if found is None and path.parent.is_dir():
        near = nearest(path.name, [one.name for one in path.parent.iterdir() if one.is_file()], 0.7)
        found = None if near is None else path.parent / near
    return None if found is None else f"did you mean {os.path.relpath(found, folder)!r}?"
