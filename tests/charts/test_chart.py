"""The Helm chart is what Kubernetes and our commands take, for each of its files of values."""

import base64
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from release.building import ROOT, version
from swf_temporal.cli.main import app
from swf_temporal.languages.loading import check
from swf_temporal.sdk import asgi_server
from swf_temporal.settings.events import EventSettings
from swf_temporal.settings.http import GatewaySettings
from swf_temporal.settings.worker import WorkerSettings
from tests.docs.chart_page import README, written
from tests.docs.pages import blocks_of

CHART = ROOT / "charts" / "swf-temporal"
VALUES = sorted((CHART / "ci").glob("*.yaml"))
KUBERNETES = "1.34"
HELM = shutil.which("helm", path=str(Path(sys.executable).parent)) or shutil.which("helm")
OF_OTHERS = {"keda.sh/v1alpha1", "temporal.io/v1alpha1", "monitoring.coreos.com/v1"}
"""What other controllers define: Kubernetes has no schema for it."""

pytestmark = pytest.mark.skipif(HELM is None, reason="NOT TRIED: there is no helm")


def helm(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(HELM), *map(str, arguments), "--kube-version", KUBERNETES]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


@cache
def rendered(*arguments: str | Path) -> list[dict[str, Any]]:
    done = helm("template", "shop", CHART, *arguments)
    assert done.returncode == 0, done.stderr
    return [manifest for manifest in yaml.safe_load_all(done.stdout) if manifest]


def refusal(*settings: str) -> str:
    """Return what helm says of values that are refused; each is `key=value`, with JSON as the value if it has any."""
    words = (("--set-json" if re.search(r"=[\[{\"]", each) else "--set", each) for each in settings)
    done = helm("template", "shop", CHART, *(word for each in words for word in each))
    assert done.returncode != 0
    return done.stderr


def values_of(name: str) -> tuple[str, Path]:
    return "--values", CHART / "ci" / f"{name}-values.yaml"


@pytest.fixture(scope="module", params=VALUES, ids=lambda file: file.name.removesuffix("-values.yaml"))
def manifests(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    return rendered("--values", request.param)


def named(manifests: list[dict[str, Any]], kind: str, ending: str = "") -> dict[str, Any]:
    [found] = [one for one in manifests if one["kind"] == kind and one["metadata"]["name"].endswith(ending)]
    return found


def pods(manifests: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for one in manifests:
        if one["kind"] in {"Deployment", "WorkerDeployment"}:
            yield one["spec"]["template"]["spec"]


def all_pods(manifests: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield from pods(manifests)
    yield from (one["spec"] for one in manifests if one["kind"] == "Pod")


@pytest.mark.parametrize("values", VALUES, ids=lambda file: file.name)
def test_helm_has_nothing_to_say(values: Path) -> None:
    done = helm("lint", "--strict", CHART, "--values", values)
    assert done.returncode == 0, done.stdout


def test_manifests_have_their_schema(manifests: list[dict[str, Any]]) -> None:
    """Every manifest is what Kubernetes takes, without a field that it does not know; names are different."""
    import kubernetes_validate  # noqa: PLC0415 - a second, which every process that collects tests would take

    for manifest in manifests:
        if manifest["apiVersion"] not in OF_OTHERS:
            kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    for pod in pods(manifests):
        kubernetes_validate.validate({"apiVersion": "v1", "kind": "Pod", "spec": pod}, KUBERNETES, strict=True)
    keys = [(manifest["kind"], manifest["metadata"]["name"]) for manifest in manifests]
    assert len(set(keys)) == len(keys)


def test_containers_give_arguments_that_commands_take(manifests: list[dict[str, Any]]) -> None:
    commands: Any = typer.main.get_command(app)
    for pod in pods(manifests):
        [container] = pod["containers"]
        name, *arguments = container["args"]
        arguments = [argument.replace("$(TEMPORAL_DEPLOYMENT_NAME)", "shop") for argument in arguments]
        command = commands.get_command(None, name)
        assert command.make_context(name, arguments).params["task_queue"]


def test_pods_have_no_rights(manifests: list[dict[str, Any]]) -> None:
    """Every pod works as a user, writes nothing but temporary files, and is not known to Kubernetes."""
    for pod in all_pods(manifests):
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


def test_every_container_says_what_it_needs(manifests: list[dict[str, Any]]) -> None:
    """It has requests of CPU and memory, and a limit of memory: a quota of a namespace may ask for them."""
    for pod in all_pods(manifests):
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            assert {*container["resources"]["requests"]} == {"cpu", "memory"}, container["name"]
            assert "memory" in container["resources"]["limits"], container["name"]


def test_pods_are_looked_after(manifests: list[dict[str, Any]]) -> None:
    """Every pod has probes at a port that it has, resources, and a disruption budget that finds it."""
    budgets = [one["spec"]["selector"]["matchLabels"] for one in manifests if one["kind"] == "PodDisruptionBudget"]
    for one in (one for one in manifests if one["kind"] in {"Deployment", "WorkerDeployment"}):
        [container] = one["spec"]["template"]["spec"]["containers"]
        labels = one["spec"]["template"]["metadata"]["labels"]
        assert container["resources"]["requests"]
        assert {"name": "SWF_HEALTH_PORT", "value": "8080"} in container["env"]
        assert {port["name"] for port in container["ports"]} == {"http", "metrics"}
        assert "--metrics=0.0.0.0:9090" in container["args"]  # which Prometheus reaches from another pod
        assert [container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "liveness", "readiness")] == [
            {"path": "/livez", "port": "http"},
            {"path": "/livez", "port": "http"},
            {"path": "/readyz", "port": "http"},
        ]
        assert sum(budget.items() <= labels.items() for budget in budgets) == 1


def test_configuration_and_definitions_arrive(tmp_path: Path) -> None:
    manifests = rendered(*values_of("everything"))
    file = tmp_path / "swf.yaml"
    file.write_text(named(manifests, "ConfigMap", "-config")["data"]["swf.yaml"], encoding="utf-8")
    env = {"SHOP_KEY": base64.b64encode(b"0123456789abcdef").decode()}
    assert list(GatewaySettings.read(env, file=file).tenants) == ["shop"]
    assert [one.name for one in EventSettings.read(env, file=file).consumers] == ["orders"]
    definitions = named(manifests, "ConfigMap", "-definitions")["data"]
    assert [check(text, name=name).problems for name, text in definitions.items()] == [()]
    for pod in pods(manifests):
        [container] = pod["containers"]
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        assert {mount: mounts.pop(mount) for mount in ("authorities", "scratch") if mount in mounts} == (
            {"authorities": "/authorities"} | ({"scratch": "/scratch"} if container["name"] == "worker" else {})
        )
        assert mounts == {"tmp": "/tmp", "definitions": "/definitions", "config": "/config", "tls": "/tls"}  # noqa: S108
        assert container["workingDir"] == "/definitions"
        assert {"name": "SWF_CONFIG", "value": "/config/swf.yaml"} in container["env"]
        assert container["envFrom"] == [{"secretRef": {"name": "shop-keys"}}]


def test_the_values_of_the_page_are_taken(tmp_path: Path) -> None:
    blocks = [block for block in blocks_of("docs/kubernetes.md") if block.language == "yaml"]
    files = [tmp_path / f"{number}.yaml" for number, _ in enumerate(blocks)]
    for file, block in zip(files, blocks, strict=True):
        file.write_text(block.text, encoding="utf-8")
    values = [word for file in files for word in ("--values", file)]
    manifests = rendered(*values, "--set", "config.gateway.unauthenticated=true")
    assert named(manifests, "Deployment", "-worker")["spec"]["replicas"] == 3
    assert named(manifests, "Ingress", "-gateway")["spec"]["rules"][0]["host"] == "workflows.example.com"


def test_an_image_has_a_registry_and_perhaps_a_digest() -> None:
    for name, image in (("minimal", f":{version()}"), ("cloud", f"@sha256:{'0123456789abcdef' * 4}")):
        [pod] = pods(rendered(*values_of(name)))
        assert pod["containers"][0]["image"] == f"registry.example.com/swf-temporal{image}"


def test_the_network_is_limited_unless_a_value_says_otherwise() -> None:
    values = values_of("minimal")
    assert named(rendered(*values), "NetworkPolicy", "-worker")["spec"]["ingress"] == [{"ports": [{"port": "metrics"}]}]
    assert "NetworkPolicy" not in {one["kind"] for one in rendered(*values, "--set", "networkPolicy.enabled=false")}


def test_a_change_of_the_configuration_starts_new_pods() -> None:
    """The template of the pods changes with the configuration, and not without."""
    values = (*values_of("everything"), "--set")
    sums = []
    for count in (100, 100, 200):
        rendered.cache_clear()
        worker = named(rendered(*values, f"config.worker.maxActivities={count}"), "Deployment", "-worker")
        sums.append(worker["spec"]["template"]["metadata"]["annotations"]["checksum/config"])
    assert sums[0] == sums[1] != sums[2]


def test_workers_set_search_attributes_where_that_is_asked_for() -> None:
    """They alone are told so, and only by the value."""
    for name, those in (("everything", ["worker"]), ("minimal", [])):
        containers = [pod["containers"][0] for pod in pods(rendered(*values_of(name)))]
        assert [one["name"] for one in containers if "--search-attributes" in one["args"]] == those


def test_a_backlog_scales_workers() -> None:
    """KEDA asks the server about the task queue of the workers, with their key, and the chart sets no replicas."""
    manifests = rendered(*values_of("cloud"))
    worker = named(manifests, "Deployment", "-worker")
    scaler = named(manifests, "ScaledObject")["spec"]
    [container] = worker["spec"]["template"]["spec"]["containers"]
    env = {one["name"]: one for one in container["env"]}
    assert "replicas" not in worker["spec"]
    assert scaler["scaleTargetRef"] == {"name": worker["metadata"]["name"]}
    [trigger] = scaler["triggers"]
    assert trigger["type"] == "temporal"
    assert trigger["metadata"]["endpoint"] == env["TEMPORAL_ADDRESS"]["value"]
    assert trigger["metadata"]["namespace"] == env["TEMPORAL_NAMESPACE"]["value"]
    assert f"--task-queue={trigger['metadata']['taskQueue']}" in container["args"]
    assert "secretKeyRef" in env[trigger["metadata"]["apiKeyFromEnv"]]["valueFrom"]
    assert all(isinstance(value, str) for value in trigger["metadata"].values())
    assert container["workingDir"] == "/definitions/git/checkout/definitions"


def test_the_worker_controller_starts_workers() -> None:
    """There is a Worker Deployment in place of a Deployment, whose versions our workers are told of."""
    manifests = rendered(*values_of("worker-controller"))
    assert not [one for one in manifests if one["kind"] == "Deployment"]
    spec = named(manifests, "WorkerDeployment")["spec"]
    connection = named(manifests, "Connection")
    assert spec["workerOptions"]["connectionRef"] == {"name": connection["metadata"]["name"]}
    assert connection["spec"] == {
        "hostPort": "temporal-frontend.temporal:7233",
        "mutualTLSSecretRef": {"name": "temporal-client"},
    }
    [container] = spec["template"]["spec"]["containers"]
    assert {"--deployment=$(TEMPORAL_DEPLOYMENT_NAME)", "--build-id=$(TEMPORAL_WORKER_BUILD_ID)"} <= {
        *container["args"]
    }
    assert not [one for one in container["env"] if one["name"].startswith("TEMPORAL_")]


ADDITIONAL = "(?i:additional propert(?:y|ies))"
"""How Helm 3 and 4 begin to tell of a value that is not known."""
HPA, KEDA, CONTROLLED = "worker.scaling.type=hpa", "worker.scaling.type=keda", "workerController.enabled=true"
GATEWAY = ("gateway.enabled=true", "config.gateway.unauthenticated=true")
INGRESS = (*GATEWAY, "gateway.ingress.enabled=true", 'gateway.ingress.hosts=["a.example.com"]')
MONITORED = "metrics.serviceMonitor.enabled=true"

REFUSED: dict[str, tuple[str, ...]] = {
    # what the schema refuses
    "image[./]repository'?:? (?i:does not match pattern)": ("image.repository=swf-temporal",),
    rf"{ADDITIONAL} '?replica'?": ("worker.replica=3",),
    rf"{ADDITIONAL} '?searchAttributes'?": ("gateway.searchAttributes=true",),
    "must be one of.*none.*hpa.*keda": ("worker.scaling.type=cpu",),
    "fullnameOverride'?:? (?i:does not match pattern)": ("fullnameOverride=Shop_1",),
    r"(?s)runAsUser.*(?:>=|greater than or equal to) 1": ("runAsUser=0",),
    r"(?s)metrics[./]port.*(?:<=|less than or equal to) 65,?535": ("metrics.port=70000",),
    r"definitions[./]files": ('definitions.files={"a/b.yaml": "id: b"}',),
    # what contradicts itself
    "temporal.address: the host and port of the Temporal server": (),
    "image.repository: the image, with its registry": (),
    "worker.enabled: nothing is deployed": ("worker.enabled=false",),
    "temporal.tls.authority: the ca.crt is in a Secret": ("temporal.tls.authority=true",),
    "serviceAccount.annotations: they are those": (
        "serviceAccount.create=false", 'serviceAccount.annotations={"role": "a"}',
    ),
    "definitions: they come from one of files": ("definitions.configMap=a", "definitions.persistentVolumeClaim=b"),
    "definitions.git.ref: name a commit, a tag or a branch": ("definitions.git.repository=https://example.com/a",),
    "definitions.git.repository: without it": ("definitions.git.ref=v1",),
    "metrics.port: 8080 is the port of the health checks": ("metrics.port=8080",),
    "metrics.serviceMonitor.enabled: there are no metrics": (MONITORED, "metrics.enabled=false"),
    "metrics.prometheusRule.enabled: there are no metrics": (
        "metrics.prometheusRule.enabled=true", "metrics.enabled=false",
    ),
    "metrics.serviceMonitor.scrapeTimeout: 1m30s is longer than the interval, 60s": (
        MONITORED, "metrics.serviceMonitor.interval=60s", "metrics.serviceMonitor.scrapeTimeout=1m30s",
    ),
    "networkPolicy.enabled: it is false": (
        "networkPolicy.enabled=false", 'networkPolicy.clients=[{"podSelector": {}}]',
    ),
    "env: SWF_HEALTH_PORT is set by the chart": ('worker.env=[{"name": "SWF_HEALTH_PORT", "value": "1"}]',),
    "env: SWF_CONFIG is set by the chart: config is": (
        "config.strict=true", 'env=[{"name": "SWF_CONFIG", "value": "a"}]',
    ),
    "env: TEMPORAL_API_KEY is set by the chart": (
        "temporal.apiKeySecret.name=a", 'env=[{"name": "TEMPORAL_API_KEY", "value": "a"}]',
    ),
    "worker.args: --task-queue is set by the chart: set temporal.taskQueue": ('worker.args=["--task-queue=a"]',),
    "gateway.args: --tls-cert is set by the chart: the health checks": (*GATEWAY, 'gateway.args=["--tls-cert", "a"]'),
    "config.worker.healthPort: the chart sets it": ("config.worker.healthPort=9000",),
    "config.worker.metrics: the chart sets it": ("config.worker.metrics=9000",),
    "config.gateway.taskQueue: it is a, and temporal.taskQueue is swf": ("config.gateway.taskQueue=a",),
    "config.worker.containerEndpoint: port 9090 is taken": ("config.worker.containerEndpoint=0.0.0.0:9090",),
    "config.gateway: a gateway that others can reach needs tenants": ("gateway.enabled=true",),
    "gateway.ingress.enabled: there is no gateway": ("gateway.ingress.enabled=true",),
    "gateway.ingress.hosts: name the hosts": (*INGRESS, "gateway.ingress.hosts=[]"),
    "gateway.ingress.tls: b.example.com is none of": (
        *INGRESS, 'gateway.ingress.tls=[{"secretName": "b", "hosts": ["b.example.com"]}]',
    ),
    "config.events.consumers: a consumer needs to know": ("consumer.enabled=true",),
    "workerController.enabled: there are no workers": (CONTROLLED, "worker.enabled=false", *GATEWAY),
    "scaled by a WorkerResourceTemplate": (CONTROLLED, HPA),
    "workerController.rollout.steps: a progressive": (CONTROLLED, "workerController.rollout.steps=[]"),
    "workerController.connection: workerController.enabled is false": ("workerController.connection=a",),
    "worker.scaling.minReplicas: 11 is more than maxReplicas, 10": (HPA, "worker.scaling.minReplicas=11"),
    "worker.scaling.minReplicas: without a pod": (HPA, "worker.scaling.minReplicas=0"),
    "worker.resources.requests.cpu: hpa needs it": (HPA, "worker.resources.requests.cpu=null"),
    "gateway.scaling.type: keda scales workers": (*GATEWAY, "gateway.scaling.type=keda"),
    "worker.scaling.authentication: name a TriggerAuthentication": (KEDA, "temporal.tls.secret=a"),
    "worker.disruptionBudget: it has minAvailable or maxUnavailable": (
        "worker.disruptionBudget.minAvailable=1", "worker.disruptionBudget.maxUnavailable=1",
    ),
    "worker.disruptionBudget.minAvailable: with 2 of 2 pods": ("worker.disruptionBudget.minAvailable=2",),
    "worker.resources.requests.memory: 2Gi is more than the limit, 1Gi": ("worker.resources.requests.memory=2Gi",),
    "worker.resources.requests.cpu: 500m is more than the limit, 0.2": ('worker.resources.limits={"cpu": "0.2"}',),
    "worker.podLabels: app.kubernetes.io/name is a label by which": (
        'worker.podLabels={"app.kubernetes.io/name": "a"}',
    ),
    "worker.volumes: config is a volume of the chart": ('worker.volumes=[{"name": "config", "emptyDir": {}}]',),
    "worker.volumeMounts: there is no volume a": ('volumeMounts=[{"name": "a", "mountPath": "/a"}]',),
    "worker.volumeMounts: /tmp/ is a folder of the chart": (
        'volumes=[{"name": "a", "emptyDir": {}}]', 'volumeMounts=[{"name": "a", "mountPath": "/tmp/"}]',
    ),
    "worker.terminationGracePeriodSeconds: 30 is not more than the setting gracePeriod, 30 seconds": (
        "worker.terminationGracePeriodSeconds=30",
    ),
    "worker.terminationGracePeriodSeconds: 60 is not more than the setting gracePeriod, 90 seconds": (
        "config.worker.gracePeriod=PT1M30S",
    ),
    "worker.terminationGracePeriodSeconds: 60 is not more than the setting gracePeriod, 120 seconds": (
        "config.worker.gracePeriod=10", 'env=[{"name": "SWF_GRACE_PERIOD", "value": "120"}]',
    ),
    "gateway.terminationGracePeriodSeconds: 5 is not more than": (*GATEWAY, "gateway.terminationGracePeriodSeconds=5"),
}  # fmt: skip
"""What is said of values, with the key to change, and the values."""


@pytest.mark.parametrize("told", REFUSED)
def test_values_that_cannot_be_meant_are_refused(told: str) -> None:
    given = {"temporal.address": "temporal:7233", "image.repository": "registry.example.com/swf-temporal"}
    others = [f"{name}={value}" for name, value in given.items() if not told.startswith(name)]
    assert re.search(told, refusal(*others, *REFUSED[told]))


def test_all_contradictions_are_told_at_once() -> None:
    told = refusal("worker.terminationGracePeriodSeconds=10", "metrics.port=8080")
    for key in ("image.repository", "temporal.address", "worker.terminationGracePeriodSeconds", "metrics.port"):
        assert f"\n{key}: " in told


def test_the_grace_period_of_a_gateway_is_the_one_that_is_told() -> None:
    assert asgi_server._GRACE == 5  # `templates/refused.yaml` says so, too


def test_the_grace_period_of_a_worker_is_the_one_that_is_assumed() -> None:
    assert WorkerSettings().grace_period == timedelta(seconds=30)


def test_a_configuration_that_the_chart_does_not_know_is_not_judged() -> None:
    """A file in a volume may have the tenants of a gateway."""
    file = ("--set-json", 'env=[{"name": "SWF_CONFIG", "value": "/files/swf.yaml"}]')
    values = (*values_of("minimal"), "--set", "gateway.enabled=true", *file)
    assert named(rendered(*values), "Deployment", "-gateway")


@pytest.mark.parametrize("period", ["10", "PT50S", "PT0.5M", "P0DT59S"])
def test_a_shorter_grace_period_is_taken(period: str) -> None:
    values = (*values_of("minimal"), "--set", f"config.worker.gracePeriod={period}")
    assert named(rendered(*values), "Deployment", "-worker")


def test_prometheus_finds_metrics_and_alerts() -> None:
    """The ServiceMonitor finds the Service, which finds the pods; the alerts are those of the dashboard's folder."""
    manifests = rendered(*values_of("everything"))
    service = named(manifests, "Service", "-metrics")
    monitor = named(manifests, "ServiceMonitor")
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    [endpoint] = monitor["spec"]["endpoints"]
    assert endpoint == {"port": "metrics", "honorLabels": True, "interval": "30s", "scrapeTimeout": "10s"}
    [port] = service["spec"]["ports"]
    assert (port["name"], service["spec"]["clusterIP"]) == ("metrics", "None")
    for one in (one for one in manifests if one["kind"] == "Deployment"):
        template = one["spec"]["template"]
        assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
        assert port["targetPort"] in {each["name"] for each in template["spec"]["containers"][0]["ports"]}
        assert "prometheus.io/scrape" not in template["metadata"]["annotations"]  # nothing is read twice
    rules = named(manifests, "PrometheusRule")
    assert rules["spec"] == yaml.safe_load((ROOT / "monitoring" / "alerts.yaml").read_text(encoding="utf-8"))
    assert rules["metadata"]["labels"]["release"] == "prometheus"


def test_a_packaged_chart_has_the_alerts(tmp_path: Path) -> None:
    """They are outside of its folder, which has a link to them."""
    subprocess.run([str(HELM), "package", CHART, "--destination", tmp_path], check=True, capture_output=True)
    [package] = tmp_path.iterdir()
    done = helm("template", "shop", package, *values_of("everything"))
    rules = named([one for one in yaml.safe_load_all(done.stdout) if one], "PrometheusRule")
    assert rules["spec"] == yaml.safe_load((ROOT / "monitoring" / "alerts.yaml").read_text(encoding="utf-8"))


def test_an_ingress_leads_to_the_gateway() -> None:
    manifests = rendered(*values_of("everything"))
    ingress, service = named(manifests, "Ingress"), named(manifests, "Service", "-gateway")
    [rule] = ingress["spec"]["rules"]
    [path] = rule["http"]["paths"]
    assert path["backend"]["service"] == {"name": service["metadata"]["name"], "port": {"name": "http"}}
    assert (rule["host"], ingress["spec"]["ingressClassName"]) == ("workflows.example.com", "nginx")
    assert ingress["spec"]["tls"] == [{"secretName": "workflows-tls", "hosts": ["workflows.example.com"]}]
    assert ingress["metadata"]["annotations"]["cert-manager.io/cluster-issuer"] == "letsencrypt"


def test_a_platform_may_assign_the_users() -> None:
    """Without a user there is neither a group; names begin as the value says, and labels find the pods all the same."""
    manifests = rendered(*values_of("openshift"))
    for pod in all_pods(manifests):
        assert pod["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert {one["metadata"]["name"].split("-")[0] for one in manifests} == {"workflows"}
    for pod in all_pods(rendered(*values_of("minimal"))):
        assert [pod["securityContext"][key] for key in ("runAsUser", "runAsGroup", "fsGroup")] == [10001] * 3


def test_objects_and_pods_have_what_the_values_add() -> None:
    """Names, labels, annotations, a priority, variables and volumes: to all, or to one part."""
    manifests = rendered(*values_of("everything"))
    assert {one["metadata"]["name"].removeprefix("shop-workflows")[:1] for one in manifests} <= {"", "-"}
    for one in manifests:
        assert one["metadata"]["annotations"]["example.com/contact"] == "shop", one["kind"]
        assert one["kind"] == "Pod" or one["metadata"]["labels"]["owner"] == "shop", one["kind"]
    worker, gateway = (named(manifests, "Deployment", f"-{name}") for name in ("worker", "gateway"))
    assert worker["metadata"]["annotations"]["example.com/reload"] == "true"
    pod = worker["spec"]["template"]
    assert pod["metadata"]["annotations"]["example.com/profile"] == "jq"
    assert pod["metadata"]["labels"]["owner"] == "shop"
    assert pod["spec"]["priorityClassName"] == "orders"
    assert {"scratch", "authorities"} <= {volume["name"] for volume in pod["spec"]["volumes"]}
    assert {"name": "SWF_MAX_ACTIVITIES", "value": "50"} in pod["spec"]["containers"][0]["env"]
    assert "priorityClassName" not in gateway["spec"]["template"]["spec"]
    assert named(manifests, "PodDisruptionBudget", "-worker")["spec"]["minAvailable"] == 2
    assert named(manifests, "PodDisruptionBudget", "-gateway")["spec"]["maxUnavailable"] == 1


def test_a_test_of_the_release_asks_the_server_and_the_gateway() -> None:
    """`helm test` starts a pod that is let through to the gateway, and that finds the server as workers do."""
    manifests = rendered(*values_of("everything"))
    pod = named(manifests, "Pod", "-test")
    assert pod["metadata"]["annotations"]["helm.sh/hook"] == "test"
    server, gateway = pod["spec"]["containers"]
    name, *arguments = server["args"]
    command = typer.main.get_command(app).get_command(None, name)  # type: ignore[attr-defined]
    assert command.make_context(name, list(arguments))
    [worker] = named(manifests, "Deployment", "-worker")["spec"]["template"]["spec"]["containers"]
    of_server = [one for one in worker["env"] if one["name"].startswith("TEMPORAL_")]
    assert [one for one in server["env"] if one["name"].startswith("TEMPORAL_")] == of_server != []
    service = named(manifests, "Service", "-gateway")
    url = f"http://{service['metadata']['name']}:{service['spec']['ports'][0]['port']}/readyz"
    assert gateway["command"][-1] == url
    clients = named(manifests, "NetworkPolicy", "-gateway")["spec"]["ingress"][0]["from"]
    assert {"podSelector": {"matchLabels": pod["metadata"]["labels"]}} in clients
    for policy in (one for one in manifests if one["kind"] in {"NetworkPolicy", "PodDisruptionBudget"}):
        selector = policy["spec"].get("podSelector", policy["spec"].get("selector"))["matchLabels"]
        assert not selector.items() <= pod["metadata"]["labels"].items()  # it is none of the parts


def test_the_chart_has_the_version_of_the_package() -> None:
    """The image that it deploys by default is that of this version."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert (chart["version"], chart["appVersion"]) == (version(), version())


def test_every_value_is_checked() -> None:
    """The schema names all values of the chart, and no other; each is explained."""
    schema = yaml.safe_load((CHART / "values.schema.json").read_text(encoding="utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))

    def compared(of: dict[str, Any], has: dict[str, Any], place: str) -> None:
        for key, found in of["properties"].items():
            value = schema["definitions"]["part"][found["$ref"].rpartition("/")[2]] if "$ref" in found else found
            here = f"{place}.{key}"
            if here in {".global", ".workerController.rollout.gate"} or place.endswith(".resources"):
                continue
            assert key in has, here
            if "properties" in value:
                compared(value, has[key], here)
            else:
                assert value["description"].endswith("."), here
        assert has.keys() <= of["properties"].keys(), place

    compared(schema, values, "")


def test_the_readme_of_the_chart_is_current() -> None:
    assert README.read_text(encoding="utf-8") == written()


def test_what_the_readme_of_the_chart_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)", README.read_text(encoding="utf-8"))
    assert links
    assert all((CHART / link).exists() for link in links)
