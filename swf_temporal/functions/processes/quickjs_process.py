"""The process of a script in JavaScript, in QuickJS, with the few things of Node.js that scripts commonly use.

A worker starts this file as a program, with the folder of the engine, the script and its arguments. It only imports the
engine and the standard library. A script has `console`, `process` (`argv`, `env`, `exit`, `stdin`, `stdout`, `stderr`),
and `readFileSync` of `node:fs`, which reads the standard input and nothing else.
"""

import json
import os
import re
import sys
from collections.abc import Callable
from typing import Any

_MODULES = re.compile(
    r"""^[ \t]*import[ \t]+(?P<what>\{[^}]*\}|\*[ \t]+as[ \t]+\w+|\w+)[ \t]+from[ \t]+"""
    r"""(?P<quote>['"])(?:node:)?(?P<module>fs|process)(?P=quote)[ \t]*;?""",
    re.MULTILINE,
)
_MEMORY = 512 << 20
_SURROUNDINGS = """
(function (host, argv, env) {
  const shown = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof Error) return value.stack ? `${value}\\n${value.stack}` : String(value);
    if (typeof value !== 'object' || value === null) return String(value);
    try { return JSON.stringify(value); } catch { return String(value); }
  };
  const line = (fd) => (...values) => host('write', fd, values.map(shown).join(' ') + '\\n');
  const stream = (fd) => ({ fd, write(text) { host('write', fd, String(text)); return true; } });
  const out = line(1), err = line(2);
  globalThis.console = { log: out, info: out, debug: out, error: err, warn: err, trace: err };
  globalThis.process = {
    argv, env, platform: 'quickjs', stdin: { fd: 0 }, stdout: stream(1), stderr: stream(2),
    exit(code = 0) { host('exit', Number(code) | 0, ''); },
  };
  const fs = {
    readFileSync(file) {
      if (file === 0 || file === '/dev/stdin') return host('read', 0, '');
      throw new Error(`${file}: only the standard input can be read here`);
    },
  };
  globalThis.require = (name) => {
    const found = { fs, process: globalThis.process }[String(name).replace(/^node:/, '')];
    if (!found) throw new Error(`the module '${name}' is not available here: it needs Node.js`);
    return found;
  };
})
"""


def main(engine: str, script: str, *arguments: str) -> None:
    """Run *script*, a file, in the engine of the folder *engine*, and end the process."""
    sys.path.insert(0, engine)
    import _quickjs  # noqa: PLC0415 - found in the folder only now

    with open(script, encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes long to import
        code = file.read()
    context = _quickjs.Context()
    context.set_memory_limit(_MEMORY)
    context.add_callable("__host", _host)
    argv, env = (context.parse_json(json.dumps(one)) for one in (["quickjs", script, *arguments], dict(os.environ)))
    try:
        context.eval(_SURROUNDINGS)(context.get("__host"), argv, env)
        context.eval("delete globalThis.__host")
        context.eval(_MODULES.sub(_required, code))
        while context.execute_pending_job():
            pass
    except _quickjs.JSException as error:
        _end(1, str(error).strip() + "\n")
    _end(0)


def _required(found: re.Match[str]) -> str:
    """Return the import of a module as a script has it, with the same number of lines."""
    what = found["what"].removeprefix("*").strip().removeprefix("as ").strip()
    what = re.sub(r"\s+as\s+", ": ", what) if what.startswith("{") else what
    return f"const {what} = require('{found['module']}');"


def _host(task: str, number: int, text: str) -> str | None:
    do: dict[str, Callable[[], Any]] = {
        "write": lambda: (sys.stdout, sys.stderr)[number - 1].write(text) and None,
        "read": sys.stdin.read,
        "exit": lambda: _end(number),
    }
    result: str | None = do[task]()
    return result


def _end(code: int, message: str = "") -> None:
    """End at once, so that the engine cannot run on."""
    sys.stdout.flush()
    sys.stderr.write(message)
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]  # they are texts
    main(*sys.argv[1:])
