"""Properties that are written nowhere: what has their place here, or that nothing needs to have it."""

import re
from typing import Final

from swf_temporal.migration.findings import Kind

_KEPT: Final = "Temporal keeps instances and timers: remove it"
_BUILT: Final = "it is about how an application is built, tried or deployed: remove it"
_TOLD: Final[tuple[tuple[str, Kind, str], ...]] = (
    (r"quarkus\.http\.port", "differs", "swf gateway has the option --port"),
    (r"quarkus\.http\.host", "differs", "swf gateway has the option --host"),
    (
        r"quarkus\.http\.(?:ssl|insecure-requests|tls-configuration-name).*", "by hand",
        "swf gateway serves HTTPS with the options --tls-cert and --tls-key, which name PEM files",
    ),
    (r"quarkus\.http\.cors.*", "by hand", "list the origins of web pages under 'origins' of 'gateway'"),
    (
        r"quarkus\.(?:http\.auth|http\.policy|oidc|security|smallrye-jwt|keycloak)\b(?!-client).*", "by hand",
        "swf gateway knows its callers by keys and tokens of its own: see the page on the gateway",
    ),
    (r"quarkus\.http\..*", "differs", "the page on the gateway has its settings"),
    (
        r"quarkus\.oidc-client\..*", "by hand",
        "write an auth definition with the scheme oauth2, grantType, tokenUrl and clientId, and the secret in $SECRETS",
    ),
    (
        r"quarkus\.openapi-generator\.codegen\..*config-key", "by hand",
        "let functions of this document say 'configuredAs' and the key, and write what is said of it under 'services'",
    ),
    (
        r"quarkus\.openapi-generator\.(?:codegen\..*|[^.]*(?:spec|model|include|exclude|validate)[^.]*)", "differs",
        "documents are read as they are, and nothing is generated",
    ),
    (r"quarkus\.rest-client\..*connection.*", "differs", "'concurrency' under 'services' limits calls"),
    (r"quarkus\.rest-client\..*redirects", "differs", "redirects are followed, each as a call of its own"),
    (r"quarkus\.rest-client\..*(?:log|scope|provider|register|multipart).*", "differs", "it is not needed here"),
    (r"(?:quarkus\.(?:rest-client|openapi-generator)|kogito\.sw)\..*", "by hand", "see the page on configuration"),
    (r"kogito\.grpc\.stream\.timeout", "by hand", "write 'timeout' under 'functions' for those that call a stream"),
    (r"quarkus\.grpc\.(?:server|codegen).*", "differs", "nothing is served by gRPC, and nothing is generated"),
    (r"(?:quarkus|kogito)\.grpc\..*", "by hand", "see the page on gRPC: baseUrl, tls and timeout under 'services'"),
    (r"quarkus\.tls\..*", "by hand", "write PEM files as 'ca', 'cert' and 'key' of 'tls' under 'calls' or 'hosts'"),
    (
        r"kogito\.(?:data-?index|jobs?-?service|persistence|service|events|apps|trusty|messaging|quarkus\.persistence)\b.*",
        "differs", _KEPT,
    ),
    (r"quarkus\.(?:datasource|flyway|liquibase|hibernate|infinispan|mongodb|redis|kogito)\b.*", "differs", _KEPT),
    (r"quarkus\.(?:log|console)\b.*", "differs", "'logLevel' and 'logFormat' of 'worker' say what is logged"),
    (
        r"quarkus\.(?:micrometer|otel|opentelemetry|smallrye-health|smallrye-metrics|metrics)\b.*", "differs",
        "swf worker has the options --metrics and --health; the page on operating has traces",
    ),
    (r"(?:quarkus|kogito\.codegen|maven|project)\..*", "differs", _BUILT),
    (r"(?:kogito|org\.kie|mp|smallrye|kafka|camel|knative)\b.*", "by hand", "see the page on configuration"),
)  # fmt: skip
_OWN: Final = "if a definition or a method in Java asks for it, give it in the input, as a constant or as a secret"


def counterpart(key: str) -> tuple[Kind, str, str]:
    """Return how to tell of the property *key* that is written nowhere: the kind, what is so, and what to do."""
    for form, kind, hint in _TOLD:
        if re.fullmatch(form, key):
            return kind, f"{key} has no {'effect' if kind == 'differs' else 'counterpart'}", hint
    return "differs", f"{key} is a property of the application's own", _OWN
