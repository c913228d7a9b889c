"""Rules about values: what may stand beside what, and the texts and numbers that mean something."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from swf_temporal.base.calendars.moments import InvalidTime
from swf_temporal.base.calendars.wording import pitfall_of_days
from swf_temporal.base.durations import parse_duration
from swf_temporal.expressions.json_schema import BadSchema, DataSchemaValidator
from swf_temporal.languages.dsl.expressions import ARGUMENTS
from swf_temporal.languages.dsl.model.arguments import (
    A2AArguments,
    Container,
    GrpcArguments,
    GrpcService,
    HttpArguments,
    McpArguments,
    McpHttp,
    McpStdio,
    McpTransport,
    OpenApiArguments,
    Script,
    Shell,
)
from swf_temporal.languages.dsl.model.node import PARTS, DurationParts, Node
from swf_temporal.languages.dsl.model.parts import (
    AttemptLimit,
    Backoff,
    Bearer,
    ContainerLifetime,
    Credentials,
    DataSchema,
    EndpointConfiguration,
    EventFilter,
    EventStrategy,
    Export,
    ExternalResource,
    Input,
    Jitter,
    Login,
    OAuth2,
    Output,
    RetryLimit,
    RetryPolicy,
    Timeout,
)
from swf_temporal.languages.dsl.model.workflow import (
    ONE_OF,
    AsyncApiArguments,
    Catch,
    Document,
    EmittedEvent,
    Loop,
    Schedule,
    SetTask,
    SubscriptionIterator,
    SubscriptionLifetime,
    SwitchTask,
    WaitTask,
    Workflow,
    WorkflowProcess,
)
from swf_temporal.languages.dsl.names import LATEST, LATEST_DSL, NAME_FORM, VERSION_FORM
from swf_temporal.languages.dsl.schedules import compiled
from swf_temporal.languages.dsl.validation.walk import Report, Walk, attribute, components_in, parts_of
from swf_temporal.languages.metadata import MetadataRules
from swf_temporal.text.model_errors import describe_value
from swf_temporal.text.origin import Array, Object, plain
from swf_temporal.text.suggestions import did_you_mean

_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*")
_NAME: Final = re.compile(NAME_FORM)
_SEMANTIC: Final = re.compile(VERSION_FORM)
_HOST: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9-.]{0,251}[a-zA-Z0-9])?")
_METHOD: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_METHODS: Final = ("get", "head", "post", "put", "delete", "connect", "options", "trace", "patch")
_URI: Final = re.compile(r"(?=\S)(([^:/?#]+):)?(//([^/?#\s]*))?([^?#\s]*)(\?([^#\s]*))?(#(\S*))?")
"""The official schema's pattern of a URI reference."""
_BRACES: Final = re.compile(r"\{[^{}]*\}")
_PROTOCOLS: Final = (
    "amqp", "amqp1", "anypointmq", "googlepubsub", "http", "ibmmq", "jms", "kafka", "mercure", "mqtt", "mqtt5", "nats",
    "pulsar", "redis", "sns", "solace", "sqs", "stomp", "ws",
)  # fmt: skip
_SCRIPTS: Final = ("js", "javascript", "python")
_PORTS: Final = 65_535
_DEFAULTS: Final = 1
"""The number of cases without a condition that a switch may have."""
_UNKNOWN: Final = "unknown-property"

OBJECT, LIST, TEXT = "an object", "a list", "a text"
_FORMS: Final[Mapping[type[Node], Mapping[str, tuple[str, ...]]]] = {
    Container: dict.fromkeys(("ports", "volumes", "environment"), (OBJECT, TEXT)),
    EmittedEvent: {"with": (OBJECT,)},
    EventFilter: {"with": (OBJECT,)},
    Export: {"as": (TEXT, OBJECT)},
    GrpcArguments: {"arguments": (OBJECT,)},
    HttpArguments: dict.fromkeys(("headers", "query"), (OBJECT, TEXT)),
    Input: {"from": (TEXT, OBJECT)},
    Loop: {"in": (TEXT, LIST)},
    McpArguments: {"parameters": (OBJECT, TEXT)},
    A2AArguments: {"parameters": (OBJECT, TEXT)},
    McpHttp: {"headers": (OBJECT, TEXT)},
    McpStdio: {"environment": (OBJECT, TEXT)},
    McpTransport: {"options": (OBJECT,)},
    OpenApiArguments: {"parameters": (OBJECT,)},
    Output: {"as": (TEXT, OBJECT)},
    Script: {"arguments": (LIST, OBJECT, TEXT), "environment": (OBJECT, TEXT)},
    SetTask: {"set": (OBJECT, TEXT)},
    Shell: {"arguments": (LIST, OBJECT, TEXT), "environment": (OBJECT, TEXT)},
}
"""The forms of values that may contain expressions. A text is an expression that yields one of the other forms."""
_DURATIONS: Final[Mapping[type[Node], tuple[str, ...]]] = {
    AttemptLimit: ("duration",),
    ContainerLifetime: ("after",),
    Jitter: ("from", "to"),
    McpArguments: ("timeout",),
    RetryLimit: ("duration",),
    RetryPolicy: ("delay",),
    Schedule: ("every", "after"),
    SubscriptionLifetime: ("for",),
    Timeout: ("after",),
    WaitTask: ("wait",),
}


def check_values(walk: Walk, report: Report, *, but: Collection[type[Node]] = ()) -> None:
    """Add the problems of the values in a definition, without the rules of DSL 1.0 for nodes of some classes."""
    workflow = walk.workflow
    _Values("the workflow", workflow, report, but).check(workflow)
    for owner, component in components_in(workflow):
        _Values(owner, workflow, report, but).check(component)
    for place in walk.places:
        _Values(place.owner, workflow, report, but).check(place.task)


class _Values:
    """Checks the values of one owner."""

    def __init__(self, owner: str, workflow: Workflow, report: Report, but: Collection[type[Node]]) -> None:
        self._owner = owner
        self._but = but
        self._workflow = workflow
        self._is_loose = workflow.evaluate.mode == "loose"
        self._report = report

    def check(self, node: Node) -> None:
        for part in parts_of(node):
            kind = type(part)
            if kind in self._but:
                continue
            if kind in ONE_OF:
                self._one_of(part, *ONE_OF[kind])
            for key, forms in _FORMS.get(kind, {}).items():
                self._form(part, key, forms)
            for key in _DURATIONS.get(kind, ()):
                self._duration(part, key)
            check = _CHECKS.get(kind)
            if check is not None:
                check(self, part)

    def error(self, code: str, message: str, node: Node, key: str, hint: str | None = None) -> None:
        self._report.error(code, f"{self._owner}: {message}", node.where.value(key), hint)

    def _no_effect(self, key: str, why: str, node: Node) -> None:
        message = f"{self._owner}: {key} has no effect {why}"
        self._report.warning(_UNKNOWN, message, node.where.key(key), "remove it")

    # Keys

    def _one_of(self, node: Node, subject: str, keys: tuple[str, ...]) -> None:
        written = [
            key for key in keys if attribute(type(node), key) in node.model_fields_set and not _is_null(node, key)
        ]
        if len(written) == 1:
            return
        known = f"{', '.join(keys[:-1])} and {keys[-1]}"
        if written:
            message = f"{subject} has both {written[0]} and {written[1]}"
            position = node.where.key(written[1])
            self._report.error("one-of", f"{self._owner}: {message}", position, f"write exactly one of {known}")
        else:
            message = f"{self._owner}: {subject} has none of {known}"
            self._report.error("one-of", message, node.where.position, "write exactly one of them")

    def _form(self, node: Node, key: str, forms: tuple[str, ...]) -> None:
        value = getattr(node, attribute(type(node), key))
        if value is None or _form_of(value) in forms:
            return
        expected = forms[0] if len(forms) == 1 else f"{', '.join(forms[:-1])} or {forms[-1]}"
        self.error("type", f"{key} must be {expected}, not {describe_value(value)}", node, key)

    def _missing(self, node: Node, subject: str, keys: tuple[str, ...], hint: str | None = None) -> None:
        for key in keys:
            if not getattr(node, attribute(type(node), key)):
                self._report.error("missing", f"{self._owner}: {subject} has no {key}", node.where.position, hint)

    # Durations and times

    def _duration(self, node: Node, key: str) -> None:
        value = getattr(node, attribute(type(node), key))
        if isinstance(value, DurationParts):
            for part in PARTS:
                if getattr(value, part) < 0:
                    self.error("duration", f"{part} of {key} must be 0 or more", value, part)
            return
        if not isinstance(value, str) or ("${" in value and not isinstance(node, Schedule)):
            return
        if self._is_loose and not isinstance(node, Schedule):
            return  # any text may be an expression
        try:
            is_possible = parse_duration(value).total_seconds() >= 0
        except ValueError:
            is_possible = False
        if not is_possible:
            hint = "write it like PT15M, or by its parts: {minutes: 15}"
            self.error("duration", f"{key} {value!r} is not a duration in ISO 8601", node, key, hint)

    def of_schedule(self, schedule: Schedule) -> None:
        if schedule.read is not None and schedule.on is None:
            message = "schedule.read says how events are read, and schedule has no on"
            self.error("one-of", message, schedule, "read", "remove it, or write on")
        if schedule.cron is None:
            return
        where = schedule.where.value("cron")
        try:
            compiled(schedule)
        except InvalidTime as error:
            self._report.error("schedule", error.message, where, error.hint)
            return
        days = pitfall_of_days(schedule.cron)
        if days is not None:
            self._report.warning("schedule", days.message, where, days.hint)

    def of_jitter(self, jitter: Jitter) -> None:
        low, high = _length(jitter.from_), _length(jitter.to)
        if low is not None and high is not None and low > high:
            self.error("retry", "jitter.from is longer than jitter.to", jitter, "from", "exchange them")

    def of_attempt_limit(self, limit: AttemptLimit) -> None:
        if limit.count is not None and limit.count < 0:
            self.error("retry", f"count {limit.count} is not a number of attempts", limit, "count", "write 0 or more")

    def of_subscription_lifetime(self, consume: SubscriptionLifetime) -> None:
        if consume.amount is not None and consume.amount < 1:
            self.error("retry", f"amount {consume.amount} is not a number of messages", consume, "amount", "write 1")

    # Events

    def of_event_strategy(self, strategy: EventStrategy) -> None:
        if strategy.until is not None and strategy.any is None:
            self._no_effect("until", "without any", strategy)
        if strategy.all == ():
            self._report.error("empty-list", f"{self._owner}: all is empty", strategy.where.value("all"))
        inner = strategy.until if isinstance(strategy.until, EventStrategy) else None
        if inner is not None and inner.any is not None and inner.until is not None:
            message = f"{self._owner}: until contains another until"
            self._report.error(_UNKNOWN, message, inner.where.key("until"), "remove it")
        elif strategy.until is not None and not isinstance(strategy.until, EventStrategy | str):
            self.error(
                "type", f"until must be a text or an object, not {describe_value(strategy.until)}", strategy, "until"
            )

    def of_event_filter(self, given: EventFilter) -> None:
        if given.with_ == {} or given.with_ is None:
            hint = "name an attribute, such as type; any: [] means all events"
            self.error("event-definition", "an event filter names no attribute", given, "with", hint)
        for name, value in given.with_.items() if isinstance(given.with_, Object) else ():
            if isinstance(value, dict) and name != "data":
                message = f"{self._owner}: no event has an object as its attribute {name!r}"
                hint = f"{name} belongs beside with" if name == "correlate" else "only data may be one"
                self._report.error("event-definition", message, given.with_.where.key(name), hint)

    def of_emitted_event(self, event: EmittedEvent) -> None:
        if isinstance(event.with_, dict) and event.with_.get("type") in (None, ""):
            where = event.where.value("with")
            hint = "every event has one, such as com.example.order.placed.v1"
            self._report.error("missing", f"{self._owner}: the event has no type", where, hint)

    # Calls and processes

    def of_http_arguments(self, given: HttpArguments) -> None:
        method = given.method
        if "${" not in method and not self._is_loose:
            if _METHOD.fullmatch(method) is None:
                self.error("http-method", f"method {method!r} is not an HTTP method", given, "method", "such as get")
            elif method.lower() not in _METHODS and (meant := did_you_mean(method.lower(), _METHODS)) is not None:
                message = f"{self._owner}: method {method!r} is not a usual HTTP method"
                self._report.warning("http-method", message, given.where.value("method"), meant)
        self._uri(given, "endpoint")

    def of_endpoint_configuration(self, endpoint: EndpointConfiguration) -> None:
        self._uri(endpoint, "uri")

    def of_external_resource(self, resource: ExternalResource) -> None:
        self._uri(resource, "endpoint")

    def of_mcp_http(self, transport: McpHttp) -> None:
        self._uri(transport, "endpoint")

    def _uri(self, node: Node, key: str) -> None:
        text = getattr(node, attribute(type(node), key))
        if not isinstance(text, str) or "${" in text or self._is_loose:
            return
        if _URI.fullmatch(text) is None:
            self.error("uri", f"{key} {text!r} is not a URI", node, key, "an expression is written ${ … }")
        elif any(character in _BRACES.sub("", text) for character in "{}"):
            hint = "a property of the input is written {name}"
            self.error("uri", f"{key} {text!r} has a brace without its counterpart", node, key, hint)

    def of_grpc_service(self, service: GrpcService) -> None:
        if "${" not in service.host and _HOST.fullmatch(service.host) is None:
            self.error(
                "uri", f"host {service.host!r} is not the name of a host", service, "host", "such as example.com"
            )
        if service.port is not None and not 0 <= service.port <= _PORTS:
            self.error("uri", f"port {service.port} is not a number from 0 to {_PORTS}", service, "port", "such as 443")

    def of_async_api_arguments(self, given: AsyncApiArguments) -> None:
        self._one_of(given, "the call", ("message", "subscription"))
        if given.protocol is not None and given.protocol not in _PROTOCOLS:
            message = f"protocol {given.protocol!r} is not one of {', '.join(_PROTOCOLS)}"
            self.error("enum", message, given, "protocol", did_you_mean(given.protocol, _PROTOCOLS))
        if given.protocol is not None and given.server is not None:
            self._no_effect("protocol", "beside server", given)

    def of_a2a_arguments(self, given: A2AArguments) -> None:
        if given.agent_card is None and given.server is None:
            message = f"{self._owner}: the call has neither agentCard nor server"
            self._report.error("one-of", message, given.where.position, "write one of them")
        elif given.agent_card is not None and given.server is not None:
            self._no_effect("server", "beside agentCard", given)
        self._uri(given, "server")

    def of_script(self, script: Script) -> None:
        if script.language.lower() not in _SCRIPTS:
            message = f"language {script.language!r} is not one of js and python"
            hint = did_you_mean(script.language, _SCRIPTS) or "other languages can be run in a container"
            self.error("enum", message, script, "language", hint)

    def of_container_lifetime(self, lifetime: ContainerLifetime) -> None:
        if lifetime.cleanup == "eventually":
            self._missing(lifetime, "lifetime", ("after",), "write after how long the container is removed")
        elif lifetime.after is not None:
            self._no_effect("after", f"with cleanup: {lifetime.cleanup}", lifetime)

    def of_workflow_process(self, process: WorkflowProcess) -> None:
        for key in ("namespace", "name"):
            self._name(process, key)
        if process.version != LATEST:
            self._version(process)

    # Authentication

    def of_login(self, login: Login) -> None:
        self._properties(login, "the policy", ("username", "password"))

    def of_bearer(self, bearer: Bearer) -> None:
        self._properties(bearer, "the policy", ("token",))

    def of_oauth2(self, policy: OAuth2) -> None:
        if not self._properties(policy, "the policy", ("authority", "grant")):
            return
        self._uri(policy, "authority")
        client = policy.client
        method = None if client is None else client.authentication
        if method != "none" and (client is None or client.id is None):
            where = policy.where.position if client is None else client.where.position
            hint = "write client: {id: …}, or client: {authentication: none}"
            self._report.error("missing", f"{self._owner}: the policy has no client.id", where, hint)
        if client is not None and method == "private_key_jwt" and client.assertion is None:
            message = f"{self._owner}: the policy has no client.assertion"
            self._report.error("missing", message, client.where.position, "private_key_jwt needs a JWT")

    def _properties(self, scheme: Credentials, subject: str, keys: tuple[str, ...]) -> bool:
        """Check that *scheme* has the properties *keys*, or names a secret; return whether it has properties."""
        if scheme.use is None:
            self._missing(scheme, subject, keys, "write it, or use: and the name of a secret that has it")
            return True
        others = [key for key in scheme.where.keys if key != "use"]
        if others:
            message = f"{self._owner}: {subject} has both use and {others[0]}"
            self._report.error("one-of", message, scheme.where.key(others[0]), "the secret has all properties")
        return False

    # Data

    def of_data_schema(self, schema: DataSchema) -> None:
        if schema.format.partition(":")[0] != "json":
            message = f"the format of a schema is {schema.format!r}, and must be json"
            self.error("data-schema", message, schema, "format", "write a JSON Schema")
        elif schema.document is not None:
            try:
                DataSchemaValidator(plain(schema.document))
            except BadSchema as error:
                where = schema.where.value("document")
                position = _position(schema.document, error.path) or where
                path = "".join(f"/{step}" for step in error.path)
                message = (
                    f"{self._owner}: this is not a usable JSON Schema: {path}{': ' if path else ''}{error.message}"
                )
                self._report.error("data-schema", message, position)

    def of_switch_task(self, task: SwitchTask) -> None:
        if not task.switch:
            self._report.error("empty-list", f"{self._owner}: switch is empty", task.where.value("switch"))
        defaults = [one for one in task.switch if one.case.when is None]
        for one in defaults[_DEFAULTS:]:
            message = f"{self._owner}: the case {one.name!r} has no condition, and {defaults[0].name!r} has none either"
            hint = "write when: only one case may be the default"
            self._report.error("switch-conditions", message, one.where.position, hint)

    def of_loop(self, loop: Loop) -> None:
        self._variables(loop, "each", "at")

    def of_subscription_iterator(self, each: SubscriptionIterator) -> None:
        self._variables(each, "item", "at")

    def of_catch(self, catch: Catch) -> None:
        self._variables(catch, "as")

    def _variables(self, node: Node, *keys: str) -> None:
        names: dict[str, str] = {}
        for key in keys:
            name = getattr(node, attribute(type(node), key))
            if _IDENTIFIER.fullmatch(name) is None:
                message = f"{key} {name!r} is not the name of a variable"
                self.error("name-form", message, node, key, "write letters, digits and _, without $")
            elif name in ARGUMENTS:
                message = f"the variable {name!r} would have the name of the argument ${name}"
                self.error("reserved-name", message, node, key, "choose another name")
            elif name in names and {key, names[name]} <= node.model_fields_set:
                message = f"{key} {name!r} is the name of another variable, {names[name]}"
                self.error("duplicate-name", message, node, key, "choose another name")
            names[name] = key

    # Identity

    def of_workflow(self, workflow: Workflow) -> None:
        document = workflow.document
        where = document.where.value("metadata")
        rules = MetadataRules(
            document.metadata, lambda *path: _position(document.metadata, path) or where, self._report
        )
        for _ in (*rules.concurrency(), *rules.search_attributes()):
            pass  # the report has it
        for key in ("namespace", "name"):
            self._name(document, key)
        self._version(document)
        found = _SEMANTIC.fullmatch(document.dsl)
        if found is None:
            message = f"dsl {document.dsl!r} is not a version of the language"
            self.error("spec-version", message, document, "dsl", f"write '{'.'.join(map(str, LATEST_DSL))}'")
            return
        numbers = tuple(int(found[number]) for number in (1, 2, 3))
        if numbers[0] != LATEST_DSL[0]:
            message = f"dsl is {document.dsl!r}, and this is version {LATEST_DSL[0]} of the language"
            self.error("spec-version", message, document, "dsl", f"write '{'.'.join(map(str, LATEST_DSL))}'")
        elif numbers > LATEST_DSL:
            message = f"{self._owner}: dsl is {document.dsl!r}, which is newer than {'.'.join(map(str, LATEST_DSL))}"
            hint = "what is new in it may not be known here"
            self._report.warning("spec-version", message, document.where.value("dsl"), hint)

    def _name(self, node: Node, key: str) -> None:
        text = getattr(node, key)
        if _NAME.fullmatch(text) is None:
            message = f"{key} {text!r} must be up to 63 letters, digits and hyphens, without a hyphen at an end"
            meant = re.sub(r"[^a-zA-Z0-9]+", "-", text).strip("-")[:63].strip("-")
            self.error("name-form", message, node, key, f"such as {meant!r}" if meant else "such as 'order-pet'")

    def _version(self, node: Document | WorkflowProcess) -> None:
        version = node.version
        if _SEMANTIC.fullmatch(version) is None:
            self.error("identity", f"version {version!r} is not a semantic version", node, "version", "such as '1.0.0'")


_CHECKS: Final[Mapping[type[Node], Callable[[_Values, Any], None]]] = {
    Schedule: _Values.of_schedule,
    Jitter: _Values.of_jitter,
    AttemptLimit: _Values.of_attempt_limit,
    SubscriptionLifetime: _Values.of_subscription_lifetime,
    EventStrategy: _Values.of_event_strategy,
    EventFilter: _Values.of_event_filter,
    EmittedEvent: _Values.of_emitted_event,
    HttpArguments: _Values.of_http_arguments,
    EndpointConfiguration: _Values.of_endpoint_configuration,
    ExternalResource: _Values.of_external_resource,
    McpHttp: _Values.of_mcp_http,
    GrpcService: _Values.of_grpc_service,
    AsyncApiArguments: _Values.of_async_api_arguments,
    A2AArguments: _Values.of_a2a_arguments,
    Script: _Values.of_script,
    ContainerLifetime: _Values.of_container_lifetime,
    WorkflowProcess: _Values.of_workflow_process,
    Login: _Values.of_login,
    Bearer: _Values.of_bearer,
    OAuth2: _Values.of_oauth2,
    DataSchema: _Values.of_data_schema,
    SwitchTask: _Values.of_switch_task,
    Loop: _Values.of_loop,
    SubscriptionIterator: _Values.of_subscription_iterator,
    Catch: _Values.of_catch,
    Workflow: _Values.of_workflow,
}


def _is_null(node: Node, key: str) -> bool:
    # A backoff is chosen by its key alone.
    return getattr(node, attribute(type(node), key)) is None and not isinstance(node, Backoff)


def _form_of(value: Any) -> str:
    if isinstance(value, dict):
        return OBJECT
    return LIST if isinstance(value, list | tuple) else TEXT if isinstance(value, str) else ""


def _length(duration: Any) -> float | None:
    if isinstance(duration, DurationParts):
        units = zip(PARTS, (86_400, 3_600, 60, 1, 0.001), strict=True)
        return float(sum(getattr(duration, part) * length for part, length in units))
    try:
        return parse_duration(duration).total_seconds()
    except ValueError:
        return None


def _position(value: Any, path: tuple[str | int, ...]) -> Any:
    """Return the position of the element at *path* in *value*, if it is known."""
    found = None
    for step in path:
        if isinstance(value, Object) and isinstance(step, str) and step in value:
            found, value = value.where.value(step), value[step]
        elif isinstance(value, Array) and isinstance(step, int) and step < len(value):
            found, value = value.positions[step], value[step]
    return found
