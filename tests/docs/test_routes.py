"""The page with the routes of the gateway is what its code says."""

from tests.docs.routes import PAGE, text


async def test_the_page_has_every_route() -> None:
    """If it has not: `python -m tests.docs.routes`."""
    assert PAGE.read_text(encoding="utf-8") == await text()
