"""Containers, on an engine with the command line of Docker, and as jobs of Kubernetes."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call
from swf_temporal.functions.processes.containers import is_over
from swf_temporal.settings.calls import ContainerRunner, KubernetesRunner, Options, Runners, Settings
from tests.failing import fault_of
from tests.functions.conftest import Calling, Service
from tests.functions.processes import fake_docker

Engine = Callable[..., Any]


def container(image: str = "alpine:3.20", **arguments: JSON) -> Call:
    return Call(Function("c", "container"), {"image": image, **arguments}, idempotency_key="k")


class Docker:
    def __init__(self, folder: Path, calling: Calling) -> None:
        self._folder, self._calling = folder, calling
        self.command = folder / "docker"
        self.command.write_text(f'#!/bin/sh\nexec {sys.executable} {fake_docker.__file__} "$@"\n', encoding="utf-8")
        self.command.chmod(0o755)

    async def call(self, call: Call, timeout: float = 60.0, **settings: Any) -> JSON:
        runners = Runners(container=ContainerRunner(command=str(self.command), **settings))
        functions = {"c": Options(timeout=timedelta(seconds=timeout))}
        return await self._calling(settings=Settings(runners=runners, functions=functions)).call(call)

    def says(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text, encoding="utf-8")

    @property
    def asked(self) -> list[list[str]]:
        """What was asked of it, but for looks at containers of earlier workers."""
        try:
            lines = (self._folder / "asked").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [one for one in map(json.loads, lines) if one[0] not in {"ps", "inspect"}]

    async def until_asked(self, *wanted: str) -> None:
        while list(wanted) not in self.asked:
            await asyncio.sleep(0.01)


@pytest.fixture
def docker(tmp_path: Path, calling: Calling, monkeypatch: pytest.MonkeyPatch) -> Docker:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    return Docker(tmp_path, calling)


async def test_a_command_with_arguments_and_input(docker: Docker) -> None:
    command = 'input=$(cat)\necho "STDIN was: $input"\necho "ARGS are $1 $2; $A"; printf %s "$B"'
    call = container(
        command=command,
        stdin="Hello",
        arguments=["Foo", "Bar"],
        environment={"A": "x y", "B": "1\n2"},
        name="hello world",
        ports={"8080": 80},
        pullPolicy="always",
    )
    assert await docker.call(call, options=("--network", "none")) == "STDIN was: Hello\nARGS are Foo Bar; x y\n1\n2"
    [asked] = docker.asked
    file = asked[asked.index("--env-file") + 1]
    assert asked == [
        *("run", "-i", "--name", "hello-world", "--label", asked[5], "--pull", "always", "--env-file", file),
        *("-e", "B=1\n2", "-p", "8080:80", "--network", "none"),
        *("--entrypoint", "sh", "alpine:3.20", "-c", command, "sh", "Foo", "Bar"),
    ]
    assert not os.path.exists(file)  # noqa: ASYNC240, PTH110 - a look


async def test_the_command_of_the_image_gets_the_arguments(docker: Docker) -> None:
    assert await docker.call(container(arguments=["echo", "hi"])) == "hi\n"
    name = docker.asked[0][3]
    assert name.startswith("swf-")
    assert await docker.call(container(arguments=["sh", "-c", "exit 3"], **{"return": "code"})) == 3


async def test_the_environment_of_the_worker_stays_with_the_command_line(
    docker: Docker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWF_SECRET_KEY", "sesame")
    assert set(str(await docker.call(container(arguments=["env"]))).split()) == {"PATH=/bin:/usr/bin"}


@pytest.mark.parametrize(("lifetime", "option"), [
    (None, []), ({"cleanup": "never"}, []), ({"cleanup": "always"}, ["--rm"]),
    ({"cleanup": "eventually", "after": 1800}, ["--label", "swf-temporal.remove-after=1800"]),
])  # fmt: skip
async def test_lifetimes(docker: Docker, lifetime: JSON, option: list[str]) -> None:
    await docker.call(container(lifetime=lifetime))
    [asked] = docker.asked
    assert asked[asked.index("--env-file") + 2 : -1] == option


async def test_a_container_is_removed_after_its_time(docker: Docker) -> None:
    """By the worker that ran it, or by the next one on that machine."""
    docker.says("ps", "abc")
    docker.says("inspect", '["2026-01-01T00:00:00.123456789Z", "60"]')
    await docker.call(container(lifetime={"cleanup": "eventually", "after": 0}))
    await docker.until_asked("rm", "-f", "abc")


@pytest.mark.parametrize(("answer", "expected"), [
    ('["2026-03-01T11:59:00.123456789Z", "60"]', False), ('["2026-03-01T11:59:00.123456789Z", "59.8"]', True),
    ('["2026-03-01T12:58:00+01:00", "119"]', True), ('["0001-01-01T00:00:00Z", "x"]', False), ("[]", False),
    ("", False),
])  # fmt: skip
def test_when_the_time_of_a_container_is_over(answer: str, *, expected: bool) -> None:
    assert is_over(answer, datetime(2026, 3, 1, 12, tzinfo=UTC)) is expected


@pytest.mark.parametrize(("cleanup", "asked"), [("never", ["kill", "c1"]), ("always", ["rm", "-f", "c1"])])
async def test_a_container_is_stopped_with_its_call(docker: Docker, cleanup: str, asked: list[str]) -> None:
    call = container(name="c1", command="exec sleep 1000", lifetime={"cleanup": cleanup})
    await fault_of(docker.call(call, timeout=2), "Timeout", "did not end within 2 s")
    await docker.until_asked(*asked)


async def test_another_attempt_removes_what_the_first_left(docker: Docker) -> None:
    docker.says("ps", "abc\ndef")
    await docker.call(replace(container(), attempt=2))
    assert docker.asked[0] == ["rm", "-f", "abc", "def"]


async def test_a_container_that_does_not_start(docker: Docker) -> None:
    await fault_of(docker.call(container("absent")), "NotStarted", "Unable to find image", retryable=True)


@pytest.mark.parametrize(("image", "is_allowed"), [
    ("alpine", True), ("alpine:3.20", True), ("alpine-evil", False), ("alpine/x", True), ("alpin", False),
    ("alpine@sha256:00", True), ("docker.io/alpine", False),
])  # fmt: skip
async def test_images_may_be_limited(docker: Docker, image: str, *, is_allowed: bool) -> None:
    asking = docker.call(container(image, arguments=["true"]), images=("alpine", "registry.example.com/"))
    if is_allowed:
        assert await asking == ""
    else:
        await fault_of(asking, "RunnerOff", f"the image '{image}' is not among", retryable=False)


async def test_volumes_must_be_allowed(docker: Docker, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "link").symlink_to("/etc")
    volumes = (str(shared), "cache")
    refused = [str(tmp_path), "/", f"{shared}/../x", f"{shared}/link", f"{shared}2", "other", "../shared"]
    for host in refused:
        asking = docker.call(container(volumes={host: "/data"}), volumes=volumes)
        await fault_of(asking, "RunnerOff", "is not among those that the operator allows", retryable=False)
    await docker.call(container(volumes={f"{shared}/a": "/a:ro", "cache": "/b"}), volumes=volumes)
    asked = docker.asked[-1]
    assert [asked[place + 1] for place, one in enumerate(asked) if one == "-v"] == [f"{shared}/a:/a:ro", "cache:/b"]


@pytest.mark.parametrize(("arguments", "told"), [
    ({"image": "--privileged"}, "is not the name of an image"),
    ({"ports": {"80": "x"}}, "are not the numbers of two ports"),
    ({"ports": {"--privileged": "80"}}, "are not the numbers of two ports"),
    ({"volumes": {"/a:/b": "/c"}}, "is not a folder"),
    ({"volumes": {"/a": "c"}}, "is not a folder"),
    ({"lifetime": {"cleanup": "eventually"}}, "'lifetime.after' is missing"),
    ({"lifetime": {"cleanup": "soon"}}, "'lifetime.cleanup' is 'soon'"),
    ({"pullPolicy": "sometimes"}, "'pullPolicy' is 'sometimes'"),
    ({"privileged": True}, "there is no argument 'privileged'"),
])  # fmt: skip
async def test_invalid_arguments(docker: Docker, arguments: dict[str, JSON], told: str) -> None:
    call = container()
    call = replace(call, arguments={"image": "alpine", **arguments})
    await fault_of(docker.call(call, volumes=("/",)), "BadArguments", told, retryable=False)
    assert docker.asked == []


async def test_an_engine_that_is_missing(calling: Calling) -> None:
    functions = calling(settings=Settings(runners=Runners(container=ContainerRunner(command="no-such-engine"))))
    await fault_of(functions.call(container()), "NotInstalled", "no-such-engine", retryable=False)


JOBS, PODS = "/apis/batch/v1/namespaces/flows/jobs", "/api/v1/namespaces/flows/pods"


class Cluster:
    def __init__(self, service: Service, calling: Calling, folder: Path) -> None:
        self.service, self._calling = service, calling
        (folder / "token").write_text("t0ken\n", encoding="utf-8")
        self._settings = KubernetesRunner(server=service.url, namespace="flows", token_file=str(folder / "token"))
        self._states: list[JSON] = []
        service.answers_with("POST", JOBS, {}, status=201)
        service.answers_by("GET", PODS, self._pods)
        service.answers_with("GET", f"{PODS}/j-1/log", b"hello\n", content_type="text/plain")
        service.answers_with("DELETE", f"{JOBS}/j", {})
        service.answers_with("DELETE", JOBS, {})

    def will_be(self, *states: JSON) -> None:
        self._states = [*states]

    async def call(self, call: Call, timeout: float = 60.0, **settings: Any) -> JSON:
        runners = Runners(container=ContainerRunner(kubernetes=self._settings), max_output_bytes=100, **settings)
        functions = {"c": Options(timeout=timedelta(seconds=timeout))}
        return await self._calling(settings=Settings(runners=runners, functions=functions)).call(call)

    def _pods(self) -> JSON:
        state = self._states.pop(0) if len(self._states) > 1 else self._states[0]
        status: JSON = {} if state is None else {"containerStatuses": [{"state": state}]}
        return {"items": [{"metadata": {"name": "j-1"}, "status": status}]}

    @property
    def asked(self) -> list[tuple[str, str]]:
        return [(one.method, one.path) for one in self.service.requests if one.method != "GET"]


@pytest.fixture
def cluster(service: Service, calling: Calling, tmp_path: Path) -> Cluster:
    return Cluster(service, calling, tmp_path)


async def test_a_container_is_a_job(cluster: Cluster) -> None:
    cluster.will_be(
        None, {"waiting": {"reason": "ContainerCreating"}}, {"running": {}}, {"terminated": {"exitCode": 0}}
    )
    call = container(name="j", command="echo $1", arguments=["hello"], environment={"A": "b"})
    assert await cluster.call(call) == "hello\n"
    posted = cluster.service.requests[0]
    assert posted.headers["authorization"] == "Bearer t0ken"
    job = posted.body
    assert (job["metadata"]["name"], job["spec"]["backoffLimit"]) == ("j", 0)
    assert job["spec"]["activeDeadlineSeconds"] == 60
    assert "ttlSecondsAfterFinished" not in job["spec"]
    [ran] = job["spec"]["template"]["spec"]["containers"]
    assert (ran["command"], ran["args"]) == (["sh", "-c", "echo $1", "sh"], ["hello"])
    assert ran["env"] == [{"name": "A", "value": "b"}]
    assert cluster.asked == [("POST", JOBS)], "it is kept"


@pytest.mark.parametrize(("lifetime", "seconds", "is_deleted"), [
    ({"cleanup": "always"}, None, True), ({"cleanup": "eventually", "after": 30}, 30, False),
])  # fmt: skip
async def test_lifetimes_of_jobs(cluster: Cluster, lifetime: JSON, seconds: int | None, *, is_deleted: bool) -> None:
    cluster.will_be({"terminated": {"exitCode": 4}})
    assert await cluster.call(container(name="j", lifetime=lifetime, **{"return": "code"})) == 4
    assert cluster.service.requests[0].body["spec"].get("ttlSecondsAfterFinished") == seconds
    assert (("DELETE", f"{JOBS}/j") in cluster.asked) is is_deleted


async def test_a_job_that_does_not_start(cluster: Cluster) -> None:
    cluster.will_be({"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}})
    await fault_of(cluster.call(container(name="j")), "NotStarted", "no such image")
    assert cluster.asked[-1] == ("DELETE", f"{JOBS}/j")


async def test_a_job_that_does_not_end(cluster: Cluster) -> None:
    cluster.will_be({"running": {}})
    await fault_of(cluster.call(container(name="j"), timeout=1), "Timeout", "did not end within 1 s")
    assert cluster.asked[-1] == ("DELETE", f"{JOBS}/j")


async def test_a_job_that_writes_too_much(cluster: Cluster) -> None:
    cluster.will_be({"terminated": {"exitCode": 0}})
    cluster.service.answers_with("GET", f"{PODS}/j-1/log", b"x" * 101, content_type="text/plain")
    await fault_of(cluster.call(container(name="j")), "AnswerTooLarge", "more than 100 bytes")
    assert cluster.service.requests[2].query == [("limitBytes", "101")]


async def test_another_attempt_deletes_the_job_of_the_first(cluster: Cluster) -> None:
    cluster.will_be({"terminated": {"exitCode": 0}})
    await cluster.call(replace(container(name="j"), attempt=2))
    assert [method for method, _ in cluster.asked] == ["DELETE", "POST"]
    label = cluster.service.requests[1].body["metadata"]["labels"]["swf-temporal.call"]
    assert ("labelSelector", f"swf-temporal.call={label}") in cluster.service.requests[0].query


async def test_names_of_jobs(cluster: Cluster) -> None:
    """What is too long for Kubernetes keeps its difference."""
    cluster.will_be({"terminated": {"exitCode": 0}})
    for name in ("Orders-1a.shop-Pack it", "x" * 80 + "1", "x" * 80 + "2"):
        await cluster.call(container(name=name))
    short, one, other = (one.body["metadata"]["name"] for one in cluster.service.requests if one.method == "POST")
    assert short == "orders-1a-shop-pack-it"
    assert (len(one), len(other), one == other) == (63, 63, False)


@pytest.mark.parametrize("arguments", [{"stdin": "a"}, {"ports": {"80": "80"}}])
async def test_what_a_job_does_not_have(cluster: Cluster, arguments: dict[str, JSON]) -> None:
    await fault_of(
        cluster.call(container("alpine", **arguments)), "BadArguments", "a job of Kubernetes has no", retryable=False
    )


async def test_a_cluster_that_refuses(cluster: Cluster) -> None:
    cluster.service.answers_with("POST", JOBS, {"message": "no permission"}, status=403)
    fault = await fault_of(cluster.call(container(name="j")), told="no permission")
    assert fault.status == 403
