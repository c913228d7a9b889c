"""The options of a run of the tests, and their order: what takes long begins early, and none is alone in the end.

A file is run by one worker, so each page that is followed has a file of its own.
"""

import gc
from pathlib import Path
from subprocess import DEVNULL, CalledProcessError, check_output
from typing import Any

import hypothesis
import pytest
import pytest_timeout  # type: ignore[import-untyped]  # it has no types

from tests import sampling

ROOT = Path(__file__).parent
LONGEST = (
    "docs/test_common_mistakes.py",
    "cli/test_gateway_tenants.py",
    "simulation/test_scenarios.py",
    "examples/test_examples.py",
    "soak_watched/test_soak_watched.py",
    "temporal/test_durability.py",
    "soak_events/test_soak_events.py",
    "events/test_consumers.py",
    "docs/test_tutorial.py",
    "cli/test_instances.py",
    "temporal/test_containers.py",
    "leaks/test_leaks.py",
    "cli/test_outages.py",
    "faults/test_messages.py",
    "attacks/test_attacks.py",
    "hostile/test_hostile.py",
    "temporal/test_scenarios.py",
    "temporal/test_outlasting.py",
    "cli/test_pausing.py",
    "cli/test_embedding.py",
    "temporal/test_gateway_batches.py",
    "cli/test_serving.py",
    "temporal/test_outgoing.py",
    "structure/test_left_behind.py",
    "temporal/test_many_events.py",
    "events/test_round_trips.py",
    "replay/test_replay.py",
    "events/test_router.py",
    "app/test_starting.py",
    "cli/test_gateway.py",
    "cli/test_reachability.py",
    "temporal/test_engine_activities.py",
    "upgrades/test_deployments.py",
    "events/test_processes.py",
    "temporal/test_gateway.py",
    "many_events/test_many_events.py",
    "temporal/test_gateway_sonataflow.py",
    "app/test_client_errors.py",
    "cli/test_variables.py",
    "temporal/test_full_mailboxes.py",
    "upgrades/test_upgrades.py",
    "temporal/test_console.py",
    "app/test_plugin.py",
    "soak/test_soak.py",
    "agreement/test_agreement.py",
    "faults/test_http_family.py",
    "temporal/test_cycles.py",
    "temporal/test_continuing.py",
    "languages/serverless_workflow/reading/test_schema.py",
    "cli/test_event.py",
    "hostile/test_long_computations.py",
    "temporal/test_event_subscriptions.py",
    "cli/test_serve_function.py",
    "cli/test_compat.py",
    "cli/test_tracing.py",
    "temporal/test_gateway_description.py",
    "runtime/test_error_matching.py",
    "temporal/test_local_calls.py",
    "temporal/test_encryption.py",
    "temporal/test_cancelling.py",
    "upgrades/test_lost_worker.py",
    "temporal/test_large_payloads.py",
)  # fmt: skip
"""Files of tests, the longest first: most of them wait for servers. All others come between them, in their order."""
STANDING_STILL = [r"Timeout \(>", "it did not end: "]
"""What is told of a test that stood still. On a busy machine a server that has just been started may do so for good, or
the SDK as a worker ends: such a test is run once more. What fails for any other reason fails."""
_SEED = "seed"
_MAX_SEED = 1 << 32


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("swf-temporal")
    group.addoption("--seed", type=int, help="what is sampled or generated follows from it; by default the commit's")
    group.addoption("--all", action="store_true", help="run everything: no samples, and the tests that wait for long")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed, which is that of the main process in all others; Hypothesis takes it when it is configured."""
    option = config.option
    given = getattr(config, "workerinput", {}).get(_SEED, option.seed)
    option.seed = _seed_of_commit() if given is None else given
    option.hypothesis_seed = option.hypothesis_seed or str(option.seed)
    sampling.configure(option.seed, is_whole=option.all)
    # How quick this machine is must not matter.
    too_slow = [hypothesis.HealthCheck.too_slow]
    examples = sampling.count(100, 2000)
    hypothesis.settings.register_profile("run", deadline=None, suppress_health_check=too_slow, max_examples=examples)
    hypothesis.settings.load_profile("run")


def _seed_of_commit() -> int:
    """Return a seed that each commit has of its own, so that the same code is tried in the same way."""
    try:
        commit = check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, stderr=DEVNULL, text=True)
    except (OSError, CalledProcessError):  # no git, or no checkout
        return 0
    return int(commit, 16) % _MAX_SEED


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput[_SEED] = node.config.option.seed


def pytest_report_header(config: pytest.Config) -> str:
    return f"seed: {config.option.seed}{', everything' if config.option.all else ''}"


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Tell it beside what failed, too: with `-q` there is no header."""
    if terminalreporter.stats.get("failed") or terminalreporter.stats.get("error"):
        terminalreporter.write_line(f"to sample and generate the same again: --seed {config.option.seed}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Spread the longest files, the longest first, and the others evenly; leave out what only a run of everything has.

    So tests that wait for servers never run without tests that need the processor. One that needs a server is run once
    more if it stands still.
    """
    longest = [ROOT / name for name in LONGEST]
    others = [path for path in dict.fromkeys(item.path for item in items) if path not in longest]
    ranks = {path: place / len(files) for files in (longest, others) for place, path in enumerate(files)}
    items.sort(key=lambda item: ranks[item.path])
    if not config.option.all and (left := [item for item in items if item.get_closest_marker("long")]):
        items[:] = [item for item in items if not item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left)
    for item in items:
        if item.get_closest_marker("temporal"):
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=STANDING_STILL))


def pytest_collection_finish() -> None:
    """Spare the garbage collector a million objects of what was collected, which live as long as the process does.

    It looked at them again and again: a third of the processor time of tests that need no server.
    """
    gc.collect()
    gc.freeze()


def pytest_sessionstart() -> None:
    """Refuse a list that names a file that is not there any more."""
    missing = [name for name in LONGEST if not (ROOT / name).is_file()]
    assert not missing, f"tests/conftest.py names {', '.join(missing)}"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give a test as much time when it is run again: pytest-timeout begins to count once for both."""
    if getattr(item, "execution_count", 1) > 1:
        settings = pytest_timeout._get_item_settings(item)
        item.ihook.pytest_timeout_set_timer(item=item, settings=settings)
