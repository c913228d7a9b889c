"""`swf schema`: what may stand in a definition, for editors?"""

import json
from typing import Annotated

import typer

from swf_temporal.cli.interrupts import ending_at_once
from swf_temporal.cli.options import Output
from swf_temporal.cli.output import Form, form_of, print_yaml

EXAMPLES = {"schema": "Example: swf schema > swf.schema.json"}


def schema(
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="What the schema calls itself.")
    ] = "Serverless Workflow 0.8",
    output: Output = None,
) -> None:
    """Print the JSON Schema of definitions, for editors.

    It knows every spelling that is read here. What refers to what, and whether expressions compile, only `swf validate`
    can say.
    """
    form = form_of(output, default=Form.JSON)
    with ending_at_once():
        from swf_temporal.languages.known import language_named

        made = language_named("serverless-workflow").json_schema(title)
    if form is Form.YAML:
        print_yaml(made)
    else:
        typer.echo(json.dumps(made, indent=2, ensure_ascii=False))
