"""Is the definition found that an id and a version mean?"""

import pytest

from swf_temporal.base.errors import UnknownDefinition
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition


def defined(workflow_id: str, version: str | None = None, **more: object) -> Definition:
    states = [{"name": "A", "type": "inject", "data": {}, "end": True}]
    written: dict[str, object] = {"id": workflow_id, "specVersion": "0.8", "states": states, **more}
    return load(written if version is None else {**written, "version": version})


@pytest.mark.parametrize("ascending", [
    ["1.0.0", "1.2.0", "1.10.0", "2.0.0"],
    ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0"],
    ["1.0", "1.0.1", "1.1"],
    [None, "0.0.1"],
    ["odd", "0.1.0"],
])  # fmt: skip
def test_latest(ascending: list[str | None]) -> None:
    for end in range(1, len(ascending) + 1):
        present = [defined("a", version) for version in ascending[:end]]
        for order in (present, present[::-1]):
            assert Catalogue(order).find("a").version == ascending[end - 1]


def test_exact_version() -> None:
    """A version that is asked for is the one that is found, or the error names those that are known."""
    catalogue = Catalogue([defined("a", "1.0.0"), defined("a", "1.1.0")])
    assert catalogue.find("a", "1.0.0").version == "1.0.0"
    with pytest.raises(UnknownDefinition, match=r"no version '2\.0\.0'.*1\.0\.0, 1\.1\.0"):
        catalogue.find("a", "2.0.0")


def test_unknown_id() -> None:
    """An id that is not known is told with the nearest that is."""
    with pytest.raises(UnknownDefinition, match="did you mean 'orders'"):
        Catalogue([defined("orders")]).find("order")
