"""Performs functions of the types `shell`, `script` and `container`, as far as the operator allows them."""

import asyncio
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, MissingExtra, permanent_failure
from swf_temporal.base.files import read_bytes, why_unreadable
from swf_temporal.base.strict_json import write_json
from swf_temporal.functions.auth.auth import auth_for_document, headers_for, reading_document
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.documents import is_web, locate
from swf_temporal.functions.http.client import Request
from swf_temporal.functions.named_arguments import word_of
from swf_temporal.functions.port import Performer, Services
from swf_temporal.functions.processes import quickjs_process
from swf_temporal.functions.processes.containers import OF_CONTAINERS, ContainerRun, engine_of
from swf_temporal.functions.processes.running import (
    RETURNS,
    ProcessArguments,
    ProcessResult,
    limits_for,
    run,
    runner_off,
)
from swf_temporal.settings.calls import ScriptLanguage

SOURCE: Final = "source"
"""The key of a function's metadata for the URL or file of a script's code."""
_MAX_CODE: Final = 1024 * 1024
_MAX_TOLD: Final = 500
"""The number of characters of standard error in a message."""
_OF_ALL: Final = ("stdin", "arguments", "environment", "return", "await")
_NAMES: Final = {"shell": ("command",), "script": ("language", "code"), "container": OF_CONTAINERS}
"""The names of the arguments that each type has beside those of all."""
_LANGUAGES: Final = {"js": ScriptLanguage.JS, "javascript": ScriptLanguage.JS, "python": ScriptLanguage.PYTHON}
_REQUIRES: Final = "require("


class Processes(Performer):
    """Starts processes and containers, and returns what they write."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._settings = services.settings
        self._engine = engine_of(services, services.settings.runners.container)

    async def aclose(self) -> None:
        """Stop what is done in the background."""
        if self._engine is not None:
            await self._engine.aclose()

    async def perform(self, call: Call) -> JSON:
        """Return the part of the process's result that the argument `return` names. Raises CallFailed.

        A process that ends with another exit code than 0 has failed, unless its exit code is part of the result.
        """
        kind = call.function.type
        arguments = ProcessArguments.of(call, (*_NAMES[kind], *_OF_ALL))
        returned = arguments.choice("return", RETURNS)
        perform = {"shell": self._shell, "script": self._script, "container": self._container}[kind]
        return _returned(call, await perform(call, arguments), returned)

    async def _shell(self, call: Call, arguments: ProcessArguments) -> ProcessResult:
        if not self._settings.runners.shell:
            raise runner_off(call, "is a shell command", "'runners: {shell: true}' or SWF_RUNNERS_SHELL=1")
        text, given = arguments.text("command"), arguments.value("arguments")
        if isinstance(given, dict):
            text, words = f'{text.rstrip()} "$@"', _assignments(given)
        else:
            words = arguments.words("arguments")
        return await self._run(call, "the shell command", ["sh", "-c", text, "sh", *words], arguments)

    async def _script(self, call: Call, arguments: ProcessArguments) -> ProcessResult:
        name = arguments.text("language").lower()
        if name not in _LANGUAGES:
            raise arguments.wrong(f"'language' is {name!r}; it must be js or python")
        language = _LANGUAGES[name]
        if language not in self._settings.runners.script:
            allowing = f"'runners: {{script: [{language}]}}' or SWF_RUNNERS_SCRIPT={language}"
            raise runner_off(call, f"is a script in the language {language}", allowing)
        code, given = await self._code(call, arguments), arguments.value("arguments")
        file, command = self._interpreter(call, language, code)
        if isinstance(given, dict):
            code, words = _with_variables(language, given, code), []
        else:
            words = arguments.words("arguments")
        return await self._run(call, "the script", [*command, file, *words], arguments, {file: code})

    async def _container(self, call: Call, arguments: ProcessArguments) -> ProcessResult:
        if self._engine is None:
            raise runner_off(call, "runs a container", "'runners: {container: {command: docker}}'")
        run = ContainerRun.read(call, arguments, self._settings.runners.container)
        return await self._engine.run(run, limits_for(self._settings, call))

    async def _run(
        self,
        call: Call,
        what: str,
        command: list[str],
        arguments: ProcessArguments,
        files: dict[str, str] | None = None,
    ) -> ProcessResult:
        return await run(
            f"{what} of function '{call.function.name}'",
            command,
            limits_for(self._settings, call),
            stdin=arguments.stdin(),
            environment=arguments.environment(),
            files=files,
        )

    def _interpreter(self, call: Call, language: ScriptLanguage, code: str) -> tuple[str, list[str]]:
        """Return the file in which a script is written, and the command that runs it."""
        if language is ScriptLanguage.PYTHON:
            return "script.py", [sys.executable, "-I"]
        node = self._settings.runners.node
        if node is not None:
            # Modules of the language are the rule, except for code that needs the older ones of Node.js.
            return ("script.cjs" if _REQUIRES in code else "script.mjs"), [node]
        found = find_spec("_quickjs")
        if found is None or found.origin is None:
            what = f"the script of function '{call.function.name}'"
            missing = MissingExtra("js", what, otherwise="Node.js: 'runners: {node: node}'")
            raise permanent_failure("NotInstalled", missing.line)
        return "script.js", [sys.executable, "-I", "-S", quickjs_process.__file__, str(Path(found.origin).parent)]

    async def _code(self, call: Call, arguments: ProcessArguments) -> str:
        """Return the code of a script, which may be in a file or at a URL."""
        code = arguments.optional_text("code")
        source = call.function.metadata.get(SOURCE)
        if code is not None:
            return code
        if not isinstance(source, str) or not source:
            raise arguments.wrong("'code' is missing")
        location = locate(source, call.base)
        if is_web(location):
            return (await self._fetched(call, location)).decode(errors="replace")
        try:
            return (await asyncio.to_thread(read_bytes, Path(location))).decode(errors="replace")
        except (OSError, ValueError) as error:
            message = f"the script {source!r} cannot be read from {location}: {why_unreadable(error)}"
            raise permanent_failure("NoDocument", message) from error

    async def _fetched(self, call: Call, url: str) -> bytes:
        resource = auth_for_document(call, url, None)

        async def fetch(call: Call) -> bytes:
            content, _ = await self._services.http.download(Request("GET", url, headers_for(resource, call)), _MAX_CODE)
            return content

        return await reading_document(resource, call, self._services.tokens, fetch)


def _assignments(given: dict[str, JSON]) -> list[str]:
    """Return named arguments of a command, as its words: `name=value`, or the name alone if it has no value."""
    return [name if value is None else f"{name}={word_of(value)}" for name, value in given.items()]


def _with_variables(language: ScriptLanguage, given: dict[str, JSON], code: str) -> str:
    """Return *code*, in which named arguments are global variables."""
    values = write_json(given)
    if language is ScriptLanguage.PYTHON:
        return f"globals().update(__import__('json').loads({values!r}))\n{code}"
    return f"Object.assign(globalThis, JSON.parse({write_json(values)}));\n{code}"


def _returned(call: Call, result: ProcessResult, returned: str) -> JSON:
    if returned == "code":
        return result.code
    if returned == "all":
        return result.to_json()
    if result.code:
        told = result.stderr.strip()
        told = f": …{told[-_MAX_TOLD:]}" if len(told) > _MAX_TOLD else told and f": {told}"
        message = f"the process of function '{call.function.name}' ended with the exit code {result.code}{told}"
        raise CallFailed(message, code="ProcessFailed", body=result.to_json())
    return {"stdout": result.stdout, "stderr": result.stderr}.get(returned)
