"""Containers that definitions start: what is asked of an engine, and the engines with a command line.

Those are Docker and Podman, which have the same options.
"""

import asyncio
import logging
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Protocol

from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.strict_json import read_json
from swf_temporal.functions.call import Call
from swf_temporal.functions.port import Services
from swf_temporal.functions.processes.running import Limits, ProcessArguments, ProcessResult, run_in
from swf_temporal.settings.calls import ContainerRunner

_log = logging.getLogger("swf")

OF_CONTAINERS: Final = ("image", "name", "command", "ports", "volumes", "lifetime", "pullPolicy")
"""The names of the arguments that containers alone have."""
CALL: Final = "swf-temporal.call"
"""The label of a container, or a job, for the call that started it: the same for all attempts."""
_AFTER: Final = "swf-temporal.remove-after"
"""The label for the seconds after which a container that has ended is removed."""
_POLICIES: Final = {"ifNotPresent": "missing", "always": "always", "never": "never"}
_CLEANUPS: Final = ("never", "always", "eventually")
_NOT_STARTED: Final = 125
"""The exit code of the command line for a container that could not be started."""
_IMAGE: Final = re.compile(r"[A-Za-z0-9][\w./:@+-]*", re.ASCII)
_PORT: Final = re.compile(r"\d{1,5}(?:/(?:tcp|udp))?")
_TARGET: Final = re.compile(r"/[^:,\0]*(?::r[ow])?")
_ENDS: Final = ("/", ":", "@")
"""The characters that may follow the beginning of an image's name that the operator allows."""
_OF_ENGINES: Final = ("DOCKER_", "CONTAINER", "XDG_", "PODMAN_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
"""The beginnings of the worker's variables that the command line gets. Containers do not see them."""
_HOUSEKEEPING: Final = Limits(timedelta(minutes=1), 1 << 20)
"""The limits of commands by which containers are listed, stopped and removed."""


@dataclass(frozen=True, slots=True)
class ContainerRun:
    """A container to run, as the operator's settings allow it."""

    what: str
    """The container, in messages."""
    name: str
    call: str
    """The value of its label `CALL`."""
    attempt: int
    image: str
    command: str | None
    arguments: Sequence[str]
    environment: Mapping[str, str]
    stdin: str
    ports: Mapping[str, str]
    volumes: Mapping[str, str]
    cleanup: str
    """When it is removed: `never`, `always` at its end, or `eventually`."""
    after: float
    """The seconds after its end at which it is removed `eventually`."""
    pull_policy: str

    @classmethod
    def read(cls, call: Call, arguments: ProcessArguments, settings: ContainerRunner) -> "ContainerRun":
        """Return the container of *call*. Raises CallFailed if its arguments are invalid, or not allowed."""
        key = sha256((call.idempotency_key or os.urandom(16).hex()).encode()).hexdigest()[:32]
        lifetime = arguments.inner("lifetime", ("cleanup", "after"))
        cleanup = lifetime.choice("cleanup", _CLEANUPS)
        name = arguments.optional_text("name") or f"swf-{key}-{call.attempt}"
        image = arguments.text("image")
        if not _IMAGE.fullmatch(image):
            raise arguments.wrong(f"{image!r} is not the name of an image")
        if settings.images is not None and not any(_begins(image, one) for one in settings.images):
            raise _denied(call, f"the image {image!r}", "images")
        ports = arguments.pairs("ports")
        for host, inside in ports.items():
            if not (_PORT.fullmatch(host) and _PORT.fullmatch(inside)):
                raise arguments.wrong(f"the ports {host!r}: {inside!r} are not the numbers of two ports")
        return cls(
            what=f"the container of function '{call.function.name}'",
            name=re.sub(r"[^A-Za-z0-9_.-]", "-", name).lstrip("_.-") or f"swf-{key}",
            call=key,
            attempt=call.attempt,
            image=image,
            command=arguments.optional_text("command"),
            arguments=arguments.words("arguments"),
            environment=arguments.environment(),
            stdin=arguments.stdin(),
            ports=ports,
            volumes=_volumes(call, arguments, settings),
            cleanup=cleanup,
            after=lifetime.number("after") if cleanup == "eventually" else 0.0,
            pull_policy=arguments.choice("pullPolicy", tuple(_POLICIES)),
        )


class Engine(Protocol):
    """A runner of containers."""

    async def run(self, run: ContainerRun, limits: Limits) -> ProcessResult:
        """Return the result of a container. Raises CallFailed if it cannot be started, or exceeds its limits."""
        ...

    async def aclose(self) -> None:
        """Stop what it does in the background."""
        ...


def engine_of(services: Services, settings: ContainerRunner) -> Engine | None:
    """Return the engine that the operator has configured, if there is one."""
    if settings.kubernetes is not None:
        from swf_temporal.functions.processes.kubernetes import Kubernetes  # noqa: PLC0415 - most workers have none

        return Kubernetes(services.http, settings.kubernetes)
    return None if settings.command is None else CommandLine(settings.command, settings.options)


class CommandLine:
    """An engine with the command line of Docker."""

    def __init__(self, command: str, options: Sequence[str] = ()) -> None:
        self._command, self._options = command, options
        self._has_swept = False
        self._timers: set[asyncio.Task[None]] = set()

    async def run(self, run: ContainerRun, limits: Limits) -> ProcessResult:
        """Return the result of a container. Raises CallFailed if it cannot be started, or exceeds its limits."""
        if run.attempt > 1:  # a worker that was lost may have left it running
            await self._remove(await self._found("--filter", f"label={CALL}={run.call}"))
        if not self._has_swept:  # what earlier workers left
            self._has_swept = True
            self._sweep_after(0)
        with TemporaryDirectory(prefix="swf-container-", ignore_cleanup_errors=True) as folder:
            command = [*self._line(folder), *self._options_of(run, folder), *_in_container(run)]
            has_ended = False
            try:
                result = await run_in(
                    folder, run.what, command, limits, stdin=run.stdin, environment=_environment_of_engine()
                )
                has_ended = True
            finally:
                if not has_ended:  # the command line was ended, and the container may not have been
                    await asyncio.shield(self._stop(run))
        if result.code == _NOT_STARTED:
            raise CallFailed(f"{run.what} could not be started: {result.stderr.strip()}", code="NotStarted")
        if run.cleanup == "eventually":
            self._sweep_after(run.after)
        return result

    async def aclose(self) -> None:
        """Stop waiting for containers that are to be removed later, which another worker will do."""
        for timer in self._timers:
            timer.cancel()

    def _line(self, folder: str) -> list[str]:
        found = shutil.which(self._command)
        return [found or str(Path(folder, self._command))]

    def _options_of(self, run: ContainerRun, folder: str) -> list[str]:
        """Return the options of `run`, without variables in view of other processes where that is possible."""
        lines = {name: value for name, value in run.environment.items() if "\n" not in value and "\r" not in value}
        file = Path(folder, "environment")
        file.write_text("".join(f"{name}={value}\n" for name, value in lines.items()), encoding="utf-8")
        options = ["run", "-i", "--name", run.name, "--label", f"{CALL}={run.call}"]
        options += ["--pull", _POLICIES[run.pull_policy], "--env-file", str(file)]
        options += ["--rm"] if run.cleanup == "always" else []
        options += ["--label", f"{_AFTER}={run.after:g}"] if run.cleanup == "eventually" else []
        for name, value in run.environment.items():
            options += [] if name in lines else ["-e", f"{name}={value}"]
        for host, inside in run.ports.items():
            options += ["-p", f"{host}:{inside}"]
        for host, inside in run.volumes.items():
            options += ["-v", f"{host}:{inside}"]
        return [*options, *self._options]

    async def _stop(self, run: ContainerRun) -> None:
        # Removed even if it was to be kept for a while: it did not end by itself, and would hold its name.
        await (self._ask("kill", run.name) if run.cleanup == "never" else self._remove([run.name]))

    def _sweep_after(self, seconds: float) -> None:
        async def sweep() -> None:
            await asyncio.sleep(seconds)
            await self._sweep()

        timer = asyncio.get_running_loop().create_task(sweep())
        self._timers.add(timer)
        timer.add_done_callback(self._timers.discard)

    async def _sweep(self) -> None:
        """Remove the containers that were to be removed by now, whichever worker started them."""
        found = await self._found("--filter", f"label={_AFTER}", "--filter", "status=exited")
        for one in found:
            form = f'[{{{{json .State.FinishedAt}}}}, {{{{json (index .Config.Labels "{_AFTER}")}}}}]'
            result = await self._ask("inspect", "--format", form, one)
            if result is not None and is_over(result.stdout, datetime.now(UTC)):
                await self._remove([one])

    async def _found(self, *filters: str) -> list[str]:
        result = await self._ask("ps", "-a", "-q", *filters)
        return [] if result is None else result.stdout.split()

    async def _remove(self, containers: Sequence[str]) -> None:
        if containers:
            await self._ask("rm", "-f", *containers)

    async def _ask(self, *arguments: str) -> ProcessResult | None:
        """Return the result of a command of the engine; None, with a line in the log, if it failed."""
        with TemporaryDirectory(prefix="swf-container-", ignore_cleanup_errors=True) as folder:
            try:
                what, command = f"{self._command} {arguments[0]}", [*self._line(folder), *arguments]
                result = await run_in(folder, what, command, _HOUSEKEEPING, environment=_environment_of_engine())
            except CallFailed as fault:
                _log.warning("%s", fault.message)
                return None
        if result.code:
            _log.info("%s %s: %s", self._command, arguments[0], result.stderr.strip())
        return None if result.code else result


def _in_container(run: ContainerRun) -> list[str]:
    if run.command is None:
        return [run.image, *run.arguments]
    return ["--entrypoint", "sh", run.image, "-c", run.command, "sh", *run.arguments]


def _environment_of_engine() -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if name.upper().startswith(_OF_ENGINES)}
    return {**own, **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}}


def is_over(answer: str, now: datetime) -> bool:
    """Return whether a container with the *answer* of `inspect` was to be removed before *now*."""
    try:
        ended, after = read_json(answer)
        # Engines write nanoseconds, which Python does not read.
        moment = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", str(ended)))
        return (now - moment).total_seconds() >= float(after)
    except (ValueError, TypeError):
        return False


def _begins(image: str, allowed: str) -> bool:
    """Return whether *image* is *allowed*, or has something after it: a path, a tag or a digest."""
    return image == allowed or (image.startswith(allowed) and (image[len(allowed)] in _ENDS or allowed[-1:] in _ENDS))


def _volumes(call: Call, arguments: ProcessArguments, settings: ContainerRunner) -> dict[str, str]:
    found = {}
    for host, inside in arguments.pairs("volumes").items():
        if not _TARGET.fullmatch(inside) or ":" in host or "," in host:
            raise arguments.wrong(f"the volume {host!r}: {inside!r} is not a folder of the host, and one inside")
        source = os.path.realpath(host) if host.startswith("/") else host
        if not any(_is_within(source, one) for one in settings.volumes):
            raise _denied(call, f"the volume {host!r}", "volumes")
        found[source] = inside
    return found


def _is_within(source: str, allowed: str) -> bool:
    if not allowed.startswith("/"):
        return source == allowed
    return source.startswith("/") and Path(source).is_relative_to(os.path.realpath(allowed))


def _denied(call: Call, what: str, setting: str) -> CallFailed:
    message = f"function '{call.function.name}': {what} is not among those that the operator allows"
    return permanent_failure("RunnerOff", f"{message}: see '{setting}' of 'runners: {{container: …}}'")
