"""Are documents on servers got from those that may be asked, with what one is to show them, and only when needed?"""

from collections import OrderedDict
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from swf_temporal.base.errors import UsageError
from swf_temporal.languages.loading import check, check_file, check_url, load
from swf_temporal.text.fetching.resources import Resources, credentials_in, hosts_in, is_allowed, variable_name
from swf_temporal.text.fetching.web import Cache, Web
from swf_temporal.text.origin import ForbiddenResourceError, UnreadableResourceError
from tests.fetching.conftest import Site, workflow_with

FUNCTIONS = b'[{"name": "f", "operation": "a.json#f"}]'
HINT = "the setting SWF_RESOURCE_HOSTS names the allowed hosts"


def asking(*sites: Site, **credentials: str) -> Web:
    hosts = [site.host for site in sites]
    return Web(hosts, credentials, timedelta(seconds=5), cache=OrderedDict(), clock=lambda: 0)


def refused_by(web: Web, url: str) -> str:
    with pytest.raises(UnreadableResourceError, match=r"^which cannot be read: ") as refused:
        web.get(url)
    return refused.value.reason.removeprefix("which cannot be read: ")


@pytest.mark.parametrize(("content", "kind"), [
    (FUNCTIONS, "application/json"),
    (b"- name: f\n  operation: a.json#f\n", "application/yaml"),
    (b"functions:\n- name: f\n  operation: a.json#f\n", "text/plain"),
    (b'\xef\xbb\xbf{"functions": ' + FUNCTIONS + b"}", "application/octet-stream"),
])  # fmt: skip
def test_definitions_on_a_server(site: Site, content: bytes, kind: str) -> None:
    """Definitions on a host that is allowed are put in the place of their URI, and travel with the text."""
    site.has("/f", content, kind=kind)
    text = workflow_with(f"{site.url}/f")
    first = load(text, resources=Resources(hosts=(site.host,)))
    assert first.functions[0].function.operation == "a.json#f"
    assert load(first.source.text).functions[0].function.operation == "a.json#f"
    assert len(site.requests) == 1


def test_hosts_are_forbidden_by_default(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.has("/f", FUNCTIONS)
    (tmp_path / "a.yaml").write_text(workflow_with(f"{site.url}/f"))
    (problem,) = check_file(tmp_path / "a.yaml").problems
    message = f"functions are in '{site.url}/f', and from the host '{site.host}' nothing may be fetched"
    assert str(problem).splitlines() == [
        f"{tmp_path / 'a.yaml'}:3:12  error  external-forbidden  {message}",
        f"    functions: {site.url}/f",
        f"               ^ {HINT}",
    ]
    assert site.requests == []
    monkeypatch.setenv("SWF_RESOURCE_HOSTS", f"example.com,{site.host}")
    assert check_file(tmp_path / "a.yaml").problems == ()


def test_texts_fetch_nothing(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text may be one that travelled with a run: it fetches nothing, whatever the environment allows."""
    monkeypatch.setenv("SWF_RESOURCE_HOSTS", site.host)
    (problem,) = check(workflow_with(f"{site.url}/f"), name=f"{site.url}/a.yaml").problems
    assert (problem.code, problem.hint) == ("external-forbidden", HINT)
    assert problem.message == f"functions are in '{site.url}/f', and this definition may not fetch anything"
    assert site.requests == []


def test_problems_on_a_server(site: Site) -> None:
    site.has("/f.yaml", b"functions:\n- name: f\n  type: rest\n")
    checked = check(workflow_with(f"{site.url}/f.yaml"), resources=Resources(hosts=(site.host,)))
    assert str(checked.problems[0]).startswith(f"{site.url}/f.yaml:2:3  error  function-operation  function 'f'")


def test_a_definition_from_a_url(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A definition loads from a URL that is allowed, and what it names is relative to that; files are not for it."""
    site.has("/defs/a.yaml", workflow_with("../shared/f.json").encode())
    site.has("/shared/f.json", FUNCTIONS)
    with pytest.raises(UsageError, match=r"the definition is at http:.*, and from the host .* nothing may be fetched"):
        load(f"{site.url}/defs/a.yaml")
    monkeypatch.setenv("SWF_RESOURCE_HOSTS", site.host)
    workflow = load(f"{site.url}/defs/a.yaml")
    assert (workflow.functions[0].function.name, workflow.source.name) == ("f", f"{site.url}/defs/a.yaml")
    site.has("/b.yaml", workflow_with("file:///etc/passwd").encode())
    assert [problem.code for problem in check_url(f"{site.url}/b.yaml").problems] == ["external-forbidden"]
    with pytest.raises(UsageError, match="which cannot be read: the answer was 404 Not Found"):
        load(f"{site.url}/c.yaml")


@pytest.mark.parametrize(("status", "content", "kind", "reason"), [
    (404, b"", "", "the answer was 404 Not Found"),
    (401, b"", "", "the answer was 401 Unauthorized"),
    (503, b"", "", "the answer was 503 Service Unavailable"),
    (204, b"", "", "the answer was 204 No Content"),
    (200, b"<html>", "text/html; charset=utf-8", "it is HTML, not JSON or YAML"),
    (200, b" " * (2 * 1024 * 1024 + 1), "", "it is larger than 2 MiB"),
    (302, b"", "", "the answer was 302 Found"),
])  # fmt: skip
def test_answers_that_are_no_document(site: Site, status: int, content: bytes, kind: str, reason: str) -> None:
    site.has("/f", content, status, kind)
    checked = check(workflow_with(f"{site.url}/f"), resources=Resources(hosts=(site.host,)))
    (problem,) = checked.errors
    assert (problem.code, problem.position.column) == ("external-unreadable", 12)
    assert problem.message == f"functions are in '{site.url}/f', which cannot be read: {reason}"


@pytest.mark.parametrize(("url", "reason"), [
    *((url, "it is not a URL") for url in ("http://", "http:///f", "https:f", "http://a:b/f", "http://\x00/")),
    ("http://127.0.0.1:1/f", "no response from 127.0.0.1:1 ("),
])  # fmt: skip
def test_what_leads_to_no_server(url: str, reason: str) -> None:
    web = Web(["*.com", "127.0.0.1:1"], {}, timedelta(seconds=5), cache=OrderedDict())
    assert refused_by(web, url).startswith(reason)


@pytest.mark.parametrize("drips", [False, True])
def test_an_answer_that_takes_too_long(site: Site, *, drips: bool) -> None:
    """The time is for all of the answer: one that comes in pieces has no more of it."""
    if drips:
        site.has("/f", FUNCTIONS)
    else:
        site.hangs("GET", "/f")
    moments = iter(range(100)) if drips else iter(lambda: 0, 1)
    web = Web([site.host], {}, timedelta(seconds=0.2), cache=OrderedDict(), clock=lambda: next(moments))
    assert refused_by(web, f"{site.url}/f") == "there was no complete response within 0.2 seconds"


@pytest.mark.parametrize(("location", "reason"), [
    ("/f", "it redirects more than 5 times"),
    ("file:///etc/passwd", "it redirects to 'file:///etc/passwd', which is not a URL"),
    # What the client itself takes for no URL is an error of the host that sent it.
    ("http://a:b", "no response from {} ("), ("mailto:me@example.com", "no response from {} ("),
])  # fmt: skip
def test_redirects_that_lead_nowhere(site: Site, location: str, reason: str) -> None:
    site.has("/f", status=302, Location=location)
    assert refused_by(asking(site), f"{site.url}/f").startswith(reason.format(site.host))


def test_credentials_in_a_uri(site: Site) -> None:
    with pytest.raises(ForbiddenResourceError) as refused:
        asking(site).get(f"http://me:secret@{site.host}/f")
    assert refused.value.reason == "and a URI may not hold credentials"
    assert refused.value.hint == f"the setting SWF_RESOURCE_AUTH_{site.variable} gives them"
    assert site.requests == []


def test_credentials_of_a_host(new_site: Callable[[], Site], monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = new_site(), new_site()
    for site in (one, other):
        site.has("/f", FUNCTIONS)
    monkeypatch.setenv("SWF_RESOURCE_HOSTS", f"{one.host},{other.host}")
    monkeypatch.setenv(f"SWF_RESOURCE_AUTH_{one.variable}", "Bearer abc")
    text = workflow_with(f"{one.url}/f") + f"retries: {other.url}/r\n"
    other.has("/r", b"[]")
    one.has("/a.yaml", text.encode())
    assert check_url(f"{one.url}/a.yaml").problems == ()
    assert one.authorizations() == ["Bearer abc", "Bearer abc"]
    assert other.authorizations() == [None]


def test_redirects(new_site: Callable[[], Site]) -> None:
    """Redirects are followed to hosts that are allowed. Credentials stay where they belong."""
    one, other = new_site(), new_site()
    one.has("/f", status=302, Location="/g")
    one.has("/g", status=307, Location=f"{other.url}/f")
    other.has("/f", FUNCTIONS)
    credentials = {one.variable: "Bearer one", other.variable: "Bearer other"}
    resource = asking(one, other, **credentials).get(f"{one.url}/f")
    assert (resource.location, resource.content) == (f"{one.url}/f", FUNCTIONS)
    assert one.authorizations() == ["Bearer one", "Bearer one"]
    assert other.authorizations() == [None]


def test_redirects_elsewhere(new_site: Callable[[], Site]) -> None:
    one, other = new_site(), new_site()
    one.has("/f", status=301, Location=f"{other.url}/f")
    other.has("/f", FUNCTIONS)
    with pytest.raises(ForbiddenResourceError, match=f"and from the host '{other.host}' nothing may be fetched"):
        asking(one).get(f"{one.url}/f")
    assert other.requests == []


def test_documents_are_kept_for_a_minute(site: Site) -> None:
    """A document is not asked for again within a minute; then the server may say that it is still the same."""
    moment = 0.0
    web = Web([site.host], {}, timedelta(seconds=5), cache=OrderedDict(), clock=lambda: moment)
    site.has("/f", FUNCTIONS, ETag='"1"')
    assert [web.get(f"{site.url}/f").content for _ in range(3)] == [FUNCTIONS] * 3
    assert len(site.requests) == 1
    moment = 60.0
    assert web.get(f"{site.url}/f").content == FUNCTIONS
    assert [request.headers.get("if-none-match") for request in site.requests] == [None, '"1"']
    moment = 119.0
    assert web.get(f"{site.url}/f").content == FUNCTIONS
    assert len(site.requests) == 2
    moment = 120.0
    site.has("/f", b"[]", ETag='"2"')
    assert web.get(f"{site.url}/f").content == b"[]"


def test_kept_documents_are_not_for_everyone(site: Site) -> None:
    site.has("/f", FUNCTIONS)
    kept: Cache = OrderedDict()
    length = timedelta(seconds=5)
    first = Web([site.host], {site.variable: "Bearer a"}, length, cache=kept)
    first.get(f"{site.url}/f")
    site.has("/f", status=401)
    with pytest.raises(UnreadableResourceError, match="401 Unauthorized"):
        Web([site.host], {}, length, cache=kept).get(f"{site.url}/f")
    with pytest.raises(ForbiddenResourceError):
        Web([], {site.variable: "Bearer a"}, length, cache=kept).get(f"{site.url}/f")


@pytest.mark.parametrize(("pattern", "host", "port", "expected"), [
    ("example.com", "example.com", 443, True),
    ("example.com", "Example.COM", 80, True),
    ("example.com", "example.com", 8080, False),
    ("example.com:8080", "example.com", 8080, True),
    ("example.com:8080", "example.com", 443, False),
    ("example.com", "www.example.com", 443, False),
    ("example.com", "badexample.com", 443, False),
    ("*.example.com", "www.example.com", 443, True),
    ("*.example.com", "a.b.example.com", 443, True),
    ("*.example.com", "example.com", 443, False),
    ("*.example.com", "badexample.com", 443, False),
    ("*.example.com", "example.com.evil.org", 443, False),
    ("*.example.com:8443", "www.example.com", 8443, True),
    ("127.0.0.1:80", "127.0.0.1", 80, True),
    ("[::1]:8080", "::1", 8080, True),
    ("[::1]", "::1", 443, True),
])  # fmt: skip
def test_patterns(pattern: str, host: str, port: int, *, expected: bool) -> None:
    """A pattern allows one host or all below it, on the ordinary ports or on the one that it names."""
    assert is_allowed(host, port, hosts_in({"SWF_RESOURCE_HOSTS": pattern})) is expected


def test_lists_of_hosts() -> None:
    assert hosts_in({"SWF_RESOURCE_HOSTS": " Example.com, ,*.example.org:81,"}) == ("example.com", "*.example.org:81")
    assert hosts_in({}) == ()


@pytest.mark.parametrize("text", ["*", "*.", "https://example.com", "example.com/defs", "ex*mple.com", "a b"])
def test_what_is_no_host(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        hosts_in({"SWF_RESOURCE_HOSTS": text})
    assert refused.value.message == f"SWF_RESOURCE_HOSTS has {text!r}, which is not a host"


@pytest.mark.parametrize(("host", "port", "name"), [
    ("docs.example.com", 443, "DOCS_EXAMPLE_COM"), ("docs.example.com", 80, "DOCS_EXAMPLE_COM_80"),
    ("127.0.0.1", 8080, "127_0_0_1_8080"),
])  # fmt: skip
def test_names_in_variables(host: str, port: int, name: str) -> None:
    assert variable_name(host, port) == name


def test_credentials() -> None:
    found = credentials_in({"SWF_RESOURCE_AUTH_A_COM": "me:secret", "SWF_RESOURCE_AUTH_B_COM": "bearer abc", "X": "y"})
    assert found == {"A_COM": "Basic bWU6c2VjcmV0", "B_COM": "Bearer abc"}
    with pytest.raises(UsageError) as refused:
        credentials_in({"SWF_RESOURCE_AUTH_A_COM": "hunter2"})
    assert str(refused.value) == "SWF_RESOURCE_AUTH_A_COM is neither user:password nor 'Bearer' and a token"
