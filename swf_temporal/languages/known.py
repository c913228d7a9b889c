"""The known languages, and the detection of the language of a text.

A language is added by a line in `LANGUAGES`. Its module is imported when a text is read.
"""

import pkgutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from swf_temporal.base.errors import InvalidDefinition, UsageError
from swf_temporal.base.importing import module_named
from swf_temporal.languages.base import UpgradeChange, Upgraded
from swf_temporal.languages.port import Checked, Language
from swf_temporal.text.origin import Fetch, Object, Source, UnreadableText, nothing
from swf_temporal.text.parsing import read_object

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
