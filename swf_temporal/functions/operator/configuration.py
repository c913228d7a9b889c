"""The settings of calls, as a configuration file and the environment give them.

One file in YAML or JSON, which `SWF_CONFIG` names, and variables named `SWF_…`; a variable wins over the file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, TypeVar

import httpx
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from swf_temporal.data import JSON
from swf_temporal.errors import UsageError
from swf_temporal.fetching.resources import Resources
from swf_temporal.files import read_text
from swf_temporal.functions.operator import parsers
from swf_temporal.functions.operator.network import Network, Pattern, read_pattern
from swf_temporal.functions.operator.options import Options, Rate, SharedFolder, environment_name
from swf_temporal.functions.operator.settings import Settings
from swf_temporal.functions.operator.tls import Tls
from swf_temporal.functions.operator.variables import Variables
from swf_temporal.text.model_errors import expected_form, fields_at
from swf_temporal.text.parsing import read_data
from swf_temporal.text.suggestions import suggestion

_FILE = "SWF_CONFIG"
_NAMED = f"it is named by --config or {_FILE}"


class Section(BaseModel):
    """A part of the file, in which there is nothing but its options."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)


class _Tls(Section):
    verify: bool = True
    ca: str | None = None
    cert: str | None = None
    key: str | None = None


class _ForHost(Section):
    timeout: Annotated[timedelta | None, BeforeValidator(parsers.as_timeout)] = None
    headers: Annotated[dict[str, str], BeforeValidator(parsers.as_headers)] = Field(default_factory=dict)
    tls: _Tls | None = None
    proxy: Annotated[str | None, BeforeValidator(parsers.as_proxy)] = None
    concurrency: Annotated[int | None, BeforeValidator(parsers.as_count)] = None
    rate: Annotated[Rate | None, BeforeValidator(parsers.as_rate)] = None
    max_response_bytes: Annotated[int | None, BeforeValidator(parsers.as_count)] = None
    check_responses: bool | None = None
    retry_on_closed_connection: bool | None = None


class _ForFunction(_ForHost):
    base_url: Annotated[str | None, BeforeValidator(parsers.as_url)] = None
    shared_folder: Annotated[SharedFolder | None, BeforeValidator(parsers.as_shared_folder)] = None


class _Network(Section):
    allow: list[str] = Field(default_factory=list)
    deny: list[str] = Field(default_factory=list)


class _File(Section):
    calls: _ForFunction = Field(default_factory=_ForFunction)
    functions: dict[str, _ForFunction] = Field(default_factory=dict)
    hosts: dict[str, _ForHost] = Field(default_factory=dict)
    network: _Network = Field(default_factory=_Network)
    modules: list[str] | None = None
    scripts: bool | None = None
    worker: dict[str, Any] = Field(default_factory=dict)
    """What concerns no call but the worker itself, which reads it."""
    storage: dict[str, Any] = Field(default_factory=dict)
    """What concerns payloads: `app/payload_settings.py` reads it."""
    encryption: dict[str, Any] = Field(default_factory=dict)
    compression: bool | None = None
    codec_server: dict[str, Any] = Field(default_factory=dict)
    """What concerns the codec server, which reads it."""
    events: dict[str, Any] = Field(default_factory=dict)
    """What concerns consumers and sinks: `app/event_settings.py` reads it."""
    gateway: dict[str, Any] = Field(default_factory=dict)
    """What concerns the gateway, which reads it."""


Model = TypeVar("Model", bound=Section)


def read_settings(
    env: Mapping[str, str], *, local: bool = False, file: Path | None = None, resources: Resources | None = None
) -> Settings:
    """Return the settings that the configuration *file* (else the one that `SWF_CONFIG` names) and *env* give.

    *resources* is what documents may refer to, if that is not what *env* says.

    *local* is for trying definitions out on this machine: then it may be called itself, and definitions may
    bring scripts. Raises UsageError for what cannot be read, naming the place or the variable.
    """
    path = configuration_file(env, file)
    content = _File() if path is None else validated(_File, content_of(path), path)
    variables = Variables(env)
    calls = variables.options().merged_over(_options(content.calls, path, "calls"))
    named = {
        environment_name(name): _options(each, path, f"functions › {name}") for name, each in content.functions.items()
    }
    for name in variables.names():
        named[name] = variables.options(name).merged_over(named.get(name, Options()))
    base_urls = {environment_name(name): each.base_url for name, each in content.functions.items() if each.base_url}
    settings = Settings(
        base_urls={**base_urls, **variables.base_urls()},
        base_url=variables.base_url() or content.calls.base_url,
        calls=calls,
        named=named,
        hosts={_pattern(path, name): _options(each, path) for name, each in content.hosts.items()},
        resources=resources or Resources.from_environment(env),
        modules=variables.modules(content.modules),
        scripts=variables.switch("SWF_SCRIPTS", local if content.scripts is None else content.scripts),
        network=Network(
            allow=variables.patterns("SWF_ALLOW_HOSTS")
            or tuple(_pattern(path, text) for text in content.network.allow),
            deny=variables.patterns("SWF_DENY_HOSTS") or tuple(_pattern(path, text) for text in content.network.deny),
            local=local,
        ),
    )
    return replace(settings, network=replace(settings.network, named=tuple(_named_in(settings))))


def configuration_file(env: Mapping[str, str], file: Path | None = None) -> Path | None:
    """Return the path of the configuration: *file*, else the one that *env* names."""
    return file or (Path(env[_FILE]) if env.get(_FILE) else None)


def content_of(path: Path) -> JSON:
    """Return what the configuration at *path* holds. Raises UsageError."""
    try:
        text = read_text(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"the configuration {path} cannot be read: {reason}", _NAMED) from error
    try:
        content: JSON = read_data(text)
    except ValueError as error:
        raise UsageError(f"the configuration {path} is neither YAML nor JSON: {error}", _NAMED) from None
    return {} if content is None else content


def validated(model: type[Model], content: JSON, path: Path, within: Sequence[str] = ()) -> Model:
    """Return *content*, which stands *within* a part of the file at *path*, as a *model*. Raises UsageError."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise UsageError("\n".join(f"{path}: {_text_of(each, model, within)}" for each in error.errors())) from None


def _text_of(problem: Any, model: type[Section], within: Sequence[str]) -> str:
    *place, last = (*within, *problem["loc"]) or ("the file",)
    where = " › ".join(str(step) for step in (*place, last))
    if problem["type"] == "extra_forbidden":
        return f"{where}: there is no such option{suggestion(str(last), fields_at(model, problem['loc'][:-1]))}"
    expected = expected_form(problem["type"])
    return f"{where}: {problem['msg'].removeprefix('Value error, ') if expected is None else f'it must be {expected}'}"


def _options(section: _ForHost, path: Path | None, place: str | None = None) -> Options:
    """Return the options as calls use them. Files are looked for beside the configuration."""
    tls = None
    if section.tls is not None and path is not None:
        if place is not None and not section.tls.verify:
            hint = "write it under `hosts`, for the one host that cannot prove who it is"
            raise UsageError(f"{path}: {place} › tls › verify: a server is left unverified by its host alone", hint)
        files = section.tls.model_dump(exclude={"verify"})
        tls = Tls(section.tls.verify, **{key: name and str(path.parent / name) for key, name in files.items()})
        tls.context()
    return Options(
        timeout=section.timeout,
        headers=section.headers,
        tls=tls,
        proxy=section.proxy,
        concurrency=section.concurrency,
        rate=section.rate,
        max_response_bytes=section.max_response_bytes,
        check_responses=section.check_responses,
        retry_on_closed_connection=section.retry_on_closed_connection,
        shared_folder=section.shared_folder if isinstance(section, _ForFunction) else None,
    )


def _pattern(path: Path | None, text: str) -> Pattern:
    try:
        return read_pattern(text)
    except UsageError as error:
        raise UsageError(f"{path}: {error.message}", error.hint) from None


def _named_in(settings: Settings) -> list[Pattern]:
    """Return the servers and proxies that the settings name: one that is named is meant to be reached."""
    proxies = [each.proxy for each in (settings.calls, *settings.named.values(), *settings.hosts.values())]
    urls = [settings.base_url, *settings.base_urls.values(), *proxies]
    return [read_pattern(httpx.URL(url).netloc.decode("ascii").rpartition("@")[2]) for url in urls if url]
