"""What a word on the command line may become."""

import json
import subprocess
import sys

import pytest

from swf_temporal.cli.recent_instances import recall, remember
from tests.cli.conftest import Dev, Swf, until

NOWHERE = "127.0.0.1:1"


def completed(swf: Swf, line: str, **env: str) -> list[str]:
    words = {"_SWF_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    ended = swf(env={**words, **env})
    assert ended.err == ""
    return [line for line in ended.out.splitlines() if line]


@pytest.fixture
def known(swf: Swf, monkeypatch: pytest.MonkeyPatch) -> Swf:
    monkeypatch.setenv("XDG_CACHE_HOME", str(swf.folder / "cache"))
    monkeypatch.setenv("TEMPORAL_ADDRESS", NOWHERE)
    swf.env |= {"XDG_CACHE_HOME": str(swf.folder / "cache"), "TEMPORAL_ADDRESS": NOWHERE}
    remember([("order-7", "orders"), ("invoice-1", "invoices")], None, None, all_of_them=True)
    return swf


@pytest.mark.parametrize(("line", "found"), [
    ("swf va", ["validate"]), ("swf term", ["terminate"]), ("swf schedule pre", ["preview"]),
    ("swf run --simu", ["--simulate"]), ("swf list --status comp", ["completed"]),
    ("swf list --output ", ["text", "json", "yaml"]), ("swf help sched", ["schedule"]),
])  # fmt: skip
def test_commands_options_and_their_values(swf: Swf, line: str, found: list[str]) -> None:
    assert completed(swf, line) == found


@pytest.mark.parametrize("command", ["status ", "logs ", "event ", "result -w ", "cancel --workflow-id "])
def test_instances(known: Swf, command: str) -> None:
    assert completed(known, f"swf {command}") == ["order-7", "invoice-1"]
    assert completed(known, f"swf {command}in") == ["invoice-1"]
    assert completed(known, f"swf status --address {NOWHERE} in") == []


def test_definitions(known: Swf) -> None:
    """Ids of definitions in files of this folder and of those in it, and of instances; files, too, to start one."""
    known.write("inside/other.json", json.dumps({"id": "other", "specVersion": "0.8", "states": []}))
    known.write("not-one.yaml", "id: nothing\n")
    assert completed(known, "swf list --definition ") == ["caller", "hello", "waiter", "other", "orders", "invoices"]
    assert completed(known, "swf schedule show o") == ["other", "orders"]
    assert completed(known, "swf start he") == ["hello", "hello.yaml"]
    assert completed(known, "swf start inside/") == ["inside/other.json"]


@pytest.mark.parametrize("line", ["swf status in", "swf start he", "swf run --s", "swf schedule show o"])
def test_imports_nothing_heavy(known: Swf, line: str) -> None:
    program = (
        "import atexit, sys\n" "def tell():\n"
        "    heavy = ('temporalio', 'pydantic', 'yaml', 'httpx', 'jq', 'asyncio')\n"
        "    print([name for name in heavy if name in sys.modules], file=sys.stderr)\n" "atexit.register(tell)\n"
        "from swf_temporal.cli.main import code_of\n" "code_of([])\n"
    )  # fmt: skip
    words = {"_SWF_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    command = [sys.executable, "-c", program]
    ended = subprocess.run(
        command, check=False, env={**known.env, **words}, cwd=known.folder, capture_output=True, text=True
    )
    assert ended.stderr == "[]\n"
    assert ended.stdout


def test_what_cannot_be_read(known: Swf) -> None:
    for file in (known.folder / "cache").rglob("*.json"):
        file.write_text("[1]")
    assert recall(None, None).instances == {}
    assert completed(known, "swf status ") == []


def test_the_latest_are_kept(known: Swf) -> None:
    remember([("order-8", "orders")], None, None)
    assert list(recall(None, None).instances) == ["order-8", "order-7", "invoice-1"]
    remember(((f"n-{number}", "n") for number in range(300)), None, None)
    kept = list(recall(None, None).instances)
    assert (len(kept), kept[0]) == (200, "n-0")
    assert completed(known, "swf status n-299") == []


@pytest.mark.temporal
def test_the_server_is_looked_at_for_the_next_time(swf: Swf, dev: Dev) -> None:
    elsewhere = {"XDG_CACHE_HOME": str(swf.folder / "elsewhere")}
    started = swf("start", "waiter", "-w", "seen-by-others", "--address", dev.address, env=elsewhere)
    assert started.code == 0
    until(lambda: completed(swf, f"swf status --address {dev.address} seen-by") == ["seen-by-others"])
    swf("terminate", "seen-by-others", "--address", dev.address)
