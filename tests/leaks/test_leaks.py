"""A sample of the ways in which a secret might come back; all of them in a run of the tests that tries everything."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from swf_temporal.temporal.connecting import Server
from swf_temporal.temporal.server import local_server
from tests.leaks.corpus import LEAKS, Leak
from tests.leaks.credentials import find_credentials
from tests.leaks.finding import find
from tests.leaks.in_examples import NAMES, find_in_examples
from tests.leaks.places import PLACED, find_in_places
from tests.sampling import sample

pytestmark = pytest.mark.temporal


@pytest.fixture(scope="module")
async def server() -> AsyncIterator[Server]:
    """A server of its own: its whole log is looked through."""
    async with local_server() as server:
        yield server


@pytest.mark.parametrize("leak", sample(LEAKS, "leaks", 20), ids=lambda leak: leak.name)
async def test_no_secret_leaks(server: Server, leak: Leak) -> None:
    """It is in no history, query, description, error or line of the log; and business data come back as they were."""
    [found] = await find(server, [leak])
    assert (found.leaked, found.altered) == ([], False)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("leak", sample(PLACED, "leaks in all places", 2), ids=lambda leak: leak.name)
async def test_no_secret_stands_anywhere_else(server: Server, leak: Leak) -> None:
    [found] = await find_in_places(server, [leak])
    assert found.leaked == []


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", sample(NAMES, "examples with secrets", 1))
async def test_no_secret_leaks_from_an_example(server: Server, tmp_path: Path, name: str) -> None:
    pytest.importorskip("flask", reason="see the extra 'examples'")
    [found] = await find_in_examples(server, tmp_path, [name])
    assert found.leaked == []


@pytest.mark.timeout(300)
async def test_no_credential_leaks_in_any_spelling(server: Server, tmp_path: Path) -> None:
    found = await find_credentials(server, tmp_path)
    assert [(one.leak.name, one.leaked, one.altered) for one in found if one.leaked or one.altered] == []
