"""The software bill of materials, in the form of CycloneDX: what an environment with all extras has installed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from release.building import ROOT


def write_sbom(python: Path, file: Path) -> dict[str, Any]:
    """Write what the environment of the interpreter *python* holds to *file*, and return it."""
    told = ["--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "library", "--output-reproducible"]
    command = [sys.executable, "-m", "cyclonedx_py", "environment", *told, "--output-file", str(file), str(python)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    bill: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    bill["components"] = [one for one in bill.get("components", []) if one["name"] not in _OF_PYTHON]
    file.write_text(json.dumps(bill, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return bill


_OF_PYTHON = {"pip", "setuptools", "wheel", "swf-temporal"}
