"""`swf schema`: the JSON Schema of definitions, or of scenario files, for editors."""

from typing import Annotated, Any

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.base.strict_json import show_json
from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import Output, not_empty
from swf_temporal.cli.output import OutputFormat, print_yaml

EXAMPLES = {"schema": "Example: swf schema > swf.schema.json"}


def schema(
    *,
    language: Annotated[
        str | None, typer.Option("--language", metavar="NAME", callback=not_empty, help="The definition language.")
    ] = None,
    version: Annotated[
        str | None,
        typer.Option(
            "--version",
            metavar="VERSION",
            callback=not_empty,
            help="The version of the language.",
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="TEXT", help="The title of the schema."),
    ] = None,
    scenarios: Annotated[
        bool, typer.Option("--scenarios", help="The schema of scenario files instead of that of definitions.")
    ] = False,
    form: Output = OutputFormat.JSON,
) -> None:
    """Print the JSON Schema of definitions, for editors.

    It accepts every supported spelling. References and expressions are only checked by `swf validate`.
    """
    with default_sigint():
        made = _of_scenarios(language, version, title) if scenarios else _of_language(language, version, title)
    if form is OutputFormat.YAML:
        print_yaml(made)
    else:
        typer.echo(show_json(made, indent=2))


def _of_language(language: str | None, version: str | None, title: str | None) -> dict[str, Any]:
    from swf_temporal.languages.known import language_named, usual_language

    meant = usual_language() if language is None else language_named(language)
    return meant.json_schema(title, version)


def _of_scenarios(language: str | None, version: str | None, title: str | None) -> dict[str, Any]:
    from swf_temporal.simulation.scenario_schema import scenario_schema

    if language is not None or version is not None:
        raise UsageError("--scenarios is for definitions of every language", "leave out --language and --version")
    return scenario_schema() if title is None else scenario_schema(title)
