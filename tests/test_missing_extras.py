"""What is said where an optional part of the package is missing: the same everywhere."""

import re
import tomllib
from pathlib import Path

import pytest

from swf_temporal.base.errors import CallFailed, MissingExtra
from swf_temporal.base.importing import optional

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "swf_temporal").rglob("*.py"))


def test_the_wording() -> None:
    error = MissingExtra("grpc", "functions of type 'rpc'", "grpc")
    assert str(error).splitlines() == [
        "the extra 'grpc' is needed for functions of type 'rpc': grpc is not installed",
        "  pip install 'swf-temporal[grpc]'",
    ]
    other = MissingExtra("local", "a server", otherwise="install `temporal`")
    assert other.line == (
        "the extra 'local' is needed for a server, and is not installed: "
        "pip install 'swf-temporal[local]', or install `temporal`"
    )
    with pytest.raises(CallFailed) as failed:
        optional("no_such_module", "grpc", "functions of type 'rpc'")
    assert failed.value.message == MissingExtra("grpc", "functions of type 'rpc'", "no_such_module").line


def test_no_module_has_a_wording_of_its_own() -> None:
    own = [path.name for path in SOURCES if "swf-temporal[" in path.read_text() and path.name != "errors.py"]
    assert own == []


def test_each_extra_that_is_named_exists() -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {
        found for path in SOURCES for found in re.findall(r'(?<!class )MissingExtra\(\s*"([\w-]+)"', path.read_text())
    }
    assert len(named) > 10
    assert named <= known.keys()
