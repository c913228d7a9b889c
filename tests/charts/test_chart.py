"""The Helm chart is what Kubernetes and our commands take, for each of its files of values."""

import base64
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from release.building import ROOT, version
from swf_temporal.cli.main import app
from swf_temporal.languages.loading import check
from swf_temporal.settings.events import EventSettings
from swf_temporal.settings.http import GatewaySettings
from tests.docs.pages import blocks_of

CHART = ROOT / "charts" / "swf-temporal"
VALUES = sorted((CHART / "ci").glob("*.yaml"))
KUBERNETES = "1.34"
HELM = shutil.which("helm", path=str(Path(sys.executable).parent)) or shutil.which("helm")
OF_OTHERS = {"keda.sh/v1alpha1", "temporal.io/v1alpha1"}
"""What other controllers define: Kubernetes has no schema for it."""

pytestmark = pytest.mark.skipif(HELM is None, reason="NOT TRIED: there is no helm")


def helm(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run helm for that version of Kubernetes."""
    command = [str(HELM), *map(str, arguments), "--kube-version", KUBERNETES]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def rendered(*arguments: str | Path) -> list[dict[str, Any]]:
    """Return the manifests that these arguments of `helm template` give."""
    done = helm("template", "shop", CHART, *arguments)
    assert done.returncode == 0, done.stderr
    return [manifest for manifest in yaml.safe_load_all(done.stdout) if manifest]


def refusal(*settings: str) -> str:
    """Return what helm says of values that are refused; each is `key=value`."""
    done = helm("template", "shop", CHART, *(word for each in settings for word in ("--set", each)))
    assert done.returncode != 0
    return done.stderr


@pytest.fixture(scope="module", params=VALUES, ids=lambda file: file.name.removesuffix("-values.yaml"))
def manifests(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """What the chart renders with a file of values."""
    return rendered("--values", request.param)


def named(manifests: list[dict[str, Any]], kind: str, ending: str = "") -> dict[str, Any]:
    """Return the one manifest of that kind whose name ends so."""
    [found] = [one for one in manifests if one["kind"] == kind and one["metadata"]["name"].endswith(ending)]
    return found


def pods(manifests: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the spec of the pods of each workload."""
    for one in manifests:
        if one["kind"] in {"Deployment", "WorkerDeployment"}:
            yield one["spec"]["template"]["spec"]


@pytest.mark.parametrize("values", VALUES, ids=lambda file: file.name)
def test_helm_has_nothing_to_say(values: Path) -> None:
    """`helm lint --strict` finds no fault with each file of values."""
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
    """The arguments of every container of ours are those of `swf`."""
    commands: Any = typer.main.get_command(app)
    for pod in pods(manifests):
        [container] = pod["containers"]
        name, *arguments = container["args"]
        arguments = [argument.replace("$(TEMPORAL_DEPLOYMENT_NAME)", "shop") for argument in arguments]
        command = commands.get_command(None, name)
        assert command.make_context(name, arguments).params["task_queue"]


def test_pods_have_no_rights(manifests: list[dict[str, Any]]) -> None:
    """Every pod works as a user, writes nothing but temporary files, and is not known to Kubernetes."""
    for pod in pods(manifests):
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


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
    """The ConfigMaps have the configuration and the definitions as they are written, where the containers look."""
    manifests = rendered("--values", CHART / "ci" / "everything-values.yaml")
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
        assert mounts == {"tmp": "/tmp", "definitions": "/definitions", "config": "/config", "tls": "/tls"}  # noqa: S108
        assert container["workingDir"] == "/definitions"
        assert {"name": "SWF_CONFIG", "value": "/config/swf.yaml"} in container["env"]
        assert container["envFrom"] == [{"secretRef": {"name": "shop-keys"}}]


def test_the_values_of_the_page_are_taken(tmp_path: Path) -> None:
    """The page's example renders workers with what it says."""
    [block] = [block for block in blocks_of("docs/kubernetes.md") if block.language == "yaml"]
    file = tmp_path / "values.yaml"
    file.write_text(block.text, encoding="utf-8")
    worker = named(rendered("--values", file), "Deployment", "-worker")
    assert worker["spec"]["replicas"] == yaml.safe_load(block.text)["worker"]["replicas"]


def test_an_image_has_a_registry_and_perhaps_a_digest() -> None:
    for name, image in (("minimal", f":{version()}"), ("cloud", f"@sha256:{'0123456789abcdef' * 4}")):
        [pod] = pods(rendered("--values", CHART / "ci" / f"{name}-values.yaml"))
        assert pod["containers"][0]["image"] == f"registry.example.com/swf-temporal{image}"


def test_the_network_is_limited_unless_a_value_says_otherwise() -> None:
    values = ("--values", CHART / "ci" / "minimal-values.yaml")
    assert named(rendered(*values), "NetworkPolicy", "-worker")["spec"]["ingress"] == [{"ports": [{"port": "metrics"}]}]
    assert "NetworkPolicy" not in {one["kind"] for one in rendered(*values, "--set", "networkPolicy.enabled=false")}


def test_a_change_of_the_configuration_starts_new_pods() -> None:
    """The template of the pods changes with the configuration, and not without."""
    values = ("--values", CHART / "ci" / "everything-values.yaml", "--set")
    sums = [
        named(rendered(*values, f"config.worker.maxActivities={count}"), "Deployment", "-worker")["spec"]["template"][
            "metadata"
        ]["annotations"]["checksum/config"]
        for count in (100, 100, 200)
    ]
    assert sums[0] == sums[1] != sums[2]


def test_workers_set_search_attributes_where_that_is_asked_for() -> None:
    """They alone are told so, and only by the value."""
    for name, those in (("everything", ["worker"]), ("minimal", [])):
        containers = [pod["containers"][0] for pod in pods(rendered("--values", CHART / "ci" / f"{name}-values.yaml"))]
        assert [one["name"] for one in containers if "--search-attributes" in one["args"]] == those


def test_a_backlog_scales_workers() -> None:
    """KEDA asks the server about the task queue of the workers, with their key, and the chart sets no replicas."""
    manifests = rendered("--values", CHART / "ci" / "cloud-values.yaml")
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
    manifests = rendered("--values", CHART / "ci" / "worker-controller-values.yaml")
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


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ([], "temporal.address: the host and port of the Temporal server"),
        ([], "image.repository: the image, with its registry"),
        (["image.repository=swf-temporal"], "image[./]repository'?:? (?i:does not match pattern)"),
        (["worker.replica=3"], rf"{ADDITIONAL} '?replica'?"),
        (["gateway.searchAttributes=true"], rf"{ADDITIONAL} '?searchAttributes'?"),
        (["gateway.enabled=true"], "config.gateway: a gateway that others can reach needs tenants"),
        (["definitions.configMap=a", "definitions.persistentVolumeClaim=b"], "definitions come from one of files"),
        (["definitions.git.repository=https://example.com/a"], "definitions.git.ref: name a commit, a tag or a branch"),
        (["workerController.enabled=true", "worker.scaling.type=hpa"], "scaled by a WorkerResourceTemplate"),
        (["consumer.enabled=true", "consumer.scaling.type=keda"], "consumer.scaling.type: keda scales workers"),
        (["worker.scaling.type=cpu"], r"must be one of.*none.*hpa.*keda"),
    ],
)
def test_values_that_cannot_be_meant_are_refused(settings: list[str], told: str) -> None:
    """What would not work is refused before anything is deployed, with the key to change."""
    given = {"temporal.address": "temporal:7233", "image.repository": "registry.example.com/swf-temporal"}
    others = [f"{name}={value}" for name, value in given.items() if not told.startswith(name)]
    assert re.search(told, refusal(*others, *settings))


def test_the_chart_has_the_version_of_the_package() -> None:
    """The image that it deploys by default is that of this version."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert (chart["version"], chart["appVersion"]) == (version(), version())


def test_every_value_is_checked() -> None:
    """The schema names all values of the chart, and no other."""
    schema = yaml.safe_load((CHART / "values.schema.json").read_text(encoding="utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))

    def keys(of: dict[str, Any], place: str = "") -> Iterator[str]:
        for key, value in of["properties"].items():
            yield f"{place}{key}"
            if "properties" in value:
                yield from keys(value, f"{place}{key}.")

    def written(of: dict[str, Any], place: str = "") -> Iterator[str]:
        for key, value in of.items():
            yield f"{place}{key}"
            if isinstance(value, dict) and place.count(".") < 1:
                yield from written(value, f"{place}{key}.")

    named = {key for key in keys(schema) if key != "global"}
    assert {key for key in written(values) if re.sub(r"\.\w+$", "", key) in named} - named == set()
    assert {key.split(".")[0] for key in named} == set(values)
