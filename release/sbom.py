"""The software bill of materials, in the form of CycloneDX: what an environment with all extras has installed."""

import json
from pathlib import Path
from typing import Any

from release.building import ROOT
from release.environments import Environment

_WRITER = "cyclonedx-bom>=7.5"
"""What writes it, in an environment of its own: in ours, what it brings along slows each import of jsonschema."""


def write_sbom(of: Environment, file: Path, folder: Path) -> dict[str, Any]:
    """Write what an environment holds to *file*, and return it. *folder* is for what writes it."""
    writer = Environment(folder, _WRITER)
    told = ["--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "library", "--output-reproducible"]
    writer.run("cyclonedx-py", "environment", *told, "--output-file", file, of.python)
    bill: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    bill["components"] = [one for one in bill.get("components", []) if one["name"] not in _OF_PYTHON]
    file.write_text(json.dumps(bill, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return bill


_OF_PYTHON = {"pip", "setuptools", "wheel", "swf-temporal"}
