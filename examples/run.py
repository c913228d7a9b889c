"""Lists the examples, and runs one.

    python examples/run.py NAME

The folder of that name holds a definition (`*.sw.yaml`, or `*.direktiv.yaml`) and its input (`input.json`), which go to
`swf run`, and what the definition needs beside them:

- `service.py` is the service that it calls, and prints its URL as its first line; `SWF_BASE_URL` is set to that;
- `function.py` has a function `main` that `swf serve-function` serves; `SWF_BASE_URL` is set to its URL;
- `worker.py` is another Temporal worker, not ours, and prints a line when it is ready; it and `swf run` are given the
  same server, by `TEMPORAL_ADDRESS`;
- `functions.py` has its Python functions;
- `secrets.json` has its secrets; `SWF_SECRETS_FILE` is set to it.

Both programs are stopped when `swf run` has ended, and its exit code is the one of the example.
"""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, create_subprocess_exec
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
SWF = (sys.executable, "-m", "swf_temporal.cli")


def examples() -> dict[str, Path]:
    """Return the folders of all examples by their names."""
    return {path.parent.name: path.parent for path in sorted(HERE.glob("*/input.json"))}


def order(folder: Path) -> list[str]:
    """Return the command that runs the definition in *folder*."""
    definition = next(path for kind in ("sw", "direktiv") for path in folder.glob(f"*.{kind}.yaml"))
    command = [*SWF, "run", str(definition), "--input", f"@{folder / 'input.json'}"]
    if (folder / "functions.py").exists():
        command += ["--functions", str(folder / "functions.py")]
    return command


async def run(folder: Path) -> int:
    """Start what the example in *folder* needs, run its definition, and return the exit code of `swf run`."""
    environment = dict(os.environ)
    if (folder / "secrets.json").exists():
        environment["SWF_SECRETS_FILE"] = str(folder / "secrets.json")
    async with AsyncExitStack() as stack:
        if (folder / "worker.py").exists():
            environment["TEMPORAL_ADDRESS"] = await stack.enter_async_context(temporal_server())
            await stack.enter_async_context(started(environment, folder / "worker.py"))
        if (folder / "service.py").exists():
            environment["SWF_BASE_URL"] = await stack.enter_async_context(started(environment, folder / "service.py"))
        if (folder / "function.py").exists():
            serving = (*SWF, "serve-function", "--port", "0", f"{folder / 'function.py'}:main")
            environment["SWF_BASE_URL"] = await stack.enter_async_context(
                started(environment, folder / "function.py", serving)
            )
        process = await create_subprocess_exec(*order(folder), env=environment)
        loop = asyncio.get_running_loop()
        # Ctrl-C reaches `swf run` as well. It ends as it wants to, and we after it.
        loop.add_signal_handler(signal.SIGINT, lambda: None)
        loop.add_signal_handler(signal.SIGTERM, process.terminate)
        return await process.wait()


@asynccontextmanager
async def temporal_server() -> AsyncIterator[str]:
    """Yield the address of the Temporal server in the environment, or of one that runs within the context."""
    if address := os.environ.get("TEMPORAL_ADDRESS"):
        yield address
        return
    from swf_temporal import local_server  # noqa: PLC0415 - takes a second, which most do not need

    async with local_server() as server:
        yield server.address


@asynccontextmanager
async def started(
    environment: Mapping[str, str], program: Path, command: tuple[str, ...] | None = None
) -> AsyncIterator[str]:
    """Run *program*, by *command* if it says how, for as long as the context lasts; yields the first line printed."""
    # A separate session: Ctrl-C must not end it before `swf run` has ended.
    process = await create_subprocess_exec(
        *(command or (sys.executable, str(program))), env=environment, stdout=PIPE, start_new_session=True
    )
    try:
        assert process.stdout is not None  # noqa: S101 - for the type checker
        line = (await process.stdout.readline()).decode().strip()
        if not line:
            sys.exit(f"{program} ended as it started")
        print(f"{program.relative_to(HERE)}: {line}", file=sys.stderr)  # noqa: T201 - a program for people
        yield line
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def main(names: list[str]) -> int:
    """Run the example that is named; without a name, list all of them."""
    known = examples()
    if not names:
        for name, folder in known.items():
            title = (folder / "README.md").read_text(encoding="utf-8").partition("\n")[0]
            print(f"{name:12}{title.removeprefix('# ')}")  # noqa: T201 - a program for people
        return 0
    name = names[0]
    if (HERE / name / "demo.py").is_file():
        print(f"'{name}' has its own program: make demo", file=sys.stderr)  # noqa: T201 - as above
        return 2
    if name not in known:
        print(f"there is no example '{name}'; there are {', '.join(known)}", file=sys.stderr)  # noqa: T201 - as above
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return asyncio.run(run(known[name]))
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
