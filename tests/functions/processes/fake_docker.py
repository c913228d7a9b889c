"""A command line like that of Docker: it notes what it is asked, and runs the command of a container here.

Its folder is DOCKER_CONFIG, a variable that an engine's command line gets.
"""

import json
import os
import subprocess
import sys
from pathlib import Path


def main(*arguments: str) -> int:
    folder = Path(os.environ["DOCKER_CONFIG"])
    with (folder / "asked").open("a", encoding="utf-8") as file:
        file.write(json.dumps(arguments) + "\n")
    task, *rest = arguments
    if task == "run":
        return run(rest)
    for name in ("ps", "inspect"):
        if task == name and (folder / name).exists():
            sys.stdout.write((folder / name).read_text(encoding="utf-8"))
    return 0


def run(options: list[str]) -> int:
    lines = Path(options[options.index("--env-file") + 1]).read_text(encoding="utf-8").splitlines()
    environment = dict(line.split("=", 1) for line in lines)
    environment |= dict(options[place + 1].split("=", 1) for place, one in enumerate(options) if one == "-e")
    image = next(
        place
        for place, one in enumerate(options)
        if one.startswith(("alpine", "absent", "hello-world")) and options[place - 1] != "--name"
    )
    if options[image] == "absent":
        sys.stderr.write("Unable to find image")
        return 125
    if options[image] == "hello-world":
        sys.stderr.write("pulled\n")
        sys.stdout.write("Hello from Docker!\n")
        return 0
    command = options[image + 1 :]
    if "--entrypoint" in options:
        command = [options[options.index("--entrypoint") + 1], *command]
    return subprocess.run(command or ["true"], env={"PATH": os.defpath, **environment}, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
