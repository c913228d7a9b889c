"""What operators can set."""

from datetime import timedelta

import pytest

from swf_temporal.errors import UsageError
from swf_temporal.functions.settings import Settings


def test_an_empty_environment_gives_the_defaults() -> None:
    """Nothing has to be set."""
    assert Settings.from_environment({"PATH": "/bin"}) == Settings()


def test_everything_is_read() -> None:
    """Each variable sets what its name says."""
    settings = Settings.from_environment(
        {
            "SWF_BASE_URL": "https://all.example.com",
            "SWF_BASE_URL_CHECK_STOCK": "http://stock:8080/api",
            "SWF_TIMEOUT": "PT1M",
            "SWF_MAX_RESPONSE_BYTES": "1000",
            "SWF_FUNCTION_MODULES": "shop, bank.cards",
        }
    )

    assert settings == Settings(
        base_urls={"CHECK_STOCK": "http://stock:8080/api"},
        base_url="https://all.example.com",
        timeout=timedelta(minutes=1),
        max_response_bytes=1000,
        modules=("shop", "bank.cards"),
    )


def test_a_timeout_may_be_a_number_of_seconds() -> None:
    """Seconds are what most people write."""
    assert Settings.from_environment({"SWF_TIMEOUT": "2.5"}).timeout == timedelta(seconds=2.5)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SWF_TIMEOUT", "soon"),
        ("SWF_TIMEOUT", "0"),
        ("SWF_TIMEOUT", "-1"),
        ("SWF_TIMEOUT", "nan"),
        ("SWF_TIMEOUT", "inf"),
        ("SWF_TIMEOUT", "PT0S"),
        ("SWF_MAX_RESPONSE_BYTES", "2 MiB"),
        ("SWF_MAX_RESPONSE_BYTES", "0"),
        ("SWF_BASE_URL", "localhost:8080"),
        ("SWF_BASE_URL_STOCK", ""),
        ("SWF_BASE_URL", "ftp://files"),
        ("SWF_BASE_URL", "http://[::1"),
    ],
)
def test_a_value_that_means_nothing_is_refused(name: str, value: str) -> None:
    """A mistake is told when the worker starts, by the name of the variable."""
    with pytest.raises(UsageError, match=name):
        Settings.from_environment({name: value})


def test_names_are_matched_as_variables_can_spell_them() -> None:
    """`check-stock` is found under what a variable can hold; the first name with a URL wins."""
    settings = Settings(base_urls={"CHECK_STOCK": "http://a", "orders.json": "http://b"}, base_url="http://c")

    assert settings.base_url_for(["check-stock", "orders.json"]) == "http://a"
    assert settings.base_url_for(["other", "orders.json"]) == "http://b"
    assert settings.base_url_for(["other"]) == "http://c"
    assert Settings().base_url_for(["other"]) is None
