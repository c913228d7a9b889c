"""Each entrance of data takes a JSON value exactly as it is, or refuses it: one table, entrance by value."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx
import pytest
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue

from swf_temporal import simulate
from swf_temporal.base.calls import Function
from swf_temporal.base.errors import CallFailed, InvalidDefinition, UsageError, WorkflowFault
from swf_temporal.base.strict_json import read_json
from swf_temporal.cli.arguments import given_events, json_value, read_events
from swf_temporal.events.brokers.port import Message
from swf_temporal.events.channels import STRUCTURED as STRUCTURED_MESSAGE
from swf_temporal.events.channels import event_in
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.http.codec_server.application import codec_application
from swf_temporal.http.gateway.cloud_events import BATCH, STRUCTURED, events_of, json_of_body
from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.languages.loading import load
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.http import CodecServerSettings
from swf_temporal.settings.values import Address
from swf_temporal.simulation.reading import read_scenarios
from swf_temporal.temporal.client import _input
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.external_activities import _result
from swf_temporal.temporal.records import read_input, value_of
from swf_temporal.text.bodies import read_answer
from swf_temporal.text.parsing import read_data

REFUSED: Final = "refused"
REFUSALS: Final = (ValueError, UsageError, WorkflowFault, InvalidDefinition, Refused)

EXACT = [
    *("null", "true", "false", "0", "-0", "7", "1.0", "0.1", "1e5", "1E-7", "-1.5e300", "1.7976931348623157e308"),
    *("5e-324", "1e-400", "-1e-400", "9007199254740993", "123456789012345678901234567890", "1" * 308,
      "0." + "1" * 5000),
    *('""', '"a"', '"é"', r'"\u00e9"', r'"\ud83d\ude00"', '"😀"', r'"\\ud83d"', r'"\u0000"', r'"\u2028"', r'"\n\/\""'),
    *('"NaN"', '"1e400"', '"-Infinity"', f'"{"9" * 5000}"', '"[[[[{{{{"'),
    *("[]", "{}", "[[]]", '{"":1}', '{"a":1,"A":2}', '{"a":{"a":1},"b":{"a":2}}', "[1,1]", '{"NaN":[null]}'),
    *('{"1e400":1}', r'{"\ud83d\ude00":"\ud83d\ude00"}', "[" * 90 + "]" * 90, '{"a":' * 90 + "1" + "}" * 90),
    f"[{'[],' * 300}{{}}]",
]  # fmt: skip
"""What every entrance takes as it is."""
WORDS = ["NaN", "[Infinity]", '{"a":[-Infinity]}']
"""What Python's `json` reads and JSON does not have. In YAML these are texts."""
TOO_MUCH = [
    *("1e400", "[-1e400]", '{"a":1E+400}', "1e99999", "1e0309", "9" * 309, "9" * 400, "-" + "9" * 5000),
    *("9" * 5000 + ".5", "[" + "9" * 250 + "e99]"),
    *(r'"\ud83d"', r'["\ude00"]', r'"\uDE00\uD83D"', r'"\ud83d\ud83d"', r'{"\ud83d":1}', r'{"a":{"b":["x\ud83dx"]}}'),
    *('{"a":1,"a":1}', '[{"a":{"b":1,"c":2,"b":3}}]', r'{"a":1,"\u0061":2}', '{"":1,"":1}'),
    *("[" * 210 + "]" * 210, '{"a":' * 210 + "1" + "}" * 210, "[" * 100_000 + "]" * 100_000),
]
"""What is read by some and lost, changed or not written by others: refused by every entrance."""
MALFORMED = ["{", "[1,]", "{a:1}", "'a'", "01", "1 2", "tru", '"a', "+1", ".5", "1.", "0x10", '{"a" 1}', '"\t"', "[1"]
"""What is no JSON; some of it is YAML."""
FOR_PYTHON = [text for text in (*EXACT, *WORDS, *TOO_MUCH) if '"a":1,"' not in text and '"b":3' not in text]
FOR_PYTHON = [text for text in FOR_PYTHON if '"":1,' not in text and len(text) < 50_000]
"""The texts whose values Python can hold."""

EVENT = '{"specversion":"1.0","id":"1","source":"s","type":"t","data":%s}'
HEADERS = {"specversion": "1.0", "id": "1", "source": "s", "type": "t"}
STATES = '[{"name":"A","type":"inject","data":{"v":%s},"end":true}]'
DEFINITION = f'{{"id":"w","specVersion":"0.8","version":"1","start":"A","states":{STATES}}}'
BLOCK = "id: w\nspecVersion: '0.8'\nstates:\n- {name: A, type: inject, data: {v: %s}, end: true}\n"
ECHO = {
    "id": "w", "specVersion": "0.8", "functions": [{"name": "f", "type": "custom", "operation": "f"}],
    "states": [{"name": "A", "type": "operation",
                "actions": [{"functionRef": "f", "actionDataFilter": {"toStateData": "${ .v }"}}], "end": True}],
}  # fmt: skip


def _raw(text: str) -> RawValue:
    return RawValue(Payload(metadata={"encoding": b"json/plain"}, data=text.encode()))


def _run_input(text: str) -> Any:
    data, _, wrong = read_input([_raw(text)], is_child=False)
    if wrong is not None:
        raise ValueError(wrong)
    return None if text == "null" and data == {} else data  # what is started without data has an empty object


def _gateway_event(mode: str) -> Callable[[str], Any]:
    def event_data(text: str) -> Any:
        if mode == "binary":
            headers = [("content-type", "application/json"), *((f"ce-{key}", value) for key, value in HEADERS.items())]
            return events_of(headers, text.encode(), 1).events[0].data
        body, media = (f"[{EVENT % text}]", BATCH) if mode == "batch" else (EVENT % text, STRUCTURED)
        return events_of([("content-type", media)], body.encode(), 1).events[0].data

    return event_data


def _in_file(name: str, written: str, read: Callable[[Path], Any]) -> Callable[[str], Any]:
    def content(text: str) -> Any:
        with TemporaryDirectory() as folder:
            file = Path(folder) / name
            file.write_text(written % text, encoding="utf-8")
            return read(file)

    return content


def _codec_server(text: str) -> Any:
    async def ask() -> int:
        application = codec_application(CodecServerSettings(address=Address("127.0.0.1", 0)), lambda _: CONVERTER)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url="http://codec") as client:
            return (await client.post("/decode", content=f'{{"payloads":[],"more":{text}}}'.encode())).status_code

    if asyncio.run(ask()) != 200:
        raise ValueError
    return json.loads(text)  # what it does not know is left out of the answer


def _definition(text: str, written: str = DEFINITION) -> Any:
    return simulate(load(written % text)).output["v"]  # type: ignore[index, call-overload]  # an object


def _function(value: Any) -> Any:
    call = Call(Function(name="f", type="custom", operation="f"))
    return asyncio.run(Functions({"f": lambda: value}, Settings()).call(call))


def _simulated(value: Any) -> Any:
    run = simulate(ECHO, functions={"f": lambda _: value})
    if run.fault is not None:
        raise run.fault
    return run.output.get("v")  # type: ignore[union-attr]  # an object, to which null adds nothing


def _simulated_input(value: Any) -> Any:
    run = simulate(DEFINITION % 1, {"given": value})
    if run.fault is not None:
        raise run.fault
    return run.output["given"]  # type: ignore[index, call-overload]  # an object


def _scenario(file: Path) -> Any:
    return read_scenarios(file)[0].input["v"]


TEXTS: dict[str, Callable[[str], Any]] = {
    "the gate": lambda text: read_json(text.encode()),
    "gateway: start": lambda text: json_of_body(text.encode()),
    "gateway: structured event": _gateway_event("structured"),
    "gateway: batch": _gateway_event("batch"),
    "gateway: binary event": _gateway_event("binary"),
    "swf start -i": lambda text: json_value(text, "--input"),
    "swf start -i @FILE.json": _in_file("input.json", "%s", lambda file: json_value(f"@{file}", "--input")),
    "swf event": lambda text: given_events(EVENT % text)[0]["data"],
    "swf event --file": _in_file("event.json", EVENT, lambda file: read_events([file])[0]["data"]),
    "HTTP answer": lambda text: read_answer(text.encode(), "application/json"),
    "structured message": lambda text: event_in(Message((EVENT % text).encode(), STRUCTURED_MESSAGE), "kafka").data,
    "binary message": lambda text: (event_in(Message(text.encode(), "application/json",
                                                     {f"ce_{key}": value for key, value in HEADERS.items()}),
                                             "kafka").data),
    "result of another worker's activity": lambda text: _result(_raw(text).payload, "a"),
    "input of a run": _run_input,
    "signal and update": lambda text: value_of(_raw(text)),
    "codec server": _codec_server,
}  # fmt: skip
"""The entrances that read JSON."""
YAML_TEXTS: dict[str, Callable[[str], Any]] = {
    "definition in JSON": _definition,
    "definition in YAML": lambda text: _definition(text, BLOCK),
    "document in YAML": lambda text: read_data(f"v: {text}\n")["v"],
    "swf start -i @FILE.yaml": _in_file("input.yaml", "%s\n", lambda file: json_value(f"@{file}", "--input")),
    "scenario": _in_file("scenario.yaml", f"scenario: One\nworkflow: {DEFINITION % 1}\ninput: {{v: %s}}\n", _scenario),
}
"""The entrances that read YAML, which JSON is a part of."""
VALUES: dict[str, Callable[[Any], Any]] = {
    "result of a Python function": _function,
    "result in a simulation": _simulated,
    "input of a simulation": _simulated_input,
    "input of the client": lambda value: None if value is None else _input(value),
}
"""The entrances to which Python gives values."""


def _outcome(enter: Callable[[Any], Any], given: Any) -> str:
    try:
        return repr(_plain(enter(given)))
    except REFUSALS:
        return REFUSED


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _shown(text: str) -> str:
    return text if len(text) < 60 else f"{text[:60]}… ({len(text)})"


def _table(enter: Callable[[Any], Any], expected: dict[str, str], given: Callable[[str], Any] = str) -> dict[str, str]:
    outcomes = {text: _outcome(enter, given(text)) for text in expected}
    return {_shown(text): _shown(outcomes[text]) for text in expected if outcomes[text] != expected[text]}


def _exact(texts: list[str]) -> dict[str, str]:
    return {text: repr(json.loads(text)) for text in texts}


@pytest.mark.parametrize("entrance", TEXTS)
def test_json(entrance: str) -> None:
    expected = _exact(EXACT) | dict.fromkeys([*WORDS, *TOO_MUCH, *MALFORMED], REFUSED)
    assert _table(TEXTS[entrance], expected) == {}


@pytest.mark.parametrize("entrance", YAML_TEXTS)
def test_yaml(entrance: str) -> None:
    """Whatever reads YAML takes and refuses the same; what JSON has no number for is a text there."""
    words = {text: text.replace("NaN", '"NaN"').replace("Infinity", '"Infinity"') for text in WORDS}
    expected = _exact(EXACT) | dict.fromkeys(TOO_MUCH, REFUSED)
    expected |= {text: repr(json.loads(read.replace('-"', '"-'))) for text, read in words.items()}
    assert _table(YAML_TEXTS[entrance], expected) == {}


@pytest.mark.parametrize("entrance", VALUES)
def test_values_of_python(entrance: str) -> None:
    expected = {text: repr(json.loads(text)) if text in EXACT else REFUSED for text in FOR_PYTHON}
    large = {text for text in FOR_PYTHON if text.strip("-[]").isdigit() and len(text) > 4300}
    assert _table(VALUES[entrance], {text: expected[text] for text in expected if text not in large}, json.loads) == {}
    assert _outcome(VALUES[entrance], 10**5000) == REFUSED


def test_a_fault_of_the_call() -> None:
    """What a function returns that is not JSON is told as that, and the call would not do better again."""
    for value in (float("inf"), 10**400, 10**5000, "\ud83d", {"\ude00": 1}, b"\xff", [[{"a": [float("nan")]}]]):
        for enter in (_function, _simulated):
            with pytest.raises(CallFailed) as failed:
                enter(value)
            assert (failed.value.code, failed.value.retryable) == ("NotJSON", False)
