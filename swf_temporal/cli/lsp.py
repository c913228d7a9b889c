"""`swf lsp`: the language server for definitions, which an editor starts."""

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.errors import UsageError

EXAMPLES = {"lsp": "Example: an editor starts `swf lsp`; see the page about editors"}


def lsp() -> None:
    """Serve an editor with problems, completion, renaming and more in definitions, over stdin and stdout.

    It speaks the Language Server Protocol.
    """
    with default_sigint():
        try:
            from swf_temporal.editing.server import serve
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
                raise
            raise UsageError("the language server needs pygls", "pip install 'swf-temporal[lsp]'") from None
        serve()
