"""`swf lsp` as an editor sees it: a process that is spoken to by a client of the protocol."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.processes import ending_with_us

COMMAND = (sys.executable, "-m", "swf_temporal.cli", "lsp")
ORDER = dedent("""\
    id: order
    specVersion: "0.8"
    start: Take
    functions:
      - {name: charge, type: custom}
      - {name: "ship it", type: custom}
    events:
      - {name: Paid, type: paid, source: bank}
    errors: [{name: Broken, code: Broken}]
    states:
      - name: Take
        type: operation
        actions:
          - functionRef: {refName: charge, arguments: {amount: "${ .amount + 1 }"}}
          - functionRef: "ship it"
        onErrors: [{errorRef: Broken, transition: Wait}]
        transition: Wait
      - name: Wait
        type: event
        onEvents: [{eventRefs: [Paid]}]
        end: true
    """)


Published = asyncio.Queue[types.PublishDiagnosticsParams]


class Editor:
    def __init__(self, client: LanguageClient, uri: str, published: Published) -> None:
        self._client = client
        self.uri = uri
        self._version = 0
        self._published = published
        self.text = ""

    async def write(self, text: str) -> list[types.Diagnostic]:
        """Have *text* in the document; return what is wrong with it."""
        self._version, self.text = self._version + 1, text
        if self._version == 1:
            item = types.TextDocumentItem(self.uri, "yaml", 1, text)
            self._client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        else:
            self._client.text_document_did_change(
                types.DidChangeTextDocumentParams(
                    types.VersionedTextDocumentIdentifier(self._version, self.uri),
                    [types.TextDocumentContentChangeWholeDocument(text)],
                )
            )
        while True:
            published = await asyncio.wait_for(self._published.get(), 30)
            if (published.uri, published.version) == (self.uri, self._version):
                return list(published.diagnostics)

    def at(self, words: str, place: int = 0) -> dict[str, Any]:
        """Return the arguments that name the document, and the place at which *words* stand or, in them, a column."""
        before = self.text[: self.text.index(words) + place]
        line = before.count("\n")
        units = len(before[before.rfind("\n") + 1 :].encode("utf-16-le")) // 2
        return {
            "text_document": types.TextDocumentIdentifier(self.uri), "position": types.Position(line, units)
        }  # fmt: skip

    def written(self, where: types.Range) -> str:
        assert where.start.line == where.end.line
        units = self.text.split("\n")[where.start.line].encode("utf-16-le")
        return units[2 * where.start.character : 2 * where.end.character].decode("utf-16-le")

    def changed(self, edits: list[Any]) -> str:
        lines = self.text.split("\n")
        for edit in sorted(edits, key=lambda one: (one.range.start.line, one.range.start.character), reverse=True):
            line, start, end = edit.range.start.line, 2 * edit.range.start.character, 2 * edit.range.end.character
            units, new = lines[line].encode("utf-16-le"), edit.new_text.encode("utf-16-le")
            lines[line] = (units[:start] + new + units[end:]).decode("utf-16-le")
        return "\n".join(lines)

    async def offered(self, words: str, place: int) -> list[str]:
        found = await self._client.text_document_completion_async(types.CompletionParams(**self.at(words, place)))
        assert isinstance(found, list)
        return [one.label for one in found]

    async def shown(self, words: str, place: int = 1) -> str:
        found = await self._client.text_document_hover_async(types.HoverParams(**self.at(words, place)))
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    async def renamed(self, words: str, name: str) -> str | None:
        asked = types.RenameParams(new_name=name, **self.at(words, 1))
        found = await self._client.text_document_rename_async(asked)
        return None if found is None else self.changed(list((found.changes or {})[self.uri]))

    async def places(self, words: str) -> tuple[list[int], list[int]]:
        """Return the lines in which the name there is defined, and those in which it is referred to."""
        defined = await self._client.text_document_definition_async(types.DefinitionParams(**self.at(words, 1)))
        used = await self._client.text_document_references_async(
            types.ReferenceParams(types.ReferenceContext(include_declaration=False), **self.at(words, 1))
        )
        assert isinstance(defined, list)
        return [one.range.start.line for one in defined], [one.range.start.line for one in used or ()]

    async def fixed(self, problem: types.Diagnostic) -> str | None:
        """Return the text once the fix of *problem* is made."""
        asked = types.CodeActionParams(
            types.TextDocumentIdentifier(self.uri), problem.range, types.CodeActionContext([problem])
        )
        for action in await self._client.text_document_code_action_async(asked) or ():
            assert isinstance(action, types.CodeAction)
            assert action.edit is not None
            return self.changed(list((action.edit.changes or {})[self.uri]))
        return None

    async def states(self) -> list[str]:
        asked = types.DocumentSymbolParams(types.TextDocumentIdentifier(self.uri))
        return [one.name for one in await self._client.text_document_document_symbol_async(asked) or ()]


@pytest.fixture(scope="module")
async def connected() -> AsyncIterator[tuple[LanguageClient, Published]]:
    """A client of one server for all documents, and what that tells of them."""
    client, published = LanguageClient("editor", "1"), Published()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]  # of pygls
    def publish(told: types.PublishDiagnosticsParams) -> None:
        published.put_nowait(told)

    await client.start_io(*COMMAND)
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
    client.initialized(types.InitializedParams())
    yield client, published
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()  # type: ignore[no-untyped-call]  # of pygls


@pytest.fixture
def editor(connected: tuple[LanguageClient, Published], tmp_path: Path) -> Editor:
    client, published = connected
    return Editor(client, (tmp_path / "order.sw.yaml").as_uri(), published)


async def test_problems_are_shown_where_they_are_and_fixed(editor: Editor) -> None:
    assert await editor.write(ORDER) == []
    [problem] = await editor.write(ORDER.replace("start: Take", "start: Taek"))
    assert (problem.severity, problem.source) == (types.DiagnosticSeverity.Error, "swf")
    assert "did you mean 'Take'?" in problem.message
    assert editor.written(problem.range) == "Taek"
    assert await editor.fixed(problem) == ORDER
    found = await editor.write(ORDER.replace('functionRef: "ship it"', 'functionRef: "ship-it"'))
    problem, unused = sorted(found, key=lambda one: int(one.severity or 0))
    assert (unused.severity, unused.code) == (types.DiagnosticSeverity.Warning, "unused-definition")
    assert editor.written(problem.range) == "ship-it"
    assert await editor.fixed(problem) == ORDER


async def test_what_is_being_written_breaks_nothing(editor: Editor) -> None:
    """A text that cannot be read is a problem, and what was known of the one before is known still."""
    await editor.write(ORDER)
    for end in ("states: [", "  - name: 'x", "\t- {", "${", "a: &b *b", "start: {", "\x00", "💥: ["):
        assert await editor.write(ORDER + end)
        assert await editor.states() == ["Take", "Wait"]
    assert await editor.write(ORDER) == []


async def test_any_beginning_of_a_definition(editor: Editor) -> None:
    await editor.write(ORDER)
    for length in range(0, len(ORDER), 29):
        await editor.write(ORDER[:length] or "\n")
    assert await editor.write(ORDER) == []


OFFERED = {
    "        transition: ": ["Take", "Wait"],
    "        transition: {nextState: W": ["Take", "Wait"],
    "        compensatedBy: 'T": ["Take", "Wait"],
    "          - functionRef: ": ["charge", "ship it"],
    '          - functionRef: {refName: "': ["charge", "ship it"],
    "        onEvents: [{eventRefs: [Paid, ": ["Paid"],
    "        onEvents:\n          - eventRefs:\n              - ": ["Paid"],
    "        onErrors: [{errorRef: ": ["Broken"],
    "        type: ": [],
    "        data: {transition: x, y: ": [],
}


async def test_names_are_offered(editor: Editor) -> None:
    """Those of the kind that is referred to, though the text cannot be read now."""
    await editor.write(ORDER)
    found = {}
    for lines in OFFERED:
        await editor.write(f"{ORDER}  - name: Last\n{lines}")
        found[lines] = await editor.offered(f"Last\n{lines}", len(f"Last\n{lines}"))
    assert found == OFFERED


async def test_names_in_json(editor: Editor) -> None:
    """They have quotes."""
    definition = {
        "id": "j", "specVersion": "0.8", "start": "Ä",
        "states": [
            {"name": "Ä", "type": "inject", "data": {}, "transition": "😀 B"},
            {"name": "😀 B", "type": "inject", "data": {}, "end": True},
        ],
    }  # fmt: skip
    text = json.dumps(definition, ensure_ascii=False)
    assert await editor.write(text) == []
    assert await editor.renamed('"Ä", "type"', "C") == text.replace('"Ä"', '"C"')
    assert await editor.renamed('"😀 B", "type"', "C") == text.replace("😀 B", "C")


async def test_a_name_is_found_and_changed_in_all_places(editor: Editor) -> None:
    await editor.write(ORDER)
    assert await editor.places("Wait}]") == ([17], [15, 16])
    assert await editor.renamed("Wait}]", "Rest") == ORDER.replace("Wait", "Rest")
    assert await editor.renamed('"ship it"\n', "send") == ORDER.replace("ship it", "send")
    assert await editor.renamed("charge, arguments", "pay") == ORDER.replace("charge", "pay")
    for name in ("Write: a letter # now", "it's", "[x", "yes: no", "1", "null", "a, b"):
        renamed = await editor.renamed("charge, arguments", name)
        assert renamed == ORDER.replace("charge", json.dumps(name) if name != "it's" else name)
    assert await editor.renamed('"ship it"\n', 'say "hi"') == ORDER.replace("ship it", 'say \\"hi\\"')
    assert await editor.renamed("Wait}]", "Take") is None  # there is one
    assert await editor.renamed("type: event", "x") is None


async def test_what_is_shown(editor: Editor, tmp_path: Path) -> None:
    """Of a state, a function, an event, and of an expression on the input of a scenario."""
    await editor.write(ORDER)
    told = await editor.shown("Wait}]")
    assert "**Wait**: event" in told
    assert "waits for Paid" in told
    assert await editor.shown("charge, arguments") == "**charge**: custom"
    assert "`paid`" in await editor.shown("Paid]}]")
    assert "no sample" in await editor.shown("${ .amount + 1 }", 6)
    (tmp_path / "order.sw.yaml").write_text(ORDER)
    (tmp_path / "order.yaml").write_text(
        "scenario: It is paid\nworkflow: order.sw.yaml\ninput: {amount: 41}\nexpect: {status: completed}\n"
    )
    told = await editor.shown("${ .amount + 1 }", 6)
    assert "“It is paid”" in told
    assert "42" in told
    assert await editor.shown("type: event") == ""


async def test_direktiv_and_drafts(editor: Editor) -> None:
    """They have other words for the same."""
    direktiv = dedent("""\
        functions: [{id: get, image: x, type: knative-workflow}]
        states:
          - {id: a, type: action, action: {function: get}, transition: b}
          - {id: b, type: noop}
        """)
    await editor.write(direktiv)
    assert await editor.renamed("b}", "last") == direktiv.replace("transition: b", "transition: last").replace(
        "id: b", "id: last"
    )
    assert await editor.renamed("get}", "fetch") == direktiv.replace("get", "fetch")


async def test_dsl_completes_directives_and_shows_expressions_without_braces(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "work.test.yaml").write_text(
        "scenario: It counts\nworkflow: work.yaml\ninput: {n: 41}\nexpect: {status: completed}\n"
    )
    editor.uri = (tmp_path / "work.yaml").as_uri()
    text = dedent("""\
        document: {dsl: 1.0.3, namespace: test, name: work, version: 1.0.0}
        do:
          - first:
              set: {n: '${ .n + 1 }'}
              if: .n > 2
              output: {as: .n}
              then: last
          - each:
              for: {each: one, in: '[.n]'}
              do: [{keep: {set: '${ $one }'}}]
              while: .n < 40
          - last:
              call: http
              with: {method: get, endpoint: 'http://x'}
              output:
                as: "[.n * 2]"
        """)
    (tmp_path / "work.yaml").write_text(text)
    await editor.write(text)
    assert await editor.offered("then: last", 6) == [
        "first", "each", "keep", "last", "continue", "exit", "end",
    ]  # fmt: skip
    assert "http" in await editor.offered("call: http", 6)
    assert "true" in await editor.shown(".n > 2")
    assert "false" in await editor.shown(".n < 40")
    assert "82" in await editor.shown("[.n * 2]")
    assert "42" in await editor.shown(".n + 1")


async def test_other_files_are_left_alone(editor: Editor, tmp_path: Path) -> None:
    editor.uri = (tmp_path / "compose.yaml").as_uri()
    item = types.TextDocumentItem(editor.uri, "yaml", 1, "services: {}\n")
    editor.text = item.text
    editor._client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    assert await editor.states() == []


def message(method: str, **params: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}).encode()
    return f"Content-Length: {len(body)}\r\n\r\n".encode() + body


FIRST = message("initialize", capabilities={})


class Ending(NamedTuple):
    process: asyncio.subprocess.Process
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader


@asynccontextmanager
async def ending() -> AsyncIterator[Ending]:
    """A server that has answered once; what is done to it in the context ends it, quietly."""
    process = await asyncio.create_subprocess_exec(*ending_with_us(), *COMMAND, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        process.stdin.write(FIRST)
        await process.stdout.readuntil(b"\r\n\r\n")
        yield Ending(process, process.stdin, process.stdout)
        told, code = await asyncio.gather(process.stderr.read(), process.wait())
        assert (code, told.decode()) == (0, "")
    finally:
        if process.returncode is None:
            process.kill()


@pytest.mark.parametrize("last", [b"", b"Content-Le", FIRST[:-1]], ids=["nothing", "half a head", "half a body"])
async def test_an_editor_that_sends_no_more_ends_it(last: bytes) -> None:
    async with ending() as server:
        server.stdin.write(last)
        server.stdin.close()


async def test_an_editor_that_reads_no_more_ends_it() -> None:
    async with ending() as server:
        server.stdout._transport.close()  # type: ignore[attr-defined]  # there is no other way
        server.stdin.write(message("shutdown"))


async def test_it_can_be_stopped() -> None:
    async with ending() as server:
        server.process.terminate()


BUSY = """
import hashlib
from swf_temporal.cli.lsp import _quiet_sigterm
with _quiet_sigterm():
    print("busy", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2_000_000_000)
"""


async def test_it_can_be_stopped_whatever_its_main_thread_does() -> None:
    """A signal may come before that begins to wait for what never comes: no handler in Python runs then."""
    process = await asyncio.create_subprocess_exec(*ending_with_us(), sys.executable, "-c", BUSY, stdout=PIPE)
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"busy\n"
        process.terminate()
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
