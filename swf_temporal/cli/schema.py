"""`swf schema`: the JSON Schema of definitions, for editors."""

import json
from typing import Annotated

import typer

from swf_temporal.cli.interrupts import ending_at_once
from swf_temporal.cli.options import Output, not_empty
from swf_temporal.cli.output import Form, form_of, print_yaml

EXAMPLES = {"schema": "Example: swf schema > swf.schema.json"}

_LANGUAGE = "serverless-workflow"


def schema(
    *,
    language: Annotated[
        str, typer.Option("--language", metavar="NAME", callback=not_empty, help="The definition language.")
    ] = _LANGUAGE,
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
    output: Output = None,
) -> None:
    """Print the JSON Schema of definitions, for editors.

    It knows every spelling that is read here. What refers to what, and whether expressions compile, only `swf validate`
    can say.
    """
    form = form_of(output, default=Form.JSON)
    with ending_at_once():
        from swf_temporal.languages.known import language_named

        made = language_named(language).json_schema(title, version)
    if form is Form.YAML:
        print_yaml(made)
    else:
        typer.echo(json.dumps(made, indent=2, ensure_ascii=False))
