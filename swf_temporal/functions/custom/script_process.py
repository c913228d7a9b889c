"""The process of a script: runs the script's code within limits.

A worker starts this file as a program, so it only imports the standard library. It reads one request, runs the code,
writes one answer and then waits to be killed: while it exists, its process group cannot be reused. The answer goes to
the original standard output; whatever the script prints is discarded.
"""

import ast
import json
import os
import resource
import signal
import struct
import traceback
from contextlib import suppress
from typing import Any

LENGTH = struct.Struct(">I")
NAME = "<script>"

_FILE_SIZE = 64 << 20
"""The size limit of a script's file, in bytes."""

_PATIENCE = 5
"""Seconds by which a script may exceed the worker's timeout."""


def main() -> None:
    out = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - pathlib takes long to import
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    source = os.fdopen(0, "rb", closefd=False)
    (length,) = LENGTH.unpack(source.read(LENGTH.size))
    request = json.loads(source.read(length))
    _limit(request["seconds"], request["memory"])
    answer = json.dumps(_answer(request["code"], request["arguments"], variables=request["variables"])).encode()
    out.write(LENGTH.pack(len(answer)) + answer)
    out.flush()
    source.read()


def _limit(seconds: int, memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    # The worker is quicker, unless it has died: then nothing else would end a script that waits forever.
    signal.setitimer(signal.ITIMER_REAL, seconds + _PATIENCE)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_SIZE, _FILE_SIZE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answer(code: str, arguments: Any, *, variables: bool) -> dict[str, Any]:
    """Return the result of *code*, or the exception that it raised, ready to be written."""
    try:
        names: dict[str, Any] = {"__name__": NAME, "arguments": arguments}
        value = _run(code, arguments, names)
    except BaseException as error:  # noqa: BLE001 - a script may also exit
        return _error(error)
    try:
        return {"result": _written(_plain_variables(names) if variables else value)}
    except (TypeError, ValueError, RecursionError) as error:
        return {"notJson": type(value).__name__, "message": str(error)}


def _written(value: Any) -> str:
    return json.dumps(value, default=_plain, allow_nan=False)


def _plain_variables(names: dict[str, Any]) -> dict[str, Any]:
    """Return the variables among *names* that are JSON, and so not modules or functions."""
    found = {}
    for name, value in names.items():
        if name != "arguments" and not name.startswith("_"):
            with suppress(TypeError, ValueError, RecursionError):
                found[name] = json.loads(_written(value))
    return found


def _run(code: str, arguments: Any, names: dict[str, Any]) -> Any:
    """Run *code* and return its variable `result`, or else the value of its last line if that is an expression.

    *names* are its variables before, and contain those that it has set afterwards.
    """
    if isinstance(arguments, dict):
        names.update({name: value for name, value in arguments.items() if not name.startswith("_")})
    tree = ast.parse(code, NAME)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, NAME, "exec"), names)  # noqa: S102 - this is what scripts are for
    value = eval(compile(ast.Expression(last.value), NAME, "eval"), names) if isinstance(last, ast.Expr) else None  # noqa: S307 - as above
    return names.get("result", value)


def _error(error: BaseException) -> dict[str, Any]:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == NAME]
    if isinstance(error, SyntaxError) and error.filename == NAME:
        return {"error": type(error).__name__, "message": error.msg, "line": error.lineno, "syntax": True}
    return {"error": type(error).__name__, "message": str(error), "line": lines[-1] if lines else None}


def _plain(value: Any) -> Any:
    """Return as JSON values that scripts often end with: numpy arrays, times, sets."""
    for name in ("tolist", "isoformat"):
        if hasattr(value, name):
            return getattr(value, name)()
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


if __name__ == "__main__":
    main()
