"""Plain texts that look like expressions.

Where only `${ … }` marks an expression, `.message` is sent as these eight characters. It is reported if the text
compiles and refers to data. File names, words with dots between them and the like, such as `error.log` and `.env`, may
compile, too: they are not reported, unless the definition reads or creates a field of that name elsewhere.
"""

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final

from swf_temporal.expressions.evaluation import BadExpression, Expressions
from swf_temporal.expressions.lexing import Token, tokens
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
