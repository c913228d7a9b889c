"""`swf schema`: what may stand in a definition, for editors?"""

import json
from typing import Annotated

import typer

from swf_temporal.dialects.schema import json_schema

EXAMPLES = {"schema": "Example: swf schema > swf.schema.json"}


def schema(
    title: Annotated[str, typer.Option("--title", help="What the schema calls itself.")] = "Serverless Workflow 0.8",
) -> None:
    """Print the JSON Schema of definitions, for editors.

    It knows every spelling that is read here. What refers to what, and whether expressions compile, only `swf validate`
    can say.
    """
    typer.echo(json.dumps(json_schema(title), indent=2, ensure_ascii=False))
