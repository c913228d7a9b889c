"""The known languages, and the detection of the language of a text.

A language is added by a line in `LANGUAGES`. Its module is imported when a text is read.
"""

import pkgutil
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Final

from swf_temporal.base.errors import InvalidDefinition, UsageError
from swf_temporal.base.importing import module_named
from swf_temporal.expressions.evaluation import BadExpression, Expressions
from swf_temporal.expressions.lexing import Token, tokens
from swf_temporal.languages.base import UpgradeChange, Upgraded
from swf_temporal.languages.port import Checked, Language
from swf_temporal.text.origin import Fetch, Object, Source, UnreadableText, nothing
from swf_temporal.text.parsing import read_object
from swf_temporal.text.suggestions import nearest

_PATH = re.compile(r"\w[\w.:/@+~-]*|\.{1,2}(?:/[\w.-]+)+/?|\.[\w-]+(?:/[A-Za-z_][\w-]*(?:\.\w+)*)+/?")
"""`error.log`, `./run`, `.github/workflows/test.yaml`: without blanks, brackets or dots that begin a field."""

_DOTTED = re.compile(r"(?:\.\w+)+")

_FILES = """
aws bashrc dockerignore editorconfig env git gitattributes github gitignore gitlab gitmodules htaccess htpasswd idea
kube npmignore npmrc nvmrc prettierrc pypirc ssh venv vscode zshrc
"""
_ENDINGS = """
avi avro bak bat bmp bz2 cfg conf cpp crt css csr csv dll doc docx eml exe gif gz htm html ico ini jar jpeg jpg js json
jsonl jsx lz4 md mkv mov mp3 mp4 mpeg odt ogg parquet pdf pem php png ppt pptx proto ps1 py rar rb rst rtf sh svg tar
tgz tif tiff toml ts tsv tsx ttf txt wav webm webp whl woff xls xlsx xml xsd xz yaml yml zip com edu gov org NET
"""
_NAMES: Final = frozenset(f"{_FILES}{_ENDINGS}".split())
"""Words after a dot in texts that are not expressions."""

_AFTER_THE_DATA = frozenset({"[", '"', "|", "+"})
"""Characters after a dot that stands for the data, as in `.[0]`, `."a b"` and `. | keys`."""


def meant(text: str, expressions: Expressions, known: Collection[str]) -> str | None:
    """Return the expression in *text*, if it looks like one that refers to data; else None.

    *known* are the names of fields that the definition reads or creates elsewhere.
    """
    stripped = text.strip()
    if stripped.startswith("{{") and stripped.endswith("}}"):
        stripped = stripped[2:-2].strip()
    stripped = _with_declared(stripped, expressions)
    if not _names_data(stripped, expressions, known):
        return None
    try:
        compiled = expressions.expression(stripped)
    except BadExpression:
        return None
    return None if compiled.constant else stripped


def names_in(text: str) -> frozenset[str]:
    """Return the names of the fields that a text mentions in jq syntax."""
    return frozenset(word.text[1:] for word in _words(text) if word.kind == "field")


def _names_data(text: str, expressions: Expressions, known: Collection[str]) -> bool:
    if text.startswith("fn:"):
        return True  # a missing function does not compile
    if not expressions.is_jq:
        return text.startswith("$") and text != "$"
    words = _words(text)
    fields = [word.text[1:] for word in words if word.kind == "field"]
    if _PATH.fullmatch(text) or (_are_names(text, fields) and not any(field in known for field in fields)):
        return False
    variables = {word.text[1:] for word in words if word.kind == "variable"}
    if "ENV" in variables or (text.startswith("..") and "|" not in text):
        return False  # the environment is empty, and three dots are more often an ellipsis than a search
    return bool(fields) or bool(variables & expressions.declared) or _reads_all(words) or _interpolates(words)


def _are_names(text: str, fields: Sequence[str]) -> bool:
    """Return True if *text* is one or several names such as `.env.local` and `.tar.gz`."""
    parts = re.split(r"[\s,]+", text)
    return bool(fields) and all(_DOTTED.fullmatch(one) and not _NAMES.isdisjoint(one.split(".")) for one in parts)


def _reads_all(words: Sequence[Token]) -> bool:
    """Return True if one of the dots stands for the data as a whole, or for an element of it."""
    return any(
        one.kind == "operator" and one.text == "." and after.text in _AFTER_THE_DATA for one, after in pairwise(words)
    )


def _interpolates(words: Sequence[Token]) -> bool:
    r"""Return True if it is a quoted text that interpolates data, as in `"Got: \\(.)"`."""
    return words[:1] != [] and words[0].kind == "quote" and any(word.text == "\\(" for word in words)


def _with_declared(text: str, expressions: Expressions) -> str:
    """Return *text* with misspelt variables, such as `$SECRET`, corrected."""
    words = _words(text) if expressions.is_jq and "$" in text else []
    for word in reversed(words):
        name = word.text[1:]
        if word.kind == "variable" and name not in expressions.declared:
            meant_one = nearest(name, expressions.declared, 0.8)
            if meant_one is not None:
                text = f"{text[: word.offset]}${meant_one}{text[word.offset + len(word.text) :]}"
    return text


def _words(text: str) -> list[Token]:
    try:
        return list(tokens(text))
    except BadExpression:
        return []


LANGUAGES: list[str] = [
    "swf_temporal.languages.serverless_workflow.language",
    "swf_temporal.languages.direktiv.language",
    "swf_temporal.languages.dsl.language",
]
"""The modules of languages, each with its `LANGUAGE`.

The first is tried last: it reports the problems of a text that no language recognises.
"""


def languages() -> Iterator[Language]:
    """Yield the languages, in the order in which they are tried on a definition."""
    for module in [*LANGUAGES[1:], LANGUAGES[0]]:
        language: Language = module_named(module).LANGUAGE
        yield language


def usual_language() -> Language:
    """Return the fallback language of a text that no language recognises."""
    return list(languages())[-1]


def import_everything() -> None:
    """Import all modules of all languages: a long-running process may be out of file descriptors when it needs one."""
    for name in LANGUAGES:
        package = module_named(name.rpartition(".")[0])
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            with suppress(ModuleNotFoundError):  # a package of an extra that is not installed
                module_named(module.name)


def language_named(name: str) -> Language:
    """Return the language *name*. Raises UsageError naming the known ones."""
    for language in languages():
        if language.name == name:
            return language
    known = ", ".join(sorted(language.name for language in languages()))
    raise UsageError(f"{name!r} is not a known language; known: {known}")


def looks_like_definition(text: str) -> bool:
    """Return True if *text*, which may be broken, seems to be a definition in one of the languages."""
    return any(language.looks_like(text) for language in languages())


def is_definition(text: str) -> bool:
    """Return True if *text* is a definition in one of the languages, which may have problems."""
    if not looks_like_definition(text):
        return False
    try:
        root, _ = read_object(Source(text, ""))
    except UnreadableText:
        return False
    return any(language.recognises(root) for language in languages())


def read(source: Source, fetch: Fetch = nothing) -> Checked:
    """Return the definition in *source*, in any language, with all its problems."""
    try:
        root, tolerated = read_object(source)
    except UnreadableText as unreadable:
        return Checked(None, tuple(unreadable.problems))
    checked = read_part(root, source, fetch)
    problems = sorted(tolerated, key=lambda one: (one.position.line, one.position.column)) if tolerated else []
    return replace(checked, problems=(*problems, *checked.problems)) if problems else checked


def read_part(root: Object, source: Source, fetch: Fetch = nothing) -> Checked:
    """Return the definition *root*, an already parsed part of *source*."""
    return language_of(root).read(root, source, fetch)


def upgrade(source: Source, to: str | None = None, namespace: str | None = None, fetch: Fetch = nothing) -> Upgraded:
    """Return the definition in *source*, rewritten in the version *to* of its language, in *namespace* if that has any.

    See `Language.upgrade`.

    Raises InvalidDefinition if it is not a definition, and UsageError for unsupported versions.
    """
    try:
        root, _ = read_object(source)
    except UnreadableText as unreadable:
        raise InvalidDefinition(unreadable.problems) from None
    language = language_of(root)
    made = language.upgrade(source, to, namespace, fetch)
    written, _ = read_object(Source(made.text, source.name))
    other = language_of(written)
    if other is language or not made.is_complete:
        return made
    errors = other.read(written, Source(made.text, source.name), fetch).errors
    # A document that is missing here may be where the definition is going to be.
    faults = [f"what is written has an error: {one.message}" for one in errors if one.code != "external-missing"]
    return replace(made, changes=(*made.changes, *(UpgradeChange("inexpressible", one) for one in faults)))


def migrate(
    source: Source,
    properties: Mapping[str, str],
    fetch: Fetch = nothing,
    *,
    keeps_effects: bool = False,
    application: str = "",
) -> Upgraded:
    """Migrate the definition in *source*, which another runtime ran with *properties*: see `Language.migrate`."""
    try:
        root, _ = read_object(source)
    except UnreadableText as unreadable:
        raise InvalidDefinition(unreadable.problems) from None
    return language_of(root).migrate(source, properties, fetch, keeps_effects=keeps_effects, application=application)


def read_pinned(source: Source) -> Checked:
    """Return the definition that a running instance carries, without validating it."""
    try:
        root, _ = read_object(source)
    except UnreadableText as unreadable:
        return Checked(None, tuple(unreadable.problems))
    return language_of(root).read_pinned(root, source)


def language_of(root: Object) -> Language:
    """Return the language of *root*: the first of `LANGUAGES` if none recognises it."""
    for language in languages():  # one after the other: those that come later are not imported in vain
        if language.recognises(root):
            return language
    return usual_language()
