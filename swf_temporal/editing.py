"""The language server: answers an editor's requests about the documents that are open in it.

Positions of the protocol count from zero, in units that editor and server agree on; `pygls` translates them.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from swf_temporal import __version__
from swf_temporal.base.errors import InvalidDefinition, Position, Problem, Severity, SwfError, UsageError
from swf_temporal.base.exit_codes import ExitCode
from swf_temporal.base.files import DEFINITIONS
from swf_temporal.base.strict_json import show_json
from swf_temporal.drawing.outline import OutlinePart
from swf_temporal.expressions.compiled import NOTHING, BadExpression
from swf_temporal.languages.known import language_of, looks_like_definition, usual_language
from swf_temporal.languages.loading import check, documents_in
from swf_temporal.languages.marks import Kind, Mark
from swf_temporal.languages.port import Definition, Language, ShownExpression
from swf_temporal.simulation.reading import read_scenarios
from swf_temporal.text.origin import LINE_END, Source
from swf_temporal.text.parsing import read_data, read_source

_WORD: Final = re.compile(
    r"\"(?:[^\"\\]|\\.)*\"?|'(?:[^']|'')*'?|[^\s,\[\]{}:#]+(?:[ :](?=[^\s,\[\]{}:#])[^\s,\[\]{}:#]+)*"
)
"""The word at a position: a quoted string, or plain words."""
_VALUE: Final = re.compile(
    r"^(?:.*[{,\s-])?[\"']?([\w-]+)[\"']?\s*:\s*(?:\[\s*(?:[^\[\]]*,\s*)?)?([\"']?)([^\"'\[\]{},]*)$"
)
"""A line up to a cursor that is in the value of a key, or in a list that begins on the line."""
_ITEM: Final = re.compile(r"^(\s*)-\s+([\"']?)([^\"':{}\[\],]*)$")
_KEY_OF_LIST: Final = re.compile(r"^(\s*)(?:-\s+)?[\"']?([\w-]+)[\"']?\s*:\s*$")


class Span(NamedTuple):
    """A part of one line, from a column on and before another; lines and columns count from zero."""

    line: int
    start: int
    end: int

    def holds(self, line: int, column: int) -> bool:
        return line == self.line and self.start <= column <= self.end


class Completing(NamedTuple):
    """A name that is being written."""

    kind: Kind
    span: Span
    """The part that has been written."""
    is_quoted: bool


@dataclass
class EditedDocument:
    """The current text of one document, and the results of its last valid version."""

    name: str
    folder: Path | None = None
    lines: list[str] = field(default_factory=list)
    problems: tuple[Problem, ...] = ()
    definition: Definition | None = None
    """The last version that could run: text that is being edited usually cannot."""
    language: Language = field(default_factory=usual_language)
    """The language of the last text that could be read."""
    marks: list[Mark] = field(default_factory=list)
    """The names of the last text that could be read."""

    def change(self, text: str) -> None:
        """Update the document to *text*."""
        self.lines = LINE_END.split(text)
        try:
            root, _ = read_source(Source(text, self.name))
            self.language = language_of(root)
            self.marks = self.language.marks(root)
        except InvalidDefinition:
            pass  # in the middle of a word; its problem is among those below
        try:
            checked = check(text, name=self.name, folder=self.folder)
        except UsageError as error:
            self.problems = (Problem("unreadable", error.message, hint=error.hint, file=self.name),)
            return
        self.problems = tuple(checked.problems)
        self.definition = checked.definition or self.definition

    def span_of(self, position: Position) -> Span:
        """Return the span of the word that begins at *position*, without its quotes."""
        line, start = max(position.line - 1, 0), max(position.column - 1, 0)
        text = self.lines[line] if line < len(self.lines) else ""
        found = _WORD.match(text, start)
        if found is None:
            return Span(line, min(start, len(text)), min(start + 1, len(text)))
        word = found[0]
        if word[0] in "\"'":
            return Span(line, start + 1, found.end() - (len(word) > 1 and word[-1] == word[0]))
        return Span(line, start, found.end())

    def spelled(self, name: str, span: Span) -> str:
        """Return *name* as it has to be written at *span*: escaped in quotes, and in quotes if YAML needs them."""
        quote = self.lines[span.line][: span.start][-1:]
        if quote == "'":
            return name.replace("'", "''")
        quoted = show_json(name)
        if quote == '"':
            return quoted[1:-1]
        try:
            is_plain = read_data(f"[{{a: {name}}}]") == [{"a": name}]
        except ValueError:
            is_plain = False
        return name if is_plain else quoted

    def written(self, span: Span) -> str:
        return self.lines[span.line][span.start : span.end]

    def place_of(self, mark: Mark) -> Span | None:
        """Return the span of the name of *mark* in the current text; None if it is spelled differently there."""
        line, start = mark.position.line - 1, mark.position.column - 1
        text = self.lines[line] if line < len(self.lines) else ""
        start += text[start : start + 1] in ("'", '"')
        end = start + len(mark.name)
        return Span(line, start, end) if mark.name and text[start:end] == mark.name else None

    def mark_at(self, line: int, column: int) -> Mark | None:
        """Return the name at a position."""
        for mark in self.marks:
            place = self.place_of(mark)
            if place is not None and place.holds(line, column):
                return mark
        return None

    def marks_of(self, mark: Mark) -> list[Mark]:
        """Return all occurrences of the name of *mark*, its definition first."""
        same = [one for one in self.marks if (one.kind, one.name) == (mark.kind, mark.name)]
        return sorted(same, key=lambda one: not one.defines)

    def names_of(self, kind: Kind) -> list[str]:
        """Return the defined names of that kind."""
        return list(dict.fromkeys(one.name for one in self.marks if one.defines and one.kind is kind))

    def completing(self, line: int, column: int) -> Completing | None:
        """Return the name that is being written at a position, if there is one."""
        text = self.lines[line][:column] if line < len(self.lines) else ""
        found = _VALUE.match(text)
        if found is not None:
            kind, quote, begun = self._kind(found[1]), found[2], found[3]
        elif (found := _ITEM.match(text)) is not None:
            kind, quote, begun = self._kind(self._key_of_item(line, len(found[1]))), found[2], found[3]
        else:
            return None
        return None if kind is None else Completing(kind, Span(line, column - len(begun), column), bool(quote))

    def _key_of_item(self, line: int, indent: int) -> str | None:
        """Return the key of the list that contains a line as an item."""
        for text in reversed(self.lines[:line]):
            found = _KEY_OF_LIST.match(text)
            if found is not None and len(found[1]) <= indent:
                return found[2]
            if text.strip() and not (_ITEM.match(text) and len(text) - len(text.lstrip()) == indent):
                return None
        return None

    def _kind(self, key: str | None) -> Kind | None:
        return None if key is None else self.language.kind_of_names(key)


_MAX_SHOWN: Final = 1_000
"""The maximum number of characters that are shown of an expression's result."""
_MAX_FILES: Final = 50
"""The maximum number of files beside the definition that are searched for a scenario."""


class Sample(NamedTuple):
    """Sample data on which expressions are evaluated."""

    data: Any
    origin: str


def hover(document: EditedDocument, line: int, column: int) -> tuple[Span, str] | None:
    """Return the hover text at a position, as Markdown, and the span that it is about."""
    mark = document.mark_at(line, column)
    if mark is not None:
        place, told = document.place_of(mark), _told(document, mark)
        return None if place is None or not told else (place, told)
    text = document.lines[line] if line < len(document.lines) else ""
    expression = document.language.expression_at(text, column)
    if expression is None:
        return None
    return Span(line, expression.start, expression.end), _yielded(document, expression)


def _told(document: EditedDocument, mark: Mark) -> str:
    definition = document.definition
    if definition is None:
        return ""
    match mark.kind:
        case Kind.STATE:
            return "\n\n".join(_of_part(one) for one in _parts(definition.outline.parts) if one.name == mark.name)
        case Kind.FUNCTION:
            uses = [one.function for one in definition.functions if one.function.name == mark.name]
            operations = [f", `{one.operation}`" if one.operation else "" for one in uses]
            return "\n\n".join(f"**{one.name}**: {one.type}{of}" for one, of in zip(uses, operations, strict=True))
        case Kind.EVENT:
            event = definition.event(mark.name)
            return f"**{event.name}**: {event.kind}, type `{event.type}`, source `{event.source}`"
        case _:
            return ""


def _parts(parts: Iterable[OutlinePart]) -> Iterator[OutlinePart]:
    for one in parts:
        yield one
        yield from _parts(one.parts)


def _of_part(part: OutlinePart) -> str:
    lines = [f"**{part.name}**: {part.kind}" + (f", {part.note}" if part.note else "")]
    lines += [f"- {work.words}" for work in part.work]
    lines += [f"- {name}: {limit}" for name, limit in part.limits.items()]
    for way in part.ways:
        to = way.end if way.to is None else way.to
        lines.append(f"- on {way.on}{f', {way.when}' if way.when else ''}: {to}")
    return "\n".join(lines)


def _yielded(document: EditedDocument, expression: ShownExpression) -> str:
    sample = _sample(document)
    if sample is None:
        return (
            "There is no sample to try it on: write a scenario beside the definition, or `default` in its input schema."
        )
    try:
        outcome = expression.evaluate(sample.data)
    except (BadExpression, SwfError) as error:
        return f"On {sample.origin}: {error}"
    if outcome is NOTHING:
        return f"On {sample.origin} it yields nothing."
    shown = show_json(outcome, indent=2)
    more = "…" if len(shown) > _MAX_SHOWN else ""
    return f"On {sample.origin} it yields\n```json\n{shown[:_MAX_SHOWN]}{more}\n```"


def _sample(document: EditedDocument) -> Sample | None:
    found = None if document.folder is None else _of_scenario(document.folder, Path(document.name).name)
    schema = None if document.definition is None else document.definition.input_schema
    if found is None and isinstance(schema, dict):
        for key in ("default", "example"):
            if key in schema:
                return Sample(schema[key], f"the `{key}` of the input schema")
        examples = schema.get("examples")
        if isinstance(examples, list) and examples:
            return Sample(examples[0], "the first example of the input schema")
    return found


def _of_scenario(folder: Path, name: str) -> Sample | None:
    """Return the input of the first scenario for the definition *name* in its folder."""
    for file in documents_in(folder)[:_MAX_FILES]:
        try:
            scenarios = read_scenarios(file)
        except SwfError:
            continue
        for one in scenarios:
            if isinstance(one.workflow, Path) and one.workflow.name == name:
                return Sample(one.input, f"the input of the scenario “{one.claim}”")
    return None


_SEVERITIES: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_MEANT: Final = re.compile(r"did you mean (?:'((?:[^'\\]|\\.)+)'|\"((?:[^\"\\]|\\.)+)\")\?")


class DefinitionServer(LanguageServer):
    """The server of one editor."""

    def __init__(self) -> None:
        super().__init__("swf", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Incremental)
        self._documents: dict[str, EditedDocument] = {}
        """The open documents that are definitions, by URI."""
        for method, answer in (
            (types.TEXT_DOCUMENT_DID_OPEN, self._changed),
            (types.TEXT_DOCUMENT_DID_CHANGE, self._changed),
            (types.TEXT_DOCUMENT_DID_SAVE, self._changed),
            (types.TEXT_DOCUMENT_DID_CLOSE, self._closed),
            (types.TEXT_DOCUMENT_DEFINITION, self._definition),
            (types.TEXT_DOCUMENT_REFERENCES, self._references),
            (types.TEXT_DOCUMENT_HOVER, self._hover),
            (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, self._symbols),
        ):
            self._answer(method, answer)
        completing = types.CompletionOptions(trigger_characters=['"', "'", " "])
        self._answer(types.TEXT_DOCUMENT_COMPLETION, self._completion, completing)
        self._answer(types.TEXT_DOCUMENT_RENAME, self._rename, types.RenameOptions(prepare_provider=True))
        self._answer(types.TEXT_DOCUMENT_PREPARE_RENAME, self._prepare_rename)
        fixing = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
        self._answer(types.TEXT_DOCUMENT_CODE_ACTION, self._actions, fixing)

    def _answer(self, method: str, answer: Callable[[Any], Any], options: Any = None) -> None:
        self.feature(method, options)(lambda asked: answer(asked))  # noqa: PLW0108 - it writes an attribute on this

    # Notifications from the editor

    def _changed(
        self,
        told: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams | types.DidSaveTextDocumentParams,
    ) -> None:
        uri = told.text_document.uri
        text = self.workspace.get_text_document(uri)
        path = to_fs_path(uri)
        document = self._documents.get(uri)
        if document is None:
            if not (uri.endswith(DEFINITIONS) or looks_like_definition(text.source)):
                return
            folder = Path(path).parent if path is not None and Path(path).parent.is_dir() else None
            document = self._documents[uri] = EditedDocument(path or uri, folder)
        document.change(text.source)
        found = [self._diagnostic(one, document, text) for one in document.problems if one.file == document.name]
        self._publish(uri, found, text.version)

    def _closed(self, told: types.DidCloseTextDocumentParams) -> None:
        self._documents.pop(told.text_document.uri, None)
        self._publish(told.text_document.uri, [], None)

    def _publish(self, uri: str, found: list[types.Diagnostic], version: int | None) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    def _diagnostic(self, problem: Problem, document: EditedDocument, text: TextDocument) -> types.Diagnostic:
        message = problem.message if problem.hint is None else f"{problem.message}\n{problem.hint}"
        return types.Diagnostic(
            range=_range(text, document.span_of(problem.position)),
            message=message,
            severity=_SEVERITIES[problem.severity],
            code=problem.code,
            source="swf",
            data=_replacement(problem),
        )

    # Requests from the editor

    def _completion(self, asked: types.CompletionParams) -> list[types.CompletionItem]:
        document, text, line, column = self._place(asked)
        found = None if document is None else document.completing(line, column)
        if document is None or found is None:
            return []
        is_json = text.source.lstrip().startswith("{")
        return [
            types.CompletionItem(
                label=name,
                kind=types.CompletionItemKind.Reference,
                detail=found.kind.value,
                text_edit=types.TextEdit(
                    _range(text, found.span), f'"{name}"' if is_json and not found.is_quoted else name
                ),
            )
            for name in (*document.names_of(found.kind), *document.language.standard_names(found.kind))
        ]

    def _definition(self, asked: types.DefinitionParams) -> list[types.Location]:
        return [place for place, defines in self._places(asked) if defines]

    def _references(self, asked: types.ReferenceParams) -> list[types.Location]:
        with_definitions = asked.context.include_declaration
        return [place for place, defines in self._places(asked) if with_definitions or not defines]

    def _places(self, asked: types.DefinitionParams | types.ReferenceParams) -> list[tuple[types.Location, bool]]:
        document, text, line, column = self._place(asked)
        mark = None if document is None else document.mark_at(line, column)
        if document is None or mark is None:
            return []
        spans = [(document.place_of(one), one.defines) for one in document.marks_of(mark)]
        return [(types.Location(text.uri, _range(text, span)), defines) for span, defines in spans if span is not None]

    def _prepare_rename(self, asked: types.PrepareRenameParams) -> types.Range | None:
        document, text, line, column = self._place(asked)
        mark = None if document is None else document.mark_at(line, column)
        span = None if document is None or mark is None else document.place_of(mark)
        return None if span is None else _range(text, span)

    def _rename(self, asked: types.RenameParams) -> types.WorkspaceEdit | None:
        document, text, line, column = self._place(asked)
        mark = None if document is None else document.mark_at(line, column)
        if document is None or mark is None:
            return None
        spans = [document.place_of(one) for one in document.marks_of(mark)]
        if None in spans or asked.new_name in document.names_of(mark.kind) or not asked.new_name.strip():
            return None  # some would not be renamed, or would refer to another name
        edits = [
            types.TextEdit(_range(text, span), document.spelled(asked.new_name, span))
            for span in spans
            if span is not None
        ]
        return types.WorkspaceEdit(changes={text.uri: edits})

    def _hover(self, asked: types.HoverParams) -> types.Hover | None:
        document, text, line, column = self._place(asked)
        found = None if document is None else hover(document, line, column)
        if found is None:
            return None
        span, told = found
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, told), _range(text, span))

    def _symbols(self, asked: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        document = self._documents.get(asked.text_document.uri)
        if document is None:
            return []
        text = self.workspace.get_text_document(asked.text_document.uri)
        states = [one for one in document.marks if one.defines and one.kind is Kind.STATE]
        spans = [(one.name, document.place_of(one)) for one in states]
        return [
            types.DocumentSymbol(name, types.SymbolKind.Struct, _range(text, span), _range(text, span))
            for name, span in spans
            if span is not None
        ]

    def _actions(self, asked: types.CodeActionParams) -> list[types.CodeAction]:
        """Return a fix for each problem that suggests a word."""
        uri = asked.text_document.uri
        return [
            types.CodeAction(
                title=f"Write {one.data!r}",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[one],
                is_preferred=True,
                edit=types.WorkspaceEdit(changes={uri: [types.TextEdit(one.range, one.data)]}),
            )
            for one in asked.context.diagnostics
            if one.source == "swf" and isinstance(one.data, str)
        ]

    def _place(self, asked: Any) -> tuple[EditedDocument | None, TextDocument, int, int]:
        uri = asked.text_document.uri
        text = self.workspace.get_text_document(uri)
        place = text.position_codec.position_from_client_units(text.lines, asked.position)
        return self._documents.get(uri), text, place.line, place.character


def _replacement(problem: Problem) -> str | None:
    """Return the word that was probably meant; None if it is unknown."""
    found = _MEANT.search(problem.hint or "")
    return None if found is None else found[1] or found[2]


def _range(text: TextDocument, span: Span) -> types.Range:
    written = types.Range(types.Position(span.line, span.start), types.Position(span.line, span.end))
    return text.position_codec.range_to_client_units(text.lines, written)


class _Input:
    """The input from the editor. Once it has gone, the rest of a message is missing, and none is left."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        return self._stream.readline()

    def read(self, size: int) -> bytes:
        found = self._stream.read(size)
        return found if len(found) == size else b""


class _Output:
    """The output to the editor. Once it has gone, there is no one left to serve, and the process ends."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        try:
            self._stream.write(data)
            self._stream.flush()
        except OSError:
            os._exit(ExitCode.SUCCESS)

    def flush(self) -> None:
        """Do nothing: everything that is written is sent at once."""

    def close(self) -> None:
        """Do nothing: the process ends next."""


def serve() -> None:
    """Serve the editor that has started this process, over its standard input and output, until it has gone."""
    streams: Any = _Input(sys.stdin.buffer), _Output(sys.stdout.buffer)
    DefinitionServer().start_io(*streams)
