"""`swf setup`, and what needs it, as processes."""

import json
import signal
from functools import partial

import pytest

from tests.cli.conftest import Swf, free_port, until
from tests.definitions import definition

pytestmark = pytest.mark.temporal

NAMING = definition("""\
id: naming
metadata: {searchAttributes: {NAME: "${ .customer }"}}
events: [{name: Go, type: go, source: shop}]
states: [{name: Wait, type: event, onEvents: [{eventRefs: [Go]}], end: true}]
""")


def test_registers_what_is_missing(swf: Swf) -> None:
    port = free_port()
    swf.write("definitions/naming.yaml", NAMING.replace("NAME", "Customer"))
    with swf.running("dev", "definitions", "--port", str(port), "--ui-port", str(free_port())) as dev:
        dev.until("ready")
        swf.env["TEMPORAL_ADDRESS"] = f"127.0.0.1:{port}"
        refused = swf("worker", "definitions", "--task-queue", "other", "--search-attributes", "--no-wait")
        assert refused.code == 2
        assert "lacks the search attributes SwfVersion (Keyword), " in refused.err
        assert "Customer (Keyword)\n  register them with `swf setup`" in refused.err
        refused = swf("list", "--state", "Wait")
        assert (refused.code, refused.out) == (2, "")
        assert "lacks the search attribute SwfState\n  `swf setup` registers it" in refused.err
        for options, became in (("--dry-run", "is missing"), ("", "registered"), ("", "is there already")):
            ended = swf("setup", "definitions", *options.split())
            assert (ended.code, ended.err) == (0, "")
            assert ended.out.splitlines() == [
                *(f"Swf{name} (Keyword): {became}" for name in NAMES),
                f"SwfWaitsFor (KeywordList): {became}",
                f"SwfSince (Datetime): {became}",
                f"Customer (Keyword): {became}",
            ]
        assert swf("list", "--state", "Wait", "--version", "1", "--business-key", "b", "--error-code", "E").code == 0


NAMES = ("Version", "State", "BusinessKey", "ErrorName", "ErrorCode")


def test_dev_registers_what_instances_set(swf: Swf) -> None:
    port = free_port()
    swf.env["SWF_SEARCH_ATTRIBUTES"] = "1"
    swf.write("definitions/naming.yaml", NAMING.replace("NAME", "Customer"))
    with swf.running("dev", "definitions", "--port", str(port), "--ui-port", str(free_port())) as dev:
        dev.until("ready")
        swf.env["TEMPORAL_ADDRESS"] = f"127.0.0.1:{port}"
        swf.write("definitions/later.yaml", NAMING.replace("naming", "later").replace("NAME", "Team"))
        dev.until("later.yaml: serving later")
        for name, attribute in (("naming", "Customer"), ("later", "Team")):
            begun = swf("start", name, "--id", name, "--business-key", f"of {name}", "--input", '{"customer": "c"}')
            assert begun.code == 0
            listing = partial(swf, "list", "--state", "Wait", "--query", f"{attribute} = 'c'")
            assert until(listing, lambda ended: "Wait" in ended.out).out.splitlines()[0].split() == [
                "id", "definition", "status", "state", "waitsFor", "since", "started",
            ]  # fmt: skip
            [row] = json.loads(swf("list", "--state", "Wait", "--business-key", f"of {name}", "--output", "json").out)
            assert (row["id"], row["state"], row["version"]) == (name, "Wait", "1.0")
        assert dev.stop(signal.SIGTERM).code == 0
