"""Options, statuses, exit codes and limits on the pages are those of the code."""

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

import swf_temporal.temporal.event_mailboxes as mailboxes
from swf_temporal import Call
from swf_temporal.base import strict_json
from swf_temporal.base.accounting import MAX_WRITTEN
from swf_temporal.base.calendars.cron import YEAR
from swf_temporal.base.exit_codes import ExitCode
from swf_temporal.base.grammar import listed
from swf_temporal.cli.main import app
from swf_temporal.events.consumers import consumer
from swf_temporal.expressions.guarding.helper import EvaluationLimits
from swf_temporal.functions.custom import script_process
from swf_temporal.functions.custom.script import MEMORY
from swf_temporal.functions.custom.type import LEVELS
from swf_temporal.functions.secrets import MAX_LOOKING_UP
from swf_temporal.http.console import application
from swf_temporal.http.gateway import events
from swf_temporal.http.gateway.endpoints import ENDPOINTS, SONATAFLOW
from swf_temporal.http.gateway.openapi import description_of
from swf_temporal.http.gateway.requests import PATIENCE
from swf_temporal.languages import loading
from swf_temporal.runtime import budgets, ids
from swf_temporal.runtime.cycles import MAX_COST
from swf_temporal.runtime.inbox import MAX_SEEN
from swf_temporal.runtime.iterations import MAX_AT_ONCE
from swf_temporal.runtime.run import MAX_DATA_BYTES
from swf_temporal.sdk import asgi_server, http_connections, stores, working
from swf_temporal.settings.calls import Options
from swf_temporal.settings.values import MAX_HOPS
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.simulation.clock import MAX_STEPS, MAX_TIMES_THE_SAME
from swf_temporal.temporal import call_records, continuing, event_dispatch, event_mailboxes, mailbox_records, variables
from swf_temporal.temporal.host import MAX_TRACE
from swf_temporal.temporal.outgoing import MAX_PENDING
from swf_temporal.temporal.payloads import codec
from tests.docs.pages import ROOT

_GATEWAY_ONLY = {("GET", path) for path in ("/console", "/openapi.json", "/docs", "/livez", "/readyz")}
"""What the page about the gateway lists and its OpenAPI description does not."""


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def table(name: str, head: str) -> Iterator[list[str]]:
    """Yield the cells of each row of the table on a page that begins with *head*."""
    text = page(name).partition(f"\n{head}")[2]
    assert text, f"docs/{name}.md has no table that begins with {head}"
    for row in text.partition("\n\n")[0].splitlines()[2:]:
        yield [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip("| "))]


def size(number: int) -> str:
    unit, factor = ("MiB", 1 << 20) if number % (1 << 30) else ("GiB", 1 << 30)
    return f"{number // factor} {unit}"


def test_exit_codes() -> None:
    listed_codes = [int(code) for cells in table("cli", "| exit code |") for code in cells[0].split(", ")]
    assert listed_codes == sorted(ExitCode)


def test_requests_to_the_gateway() -> None:
    named: set[tuple[str, str]] = set()
    for cells in table("gateway", "| request |"):
        method = ""
        for request in re.findall(r"`([^`]+)`", cells[0]):
            method, path = request.split() if " " in request else (method, request)
            named.add((method, path.replace("/ID", "/{id}")))
    assert named == {(one.method, one.path) for one in ENDPOINTS} | _GATEWAY_ONLY


def test_requests_of_sonataflow() -> None:
    """It has every operation of SonataFlow's instances that there is, and the one that is refused."""
    named = {
        (method, path.replace("/ID", "/{id}").replace("/INSTANCE", "/{instance}"))
        for cells in table("gateway", "| request as in SonataFlow |")
        for method, path in [cells[0].strip("`").split("?")[0].split()]
    }
    assert named == {(one.method, one.path) for one in SONATAFLOW}


def test_statuses_of_events() -> None:
    named = {status for cells in table("gateway", "| status | `status`") for status in cells[0].split(", ")}
    assert named == description_of([], is_open=False)["paths"]["/events"]["post"]["responses"].keys()


def test_attributes_of_a_call() -> None:
    named = [name for cells in table("functions/own-types", "| field |") for name in re.findall(r"`(\w+)`", cells[0])]
    assert sorted(named) == sorted(one.name for one in dataclasses.fields(Call))


SETTINGS = "Settings of the worker"
"""The heading of the table that has the options of settings."""
_COMMANDS: Any = typer.main.get_command(app)


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    for word in command.list_commands(None) if hasattr(command, "list_commands") else ():
        yield from _commands(command.get_command(None, word), f"{name} {word}".strip())
    if not hasattr(command, "list_commands"):
        yield name, command


def _options(word: str) -> dict[str, str]:
    pages = "".join(page(f"cli/{path.stem}") for path in sorted((ROOT / "docs" / "cli").glob("*.md"))) + page("cli")
    section = re.split(r"^## ", pages.partition(f"\n## swf {word}\n")[2], flags=re.MULTILINE)[0]
    rows = re.findall(r"^(\| `-(?:[^|\\]|\\.)*)(\|.*)", section, re.MULTILINE)
    found = {option: cell + rest for cell, rest in rows for option in re.findall(r"(?<![\w-])--?[a-z][\w-]*", cell)}
    if SETTINGS not in " ".join(section.split()):
        return found
    table = page("configuration").partition(f"## {SETTINGS}\n")[2].partition("\n## ")[0]
    return {row[1]: row[0] for row in re.finditer(r"^\| .*; `(--[\w-]+)` \| .*", table, re.MULTILINE)} | found


@pytest.mark.parametrize("word", sorted({name.split()[0] for name, _ in _commands(_COMMANDS, "")}))
def test_options_of_commands(word: str) -> None:
    """The pages about the command line have all options of a command and no others, each with its default."""
    commands = [command for name, command in _commands(_COMMANDS, "") if name.split()[0] == word]
    options = [one for command in commands for one in command.params if one.param_type_name == "option"]
    rows = _options(word)
    assert rows.keys() == {name for one in options for name in one.opts} - {"--help", "-h"}
    wrong = [
        f"{one.opts[0]}: {default}"
        for one in options
        if one.opts[0] != "--output" and (default := _default(one)) and default not in rows[one.opts[0]]
    ]
    assert wrong == []


def _default(option: Any) -> str | None:
    """Return the default that help shows for an option: a number, a name or a path."""
    shown = option.show_default if isinstance(option.show_default, str) else option.default
    if isinstance(shown, bool | list | tuple) or not shown:
        return None
    return f"{int(shown):,}" if str(shown).isdigit() and option.opts[0].startswith("--max") else str(shown)


_LIMITS = EvaluationLimits()
_WORKER = WorkerSettings()
CLAIMS = {
    "cli/instances": [f"the latest {MAX_TRACE:,} entries"],
    "cli/running": [f"Calls in progress then have {_WORKER.grace_period.seconds} seconds to finish"],
    "configuration": [f"in bytes or with a unit: `4 MiB` | {size(Options().max_response_bytes)} |"],
    "events": [
        f"remembers the last {mailboxes.MAX_REMEMBERED:,} for a day",
        f"A mailbox has room for {event_mailboxes.MAX_SUBSCRIBERS:,} subscribers,",
        f"and for {event_mailboxes.MAX_SUBSCRIBERS_BYTES >> 10} KiB of data about them",
        f"has {size(mailbox_records.MAX_BYTES)}, beside the definitions, or {event_dispatch.MAX_EVENTS:,} entries",
        f"up to {size(event_dispatch.MAX_STARTING_BYTES)} or {event_dispatch.MAX_STARTING_EVENTS:,} entries",
        f"{mailboxes.MAX_DONE_BYTES >> 10} KiB or {mailboxes.MAX_DONE_EVENTS:,} entries of its history are of events",
        f"is nearly full, {mailboxes.MIN_FREED_BYTES >> 10} KiB are enough",
        f"After {MAX_HOPS}, the event does not start any more instances",
        f"a consumer that is stopped has {consumer._FINISHING:g} seconds for what came",
    ],
    "direktiv": [f"| one variable | {size(variables.MAX_BYTES)} at most | {size(stores.MAX_BYTES)} at most |"],
    "functions": [f"does not return within {MAX_LOOKING_UP:g} seconds"],
    "functions/python": [
        f"There are {working._LEFT:,} more threads to replace these",
        f"It may use {size(MEMORY)} of memory",
        f"files of {size(script_process._FILE_SIZE)}",
        f"Levels are {listed([f'{name} (the default)' if name == 'INFO' else name for name in LEVELS])};",
    ],
    "gateway": [
        f"Temporal has {PATIENCE:g} seconds for each event",
        f"A client has {http_connections._PATIENCE:g} seconds to send the head of a request",
        f"(`ulimit -n`), or than {http_connections.MAX_CONNECTIONS:,},",
        f"if that has up to {asgi_server._SMALL >> 10} KiB",
        f"[console](console.md) has {application._MAX_LOGIN_BYTES >> 10} KiB",
        f"Up to {events._AT_ONCE} events of a batch are sent at once",
    ],
    "limits": [
        f"| calls and sub-workflows in progress in one instance | {MAX_PENDING:,} |",
        f"| iterations of a foreach at once | `batchSize`, at most {MAX_AT_ONCE:,} |",
        f"| one expression | {_LIMITS.seconds:g} s of processor time, {size(_LIMITS.memory)}, ",
        f", {size(MAX_WRITTEN)} of input, {size(_LIMITS.output)} of output |",
        f"| the data of one run in the memory of its worker | {size(MAX_DATA_BYTES)};",
        f"| `maxCachedWorkflows` of the worker ({_WORKER.max_cached_workflows:,}) |",
        f"the latest {loading._MAX_ENTRIES}, {size(loading.MAX_TEXT)} of text",
        f"| work without a wait | {MAX_COST:,} states without expressions",
        f"| remembered event ids | {MAX_SEEN:,} per instance |",
        f"{call_records.MAX_TEXT:,} characters; {call_records.MAX_NAME:,}; {size(call_records.MAX_BODY_BYTES)} |",
        f"| trace | {MAX_TRACE:,} entries |", f"tries again after {continuing.TRY_AGAIN:,} events; it fails",
        f"at {continuing.LAST_EVENTS:,} events or {size(continuing.LAST_BYTES)}, or as soon as",
        f"From {continuing.ALL_SLOW_MAX_EVENTS:,} events on, or {continuing.SLOW_CALL_MAX_EVENTS:,} if ",
        f"if {continuing.MIN_LATER_CALLS} later calls have ended before it, it starts nothing new",
        f"once an execution has got {continuing.MAX_SIGNALS:,} signals",
        f"| `maxStatesWithoutWaiting` | {budgets.STATES:,} |",
        f"| `maxExecutionsWithoutWaiting` | {budgets.EXECUTIONS:,} |", f"| `maxSubflowDepth` | {budgets.DEPTH:,} |",
        f"| `maxDescendants` | {budgets.DESCENDANTS:,} |",
        f"An instance asks for this limit from {budgets.MIN_DESCENDANTS:,} on",
        f"| the same data | {budgets._TIMES_THE_SAME:,}, or a {budgets._STATES_OF_ONE_ROUND:,}th of",
        f"once it reaches {budgets.MIN_STATES:,} states, {budgets.MIN_EXECUTIONS} executions or {budgets.MIN_DEPTH} ",
        f"({ids.MAX_INSTANCE_ID_BYTES} bytes for a sub-workflow, {ids.MAX_ID_BYTES:,} for an activity)",
        f"keeps its first {ids._FRONT} bytes",
    ],
    "operating": [
        f"gives calls in progress {_WORKER.grace_period.seconds} seconds to finish",
        f"limits the calls in progress in one process ({_WORKER.max_activities})",
    ],
    "payloads": [f"Payloads of more than {codec._SMALL} bytes are compressed"],
    "schedules": [f"the year, from {YEAR.low} to {YEAR.high} |"],
    "semantics": [
        f"what is nested more than {strict_json.MAX_DEPTH} levels deep",
        f"begun with the same data {MAX_TIMES_THE_SAME} times while no time passes, and after {MAX_STEPS:,} states",
    ],
    "testing": [f"is given up with `StepLimitExceeded` ({MAX_STEPS:,})."],
    "writing-workflows": [f"stops after {MAX_STEPS:,} states and retries."],
}  # fmt: skip
"""By page, what it says with the numbers that the code has."""


@pytest.mark.parametrize(("name", "claim"), [(name, claim) for name, claims in CLAIMS.items() for claim in claims])
def test_numbers_in_sentences(name: str, claim: str) -> None:
    assert claim in " ".join(page(name).split())
