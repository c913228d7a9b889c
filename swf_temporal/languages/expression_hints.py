"""Hints for expressions that do not compile, and for plain texts that look like expressions.

Where only `${ … }` marks an expression, `.message` is sent as these eight characters. It is reported if the text
compiles and refers to data. File names, words with dots between them and the like, such as `error.log` and `.env`, may
compile, too: they are not reported, unless the definition reads or creates a field of that name elsewhere.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Final

from swf_temporal.expressions.evaluation import BadExpression, Expressions
from swf_temporal.expressions.lexing import Token, tokens
from swf_temporal.text.suggestions import meant_or_known, nearest

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
_FILE_NAMES: Final = frozenset(f"{_FILES}{_ENDINGS}".split())
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
    return bool(fields) and all(_DOTTED.fullmatch(one) and not _FILE_NAMES.isdisjoint(one.split(".")) for one in parts)


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


_NAMES: Final = re.compile(r"\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*")
"""A path without its leading `$`."""
_LEAVE_OUT: Final = "leave it out to select everything"
_A_PATH: Final = "'$.order.id', '$.items[0]' or '$.items[?(@.price > 10)]'"
_A_CONDITION: Final = "write a comparison, such as '$.age gt 18'; and, or and not join several"
_EXPECTS_MORE: Final = re.compile(
    r"(?:[|,+\-*/%=<>:?.]+|\b(?:and|or|not|then|else|if|as|elif|reduce|foreach|try|catch))$"
)
_BRACES: Final = re.compile(r"\$\{(?P<jq>.*)\}|\{\{(?P<older>.*)\}\}", re.DOTALL)
_OF_OTHER_LANGUAGES: Final = {
    "&&": "jq writes 'and' for &&",
    "||": "jq writes 'or' for ||",
    "!==": "jq writes '!=' for !==",
    "===": "jq writes '==' for ===",
    "!": "jq writes '(...) | not' for !(...)",
    "'": 'jq writes texts in double quotes: "..."',
}
_SHOWN_BY: Final = ("character", "'|'", "'='")
"""Unexpected tokens, in jq's words, that may be a sign of another language."""
_JSON_PATH: Final = re.compile(r"\$(?P<jq>\.(?!\.)(?:(?!\[[?*]|\.[.*]).)*)", re.DOTALL)
"""A JSONPath that is jq without its `$`."""
_ELEMENTS: Final = "'.items[]' for '$.items[*]', and '.items[] | select(.price > 10)' for a filter"
_IN_PARENTHESES: Final = ("as", "def", "label")
"""Words that the value of a key has only within parentheses."""
_PLACE: Final = "write the path of a field in the data, such as '.result'"
_UNEXPECTED: Final = re.compile(r"syntax error, unexpected (?P<what>.+)")
_NO_FUNCTION: Final = re.compile(r"(?P<name>\w+)/(?P<arity>\d) is not defined")
_FIRST_NAME: Final = re.compile(r"\W")
_MARKED: Final = re.compile(r"\$\{([^{}]*)\}")
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NO_ARGUMENTS: Final = re.compile(r"(?<![.\w$])(?P<name>[A-Za-z_]\w*)\(\s*\)")
_TERNARY: Final = re.compile(r"\?\s*[\w.$\"'(\[-](?:[^,{}|?()\[\]]|\([^()]*\)|\[[^\[\]]*\])*:")
"""`a ? b : c`, as other languages write a condition."""
_WITHOUT_ARGUMENTS: Final = frozenset({
    "abs", "ascii_downcase", "ascii_upcase", "ceil", "explode", "floor", "from_entries", "fromjson", "implode", "keys",
    "length", "max", "min", "not", "now", "reverse", "round", "sort", "sqrt", "to_entries", "toarray", "tojson",
    "tonumber", "tostring", "transpose", "type", "unique",
})  # fmt: skip
"""Functions of jq that have no argument; but for `now`, they work on their input."""
_UNDEFINED: Final = re.compile(r"\$(?P<name>\w+) is not defined")


def hint_for_path(text: str, *, in_braces: bool = False) -> str:
    """Return a hint for *text*, which is not a JSONPath; *in_braces* if paths are in braces, as in 0.5."""
    text = text.strip()
    if not text:
        return _LEAVE_OUT
    if "${" in text or text.startswith("{{"):
        return f"write the path without braces, such as {_A_PATH}"
    if _NAMES.fullmatch(text):
        path = f"$.{text.removeprefix('.')}"
        return f"did you mean '{{{{ {path} }}}}'?" if in_braces else f"did you mean {path!r}?"
    return f"write a path into the data, such as {_A_PATH}"


def hint_for_condition(text: str) -> str:
    """Return a hint for *text*, which is not a condition in spel."""
    if "${" in text:
        return "${ } marks jq, which is supported since 0.6: write a comparison without it, such as '$.age gt 18'"
    return _A_CONDITION


def hint_for_variable(message: str, known: Iterable[str]) -> str | None:
    """Return a hint with the known variables, if *message* says that one is not defined."""
    undefined = _UNDEFINED.fullmatch(message)
    if undefined is None:
        return None
    return meant_or_known(f"${undefined['name']}", known)


def hint_for_word(message: str, text: str, known: Collection[str], *, is_command: bool) -> str | None:
    """Return what was meant, if *message* says that jq does not define the word that an expression in *text* is.

    *known* are the names of variables. With *is_command* the text is a command of a shell, which has its own.
    """
    undefined = _NO_FUNCTION.fullmatch(message)
    if undefined is None or undefined["arity"] != "0":
        return None
    name = undefined["name"]
    marked = _MARKED.findall(text)
    word = next((one.strip() for one in marked or (text,) if _FIRST_NAME.split(one.strip())[0] == name), "")
    if _NAMES.fullmatch(word) is None:
        return None
    if is_command and marked and word == name and name not in known:
        return f"the shell's own variables are written ${name}, without braces"
    meant = f"${word}" if name in known else f".{word}"
    return f"did you mean '{f'${{ {meant} }}' if marked else meant}'?"


def hint_for_syntax(message: str, text: str, *, is_marked: bool, is_target: bool) -> str | None:
    """Return a hint for the syntax error of jq in *message*.

    *is_marked* is True if *text* is in `${ }`, and *is_target* if it has to be a path in the data.
    """
    braces = _BRACES.fullmatch(text.strip())
    inner = (text if braces is None else braces["jq"] or braces["older"] or "").strip()
    unexpected = _UNEXPECTED.match(message)
    if unexpected is None:
        return _PLACE if is_target and "is not a place" in message else _without_argument(message, inner)
    if unexpected["what"] == "end of the expression":
        expects_more = _EXPECTS_MORE.search(inner)
        if expects_more is not None:
            return f"write what follows {expects_more[0]!r}, or remove it"
        return "close what is open: a bracket, a quote or an 'end' is missing"
    foreign = _of_another_language(unexpected["what"], inner)
    if foreign is not None:
        return foreign
    if unexpected["what"] in _IN_PARENTHESES and (value := _value_with(unexpected["what"], inner)) is not None:
        return f"write the value of a key in parentheses: {{{value}}}"
    if inner.startswith("$."):
        same = _JSON_PATH.fullmatch(inner)
        return f"that is a JSONPath: jq writes {_ELEMENTS if same is None else repr(same['jq'])}"
    if is_target:
        return _PLACE
    if is_marked:
        return "correct the jq here, or remove ${ } if a text is meant"
    return f"write '\"{inner}\"' if a text is meant, and jq such as '.order.id' if a field is"


def _of_another_language(unexpected: str, jq: str) -> str | None:
    """Return how jq writes what *jq* has as other languages write it."""
    if unexpected in _SHOWN_BY:
        foreign = next((hint for mark, hint in _OF_OTHER_LANGUAGES.items() if mark in jq), None)
        if foreign is not None:
            return foreign
    bare = _QUOTED.sub('""', jq)
    called = _NO_ARGUMENTS.search(bare)
    if unexpected == "')'" and called is not None and called["name"] in _WITHOUT_ARGUMENTS:
        return f"jq calls a function without arguments by its name alone: {called['name']}"
    return "in jq: if … then … else … end" if _TERNARY.search(bare) is not None else None


def _without_argument(message: str, jq: str) -> str | None:
    """Return how a function is called in *jq*, if *message* says that it is not defined with an argument."""
    undefined = _NO_FUNCTION.fullmatch(message)
    if undefined is None or undefined["arity"] != "1" or undefined["name"] not in _WITHOUT_ARGUMENTS:
        return None
    called = re.search(rf"(?<![.\w$]){undefined['name']}\((?P<argument>[^()\";]+)\)", jq)
    return f"in jq: {'…' if called is None else called['argument'].strip()} | {undefined['name']}"


def _value_with(word: str, jq: str) -> str | None:
    """Return the first key of an object in *jq* whose value has *word*, with the value in parentheses up to there."""
    enclosing: list[tuple[str, int, int | None]] = [("", 0, None)]  # bracket, begin of the key, begin of its value
    with suppress(BadExpression):
        for token in tokens(jq):
            bracket, key, value = enclosing[-1]
            if token.kind == "open":
                enclosing.append((token.text, token.offset + 1, None))
            elif token.kind == "close":
                enclosing.pop()
            elif bracket == "{" and token.text == ",":
                enclosing[-1] = (bracket, token.offset + 1, None)
            elif bracket == "{" and token.text == ":" and value is None:
                enclosing[-1] = (bracket, key, token.offset + 1)
            elif bracket == "{" and value is not None and token.kind == "name" and token.text == word:
                written = jq[value : token.offset].strip()
                return f"{jq[key:value].strip()} ({written}{' ' if written else ''}{word} …)"
    return None
