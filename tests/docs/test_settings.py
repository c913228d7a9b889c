"""The pages have every setting, with its variable and its default, and no others."""

import re
from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.operations.client import PAYLOAD_VARIABLES
from swf_temporal.settings.calls import ContainerRunner, KubernetesRunner, Options, Runners, Settings
from swf_temporal.settings.configuration import SECTIONS, Section
from swf_temporal.settings.events import BrokerAddress, ConsumerSettings, EventSettings, SinkSettings
from swf_temporal.settings.http import CodecServerSettings, GatewaySettings, Tenant
from swf_temporal.settings.network import Network, Tls
from swf_temporal.settings.payloads import EncryptionSettings, PayloadSettings, StorageSettings
from swf_temporal.settings.worker import WorkerSettings

DOCS = Path(__file__).parents[2] / "docs"
BROKERS = {setting.key for setting in BrokerAddress.settings()} - {"url"} | {"name", "from", "to"}
TABLES: list[tuple[str, str, type[Section], set[str]]] = [
    ("configuration", "Each of `calls`, `functions`, `services` and `hosts`", Options, set()),
    ("configuration", "## Settings of the worker", WorkerSettings, set()),
    ("configuration", "| option of `storage` |", StorageSettings, set()),
    ("configuration", "| option of `encryption` |", EncryptionSettings, set()),
    ("configuration", "| option of a consumer |", ConsumerSettings, BROKERS),
    ("configuration", "| option of a sink |", SinkSettings, BROKERS),
    ("runners", "| option of `runners` |", Runners, set()),
    ("runners", "| option of `container` |", ContainerRunner, set()),
    ("runners", "| option of `kubernetes` |", KubernetesRunner, set()),
    ("gateway", "| option of a tenant |", Tenant, set()),
    ("gateway", "| option of `gateway` |", GatewaySettings, set()),
    ("payloads", "| option of `codecServer` |", CodecServerSettings, set()),
]
"""For each table: its page, what begins it, the section, and the settings that another table has."""
SECTION_CLASSES: list[type[Section]] = [
    *(Settings, Options, Tls, Network, WorkerSettings, PayloadSettings, StorageSettings, EncryptionSettings),
    *(CodecServerSettings, EventSettings, GatewaySettings, Runners),
]
_UNITS = {"GiB": 2**30, "MiB": 2**20, "KiB": 2**10}


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def rows(name: str, beginning: str) -> Iterator[tuple[list[str], list[str]]]:
    text = page(name)
    table = text[text.index(beginning) :]
    table = re.split(r"^\|-.*\n", table, maxsplit=1, flags=re.MULTILINE)[1].partition("\n\n")[0]
    for line in table.splitlines():
        first, *others = re.split(r"(?<!\\) *\| *", line.strip("| "))
        yield re.findall(r"`(\w+)`", first), others


def shown(default: Any) -> str | None:
    """Return how a page writes *default*; None where it has words of its own."""
    match default:
        case bool():
            return str(default).lower()
        case StrEnum():
            return str(default)
        case int():
            unit = next((unit for unit, size in _UNITS.items() if default % size == 0), None)
            return f"{default:,}" if unit is None else f"{default // _UNITS[unit]}{unit}"
        case timedelta():
            return f"{default.total_seconds():g} seconds"
    return None


@pytest.mark.parametrize(("name", "beginning", "section", "elsewhere"), TABLES)
def test_a_table_has_the_settings_of_a_section(
    name: str, beginning: str, section: type[Section], elsewhere: set[str]
) -> None:
    """All of them, each with its variable, where the table has those, and its default; and nothing else."""
    variables = {setting.key: setting.variable for setting in section.settings()}
    defaults = {str(field.alias): field.default for field in section.model_fields.values()}
    documented = [key for keys, _ in rows(name, beginning) for key in keys]
    assert sorted(documented) == sorted(variables.keys() - elsewhere)
    for keys, cells in rows(name, beginning):
        expected = [shown(defaults[key]) for key in keys]
        if None not in expected:
            assert re.sub(r"`| (?=[KMG]iB)", "", cells[-1]).partition(":")[0] == ", ".join(map(str, expected)), keys
        if len(cells) == 3:
            [variable] = [variables[key] for key in keys]
            assert cells[0] == (f"`{variable.name}`" if variable else ""), keys


def test_brokers_are_documented() -> None:
    beginning = "amqps://rabbit.internal"
    assert sorted(key for keys, _ in rows("configuration", beginning) for key in keys if key in BROKERS) == sorted(
        BROKERS
    )
    assert {setting.key for setting in ConsumerSettings.settings()} & {"name", "from"} == {"name", "from"}
    assert {setting.key for setting in SinkSettings.settings()} & {"name", "to"} == {"name", "to"}
    section = page("configuration").partition("## Events")[2]
    assert [one.key for one in EventSettings.settings() if not re.search(rf"\b{one.key}\b", section)] == []


def test_the_page_has_every_variable() -> None:
    """And no others, but for two that are no settings of a section, and examples of names after them."""
    known = {one.variable.name for section in SECTION_CLASSES for one in section.settings() if one.variable}
    documented = set(re.findall(r"`(SWF_[A-Z_]+)`", page("configuration")))
    examples = {one for one in documented if one.endswith(("_CHECK_STOCK", "_ORDERS_YAML", "_API_EXAMPLE_COM"))}
    assert documented - examples == known | {"SWF_CONFIG", "SWF_SINK"}


def test_the_file_has_every_section() -> None:
    at_top = [setting.key for setting in (*Settings.settings(), *PayloadSettings.settings())]
    assert sorted(SECTIONS) == sorted([*at_top, *(one.section for one in SECTION_CLASSES if one.section)])


def test_clients_look_for_settings_of_payloads_where_a_variable_may_have_some() -> None:
    sections: list[type[Section]] = [PayloadSettings, StorageSettings, EncryptionSettings]
    names = [one.variable.name or "" for section in sections for one in section.settings() if one.variable]
    assert [name for name in names if not name.startswith(PAYLOAD_VARIABLES)] == []
