"""Does everything that is public have a docstring?"""

import inspect
from collections.abc import Iterator

import pytest

from tests.docs import api_page

PUBLIC = {
    name: getattr(module, name) for name, module in api_page.PUBLIC.items() if name not in ("JSON", "HostPattern")
}


def without_docstring(thing: object) -> Iterator[str]:
    """Yield the names of *thing* and of its public methods and properties that have no docstring of their own."""
    if not inspect.getdoc(thing):
        yield ""
    if inspect.isclass(thing) and thing.__module__.startswith("swf_temporal."):
        for name, member in vars(thing).items():
            described = inspect.isroutine(member) or isinstance(member, (property, staticmethod, classmethod))
            if described and not name.startswith("_") and not inspect.getdoc(getattr(thing, name)):
                yield name


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_public_has_a_docstring(name: str) -> None:
    assert list(without_docstring(PUBLIC[name])) == []
