"""Start the service of this folder, run the order workflow against it in both languages, and stop the service."""

import os
import subprocess
import sys
import threading
from pathlib import Path

from service import serve

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Run one order in each language; returns the exit code of the first `swf run` that fails."""
    try:
        return next(filter(None, map(run, ("orders.yaml", "orders.sw.yaml"))), 0)
    except KeyboardInterrupt:
        return 130


def run(definition: str) -> int:
    """Run one order by *definition* against a service of its own; returns the exit code of `swf run`."""
    server = serve(0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    print(f"{definition}: the order service listens on {url}", file=sys.stderr)  # noqa: T201 - a program for people
    command = [
        sys.executable, "-m", "swf_temporal.cli", "run", str(HERE / definition),
        "--input", f"@{HERE / 'order.json'}", "--event", str(HERE / "confirmed.json"),
    ]  # fmt: skip
    try:
        return subprocess.run(command, env={**os.environ, "SWF_BASE_URL": url}, check=False).returncode  # noqa: S603 - ours
    finally:
        server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
