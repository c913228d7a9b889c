"""The credentials that an operator configures, as answers may repeat them."""

from base64 import b64encode

from swf_temporal.settings import credentials
from swf_temporal.settings.calls import Options, Settings

LOGIN = b64encode(b"ada:s3cr:et").decode()


def test_a_header_of_credentials_is_one_with_and_without_its_scheme() -> None:
    """The password of a login is one, too; other headers have none."""
    headers = {"authorization": "Bearer t0k", "X-Api-Key": " k3y ", "X-Team": "orders", "Cookie": ""}
    assert list(credentials.in_headers(headers)) == ["Bearer t0k", "t0k", "k3y"]
    assert list(credentials.in_headers({"Authorization": f"Basic {LOGIN}"})) == [
        f"Basic {LOGIN}", LOGIN, "s3cr:et", LOGIN,
    ]  # fmt: skip
    assert list(credentials.in_headers({"Authorization": "Basic ?"})) == ["Basic ?", "?"]


def test_a_url_has_a_login() -> None:
    assert list(credentials.in_url("amqp://ada:s3cr%3Aet@host/queue")) == ["s3cr:et", LOGIN]
    assert list(credentials.in_url("https://host/path@2")) == []
    assert list(credentials.in_url("https://ada@host")) == []


def test_settings_have_credentials_for_all_for_functions_and_in_urls() -> None:
    settings = Settings(
        calls=Options(headers={"X-Api-Key": "all", "X-Team": "a"}, proxy="http://bob:tw0@proxy"),
        functions={"stock": Options(base_url="https://ada:0ne@stock", headers={"X-Api-Key": "all", "Session": "own"})},
    )
    assert settings.credentials[:2] == ["all", "own"]
    assert {"0ne", "tw0"} < set(settings.credentials)
    assert Settings().credentials == []
