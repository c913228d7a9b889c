"""An MCP server on its standard input and output, written by hand. Its arguments say what it does differently."""

import json
import os
import sys
import time
from typing import Any


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main(kind: str = "") -> None:
    if kind == "broken":
        sys.exit("the configuration is missing")
    while kind == "endless":
        sys.stdout.write("x" * 10_000)
    heard: list[str] = []
    for line in sys.stdin:
        message = json.loads(line)
        heard.append(message["method"])
        number = message.get("id")
        if message["method"] == "initialize":
            sys.stdout.write("This is a line for people\n")
            sys.stderr.write("starting\n")
            say(id=number, result={"protocolVersion": "2025-06-18", "capabilities": {}})
        elif message["method"] == "tools/call":
            call_tool(kind, message, heard)
        elif number is not None:
            say(id=number, error={"code": -32601, "message": "no such method", "data": {"of": "mine"}})


def call_tool(kind: str, message: dict[str, Any], heard: list[str]) -> None:
    if kind == "silent":
        time.sleep(1000)
    if kind == "exits":
        sys.exit(7)
    if kind == "asks":
        say(id="p", method="ping")
        say(id="s", method="sampling/createMessage", params={})
        heard += [sys.stdin.readline(), sys.stdin.readline()]
    say(method="notifications/progress", params={"progress": 1})
    text = {"heard": heard, "given": message["params"], "environment": dict(os.environ)}
    say(id=message["id"], result={"content": [{"type": "text", "text": json.dumps(text)}]})


if __name__ == "__main__":
    main(*sys.argv[1:])
