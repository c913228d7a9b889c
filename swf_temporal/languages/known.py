"""The languages that are known here, and which of them a text is written in.

A language is added by a line in `LANGUAGES`. Its module is imported when a text is read.
"""

import pkgutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from swf_temporal.base.errors import InvalidDefinition, UsageError
from swf_temporal.base.importing import module_named
from swf_temporal.languages.base import Upgraded
from swf_temporal.languages.port import Checked, Language
from swf_temporal.text.located import Object, UnreadableText
from swf_temporal.text.origin import Fetch, Source, nothing
from swf_temporal.text.parsing import read_object

LANGUAGES: list[str] = [
    "swf_temporal.languages.serverless_workflow.language",
    "swf_temporal.languages.direktiv.language",
]
"""The modules of languages, each with its `LANGUAGE`.

The first is asked last: it tells what is wrong with a text that no language recognises.
"""


def languages() -> Iterator[Language]:
    """Yield the languages, in the order in which they are asked whether a definition is theirs."""
    for module in [*LANGUAGES[1:], LANGUAGES[0]]:
        language: Language = module_named(module).LANGUAGE
        yield language


def usual_language() -> Language:
    """Return the language that a text is taken for which none recognises."""
    return list(languages())[-1]


def import_everything() -> None:
    """Import all modules of all languages: a long-running process may be out of open files when it needs one."""
    for name in LANGUAGES:
        package = module_named(name.rpartition(".")[0])
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            with suppress(ModuleNotFoundError):  # a package of an extra that is not installed
                module_named(module.name)


def language_named(name: str) -> Language:
    """Return the language *name*. Raises UsageError naming those that are known."""
    for language in languages():
        if language.name == name:
            return language
    known = ", ".join(sorted(language.name for language in languages()))
    raise UsageError(f"{name!r} is not a language that is known here; known: {known}")


def looks_like_definition(text: str) -> bool:
    """Tell whether *text*, which may be broken, seems to hold a definition in one of the languages."""
    return any(language.looks_like(text) for language in languages())


def read(source: Source, fetch: Fetch = nothing) -> Checked:
    """Return the definition in *source*, in whichever language it is written, with all that is to be said about it."""
    try:
        root, tolerated = read_object(source)
    except UnreadableText as unreadable:
        return Checked(None, tuple(unreadable.problems))
    checked = read_part(root, source, fetch)
    problems = sorted(tolerated, key=lambda one: (one.position.line, one.position.column)) if tolerated else []
    return replace(checked, problems=(*problems, *checked.problems)) if problems else checked


def read_part(root: Object, source: Source, fetch: Fetch = nothing) -> Checked:
    """Return the definition that *root* is, which stands in *source*, and is taken apart."""
    return language_of(root).read(root, source, fetch)


def upgrade(source: Source, to: str | None = None) -> Upgraded:
    """Return the definition in *source* as the version *to* of its language would write it.

    Raises InvalidDefinition if there is none, and UsageError for versions that are not rewritten or written.
    """
    try:
        root, _ = read_object(source)
    except UnreadableText as unreadable:
        raise InvalidDefinition(unreadable.problems) from None
    return language_of(root).upgrade(source, to)


def migrate(source: Source, properties: Mapping[str, str], *, keeps_effects: bool = False) -> Upgraded:
    """Return the definition in *source*, which another runtime ran with *properties*, as `Language.migrate` does."""
    try:
        root, _ = read_object(source)
    except UnreadableText as unreadable:
        raise InvalidDefinition(unreadable.problems) from None
    return language_of(root).migrate(source, properties, keeps_effects=keeps_effects)


def read_pinned(source: Source) -> Checked:
    """Return the definition that a running instance carries, without asking whether it follows the rules."""
    try:
        root, _ = read_object(source)
    except UnreadableText as unreadable:
        return Checked(None, tuple(unreadable.problems))
    return language_of(root).read_pinned(root, source)


def language_of(root: Object) -> Language:
    """Return the language that *root* is written in: the first of all, if none recognises it."""
    known = list(languages())
    return next((language for language in known if language.recognises(root)), known[-1])
