"""The language server: what an editor asks, answered from the documents that are open in it.

Positions of the protocol count from zero, in units that editor and server agree on; `pygls` translates them.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from swf_temporal import __version__
from swf_temporal.base.errors import Problem, Severity
from swf_temporal.editing.document import EditedDocument, Span
from swf_temporal.editing.hovering import hover
from swf_temporal.languages.known import looks_like_definition
from swf_temporal.languages.marks import Kind

_SEVERITIES: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_MEANT: Final = re.compile(r"did you mean (?:'((?:[^'\\]|\\.)+)'|\"((?:[^\"\\]|\\.)+)\")\?")


class DefinitionServer(LanguageServer):
    """Serves one editor."""

    def __init__(self) -> None:
        super().__init__("swf", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Incremental)
        self._documents: dict[str, EditedDocument] = {}
        """By URI, those that are definitions."""
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

    # What the editor tells

    def _changed(
        self,
        told: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams | types.DidSaveTextDocumentParams,
    ) -> None:
        uri = told.text_document.uri
        text = self.workspace.get_text_document(uri)
        path = to_fs_path(uri)
        document = self._documents.get(uri)
        if document is None:
            if not (".sw." in uri or looks_like_definition(text.source)):
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

    # What the editor asks

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
            for name in document.names_of(found.kind)
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
            return None  # some of them would stay as they are, or mean another
        edits = [types.TextEdit(_range(text, span), asked.new_name) for span in spans if span is not None]
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
        """Return a fix for each problem that says what was meant."""
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
    """Return the word that was probably meant; None if it is not known."""
    found = _MEANT.search(problem.hint or "")
    return None if found is None else found[1] or found[2]


def _range(text: TextDocument, span: Span) -> types.Range:
    written = types.Range(types.Position(span.line, span.start), types.Position(span.line, span.end))
    return text.position_codec.range_to_client_units(text.lines, written)


def serve() -> None:
    """Serve the editor that has started this process, over its standard input and output."""
    DefinitionServer().start_io()
