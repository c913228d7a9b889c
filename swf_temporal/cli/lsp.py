"""`swf lsp`: the language server for definitions, which an editor starts."""

from swf_temporal.base.errors import UsageError
from swf_temporal.cli.interrupts import default_sigint

EXAMPLES = {"lsp": "Example: swf lsp  # which the settings of an editor name; the page on editors has them"}


def lsp() -> None:
    """Serve an editor with problems, completion and renaming in definitions.

    It speaks the Language Server Protocol over stdin and stdout.
    """
    with default_sigint():
        try:
            from swf_temporal.editing.server import serve
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
                raise
            raise UsageError("the language server needs pygls", "pip install 'swf-temporal[lsp]'") from None
        serve()
