"""Runs containers as jobs of Kubernetes, by its API."""

import asyncio
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.files import read_text, why_unreadable
from swf_temporal.base.strict_json import write_json
from swf_temporal.functions.http.client import Http, HttpStatusError, Request
from swf_temporal.functions.processes.containers import CALL, ContainerRun
from swf_temporal.functions.processes.running import Limits, ProcessResult
from swf_temporal.settings.calls import KubernetesRunner

_POLICIES: Final = {"ifNotPresent": "IfNotPresent", "always": "Always", "never": "Never"}
_HOPELESS: Final = frozenset(
    {"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError"}
)
"""The reasons for which a container that is waiting will not start."""
_FIRST_LOOK: Final = 0.25
_LONGEST_BETWEEN: Final = 5.0
"""Seconds between two requests for the state of a job; the first come sooner."""
_MAX_NAME: Final = 63
_NOT_FOUND: Final = 404


class Kubernetes:
    """A cluster in which containers are jobs: without standard input, ports and volumes."""

    def __init__(self, http: Http, settings: KubernetesRunner) -> None:
        self._http, self._settings = http, settings
        namespace = quote(settings.namespace, safe="")
        self._jobs = f"{settings.server.rstrip('/')}/apis/batch/v1/namespaces/{namespace}/jobs"
        self._pods = f"{settings.server.rstrip('/')}/api/v1/namespaces/{namespace}/pods"

    async def run(self, run: ContainerRun, limits: Limits) -> ProcessResult:
        """Return the result of a job with one container, whose log has what it writes. Raises CallFailed."""
        for name, given in (("stdin", run.stdin), ("ports", run.ports), ("volumes", run.volumes)):
            if given:
                message = f"{run.what}: a job of Kubernetes has no {name!r}; pass data as arguments or environment"
                raise permanent_failure("BadArguments", message)
        if run.attempt > 1:  # a worker that was lost may have left it running
            await self._ask("DELETE", f"{self._jobs}?labelSelector={CALL}%3D{run.call}&propagationPolicy=Background")
        job, name = _job(run, limits), _name(run)
        has_ended = False
        try:
            async with asyncio.timeout(limits.timeout.total_seconds()):
                await self._ask("POST", self._jobs, job)
                pod, code = await self._ended(run, name)
                log = await self._log(run, pod, limits)
            has_ended = True
        except TimeoutError:
            seconds = limits.timeout.total_seconds()
            raise CallFailed(f"{run.what} did not end within {seconds:g} s", code="Timeout") from None
        finally:
            if run.cleanup == "always" or not has_ended:
                await asyncio.shield(self._delete(name))
        return ProcessResult(code, log, "")

    async def aclose(self) -> None:
        """Do nothing: the cluster removes jobs itself."""

    async def _ended(self, run: ContainerRun, name: str) -> tuple[str, int]:
        """Return the pod of a job, and the exit code of its container, once that has ended."""
        pause = _FIRST_LOOK
        while True:
            found = await self._ask("GET", f"{self._pods}?labelSelector=job-name%3D{quote(name, safe='')}")
            pods: Any = found.get("items") or []
            for pod in pods:
                for status in (pod.get("status") or {}).get("containerStatuses") or []:
                    state = status.get("state") or {}
                    if "terminated" in state:
                        return pod["metadata"]["name"], int(state["terminated"]["exitCode"])
                    waiting = state.get("waiting") or {}
                    if waiting.get("reason") in _HOPELESS:
                        why = waiting.get("message") or waiting["reason"]
                        raise CallFailed(f"{run.what} could not be started: {why}", code="NotStarted")
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_BETWEEN)

    async def _log(self, run: ContainerRun, pod: str, limits: Limits) -> str:
        url = f"{self._pods}/{quote(pod, safe='')}/log?limitBytes={limits.output + 1}"
        content, _ = await self._http.request_raw(Request("GET", url, await self._headers()))
        if len(content) > limits.output:
            message = f"{run.what} writes more than {limits.output} bytes: see 'maxOutputBytes' of 'runners'"
            raise permanent_failure("AnswerTooLarge", message)
        return content.decode(errors="replace")

    async def _delete(self, name: str) -> None:
        try:
            await self._ask("DELETE", f"{self._jobs}/{name}?propagationPolicy=Background")
        except HttpStatusError as error:
            if error.status != _NOT_FOUND:
                raise

    async def _ask(self, method: str, url: str, body: Mapping[str, JSON] | None = None) -> dict[str, JSON]:
        headers = await self._headers()
        content = None if body is None else write_json(body).encode()
        answer = await self._http.request_json(Request(method, url, headers, content))
        return answer.body if isinstance(answer.body, dict) else {}

    async def _headers(self) -> tuple[tuple[str, str], ...]:
        file = self._settings.token_file
        try:
            token = await asyncio.to_thread(read_text, Path(file))
        except (OSError, ValueError) as error:
            message = f"the token of the service account cannot be read from {file}: {why_unreadable(error)}"
            raise permanent_failure("BadAuth", message) from error
        return (("Authorization", f"Bearer {token.strip()}"), ("Content-Type", "application/json"))


def _name(run: ContainerRun) -> str:
    """Return the name of the job, which Kubernetes restricts more than others do."""
    name = "".join(one if one.isascii() and one.isalnum() else "-" for one in run.name.lower())
    if len(name) > _MAX_NAME:  # what distinguishes it may be at its end
        name = f"{name[: _MAX_NAME - 17]}-{sha256(name.encode()).hexdigest()[:16]}"
    return name.strip("-") or f"swf-{run.call}"


def _job(run: ContainerRun, limits: Limits) -> dict[str, JSON]:
    container: dict[str, Any] = {
        "name": "main",
        "image": run.image,
        "imagePullPolicy": _POLICIES[run.pull_policy],
        "args": list(run.arguments),
        "env": [{"name": name, "value": value} for name, value in run.environment.items()],
    }
    if run.command is not None:
        container["command"] = ["sh", "-c", run.command, "sh"]
    spec: dict[str, Any] = {
        "backoffLimit": 0,
        # Also if no worker is left to end it.
        "activeDeadlineSeconds": max(1, round(limits.timeout.total_seconds())),
        "template": {
            "metadata": {"labels": {CALL: run.call}},
            "spec": {"restartPolicy": "Never", "automountServiceAccountToken": False, "containers": [container]},
        },
    }
    if run.cleanup == "eventually":
        spec["ttlSecondsAfterFinished"] = round(run.after)
    metadata: dict[str, JSON] = {"name": _name(run), "labels": {CALL: run.call}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
