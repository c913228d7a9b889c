"""The settings of runners: the processes and containers that definitions may start. By default, none."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, ClassVar

from swf_temporal.settings.configuration import NO_VARIABLE, Section
from swf_temporal.settings.forms import SPLIT, WORD, Duration, File, Name, Size, Url


class ScriptLanguage(StrEnum):
    """A language of scripts."""

    JS = "js"
    PYTHON = "python"


class KubernetesRunner(Section):
    """The settings of containers that run as jobs of Kubernetes."""

    server: Url
    """The URL of the Kubernetes API."""
    namespace: Name = "default"
    """The namespace of the jobs."""
    token_file: File = "/var/run/secrets/kubernetes.io/serviceaccount/token"  # noqa: S105 - its place
    """The file with the token of the worker's service account; it is read for each container."""


class ContainerRunner(Section):
    """The settings of containers that definitions start."""

    command: Name | None = None
    """The command line of a container engine: `docker`, `podman`, or a path."""
    kubernetes: KubernetesRunner | None = None
    """The Kubernetes cluster in which they run instead."""
    images: tuple[str, ...] | None = None
    """The prefixes that names of images must have one of; without any, every image may be run."""
    volumes: tuple[str, ...] = ()
    """The folders of the host, or named volumes, that containers may mount, with everything below them."""
    options: tuple[str, ...] = ()
    """Further options of its `run`, such as limits of memory and network."""


class Runners(Section):
    """The processes and containers that definitions may start on a worker."""

    prefix: ClassVar[str] = "SWF_RUNNERS_"

    shell: bool = False
    """Whether definitions may run shell commands."""
    script: Annotated[tuple[Annotated[ScriptLanguage, WORD], ...], SPLIT] = ()
    """The languages in which definitions may contain scripts."""
    node: Name | None = None
    """The command of Node.js for scripts in JavaScript; without, they run in QuickJS."""
    mcp: Annotated[tuple[str, ...], SPLIT] = ()
    """The commands of MCP servers that may be started, each with the arguments that it must begin with."""
    container: Annotated[ContainerRunner, NO_VARIABLE] = ContainerRunner()
    """The containers that may be started."""
    timeout: Duration = timedelta(minutes=10)
    """The longest that a process or a container may run, unless the function has a `timeout` of its own."""
    max_output_bytes: Size = 1024 * 1024
    """The maximum size of what a process writes to its standard output, and to its standard error."""
