"""Secrets that a program of the user's own looks up."""

import asyncio
from pathlib import Path

import pytest

from swf_temporal import JSON, Client, Registry, RunEnded, UsageError, Worker, load
from swf_temporal.functions import secrets

DEFINITION = load("""\
id: login
version: 1.0.0
specVersion: "0.8"
secrets: [VAULTED, LOCAL]
functions: [{name: login, type: custom}]
retries: [{name: again, delay: PT0.01S, maxAttempts: 3}]
errors: [{name: away, code: SecretsUnavailable}]
states:
  - name: Log in
    type: foreach
    inputCollection: "${ [1, 2, 3] }"
    mode: sequential
    actions:
      - functionRef: {refName: login, arguments: {both: "${ $SECRETS.VAULTED + $SECRETS.LOCAL }"}}
        retryRef: again
        retryableErrors: [away]
    end: true
""")


class Vault:
    def __init__(self) -> None:
        self.asked: list[str] = []

    async def secret(self, name: str) -> JSON:
        self.asked.append(name)
        if len(self.asked) == 1:
            raise ConnectionError("the vault is sealed: s3cr3t-of-the-vault")
        return "correct-horse" if name == "VAULTED" else None


@pytest.mark.temporal
async def test_secrets_are_looked_up_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the provider lacks the environment has; an attempt without is made again; results do not show them."""
    monkeypatch.setenv("SWF_SECRET_LOCAL", "-battery-staple")
    monkeypatch.setenv("SWF_SECRET_VAULTED", "of the environment")
    seen, vault, registry = [], Vault(), Registry()

    @registry.custom("login")
    def login(both: str) -> dict[str, str]:
        seen.append(both)
        return {"echo": f"I was told {both}"}

    async with Worker(client, definitions=[DEFINITION], functions=registry, task_queue="vault", secrets=vault):
        output = await (await client.start("login", task_queue="vault")).result()
    assert seen == ["correct-horse-battery-staple"] * 3
    assert vault.asked == ["VAULTED", "VAULTED", "LOCAL"]
    assert "correct-horse" not in str(output)


@pytest.mark.temporal
async def test_a_provider_that_is_away(client: Client) -> None:
    class Sealed:
        async def secret(self, name: str) -> JSON:
            raise ConnectionError(f"{name} is in the vault: s3cr3t-of-the-vault")

    text = DEFINITION.source.text.replace("maxAttempts: 3", "maxAttempts: 0")
    async with Worker(client, definitions=[text], functions={"login": dict}, task_queue="sealed", secrets=Sealed()):
        with pytest.raises(RunEnded, match="the secret 'VAULTED' cannot be looked up at the moment") as ended:
            await (await client.start("login", task_queue="sealed")).result()
    assert ended.value.code == "SecretsUnavailable"
    assert "s3cr3t" not in str(ended.value)


@pytest.mark.temporal
async def test_a_provider_that_does_not_answer(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time is limited, since all calls with the secret wait for it; then it is asked again."""
    monkeypatch.setattr(secrets, "MAX_LOOKING_UP", 0.1)
    asked: list[str] = []

    class Silent:
        async def secret(self, name: str) -> JSON:
            asked.append(name)
            if len(asked) == 1:
                await asyncio.Event().wait()
            return name

    async with Worker(
        client, definitions=[DEFINITION], functions={"login": dict}, task_queue="silent", secrets=Silent()
    ):
        await (await client.start("login", task_queue="silent")).result()
    assert asked == ["VAULTED", "VAULTED", "LOCAL"]


def test_what_is_no_provider_is_refused() -> None:
    with pytest.raises(UsageError, match="secrets must be a SecretProvider, and is a dict"):
        Worker(secrets={"A": "b"})  # type: ignore[arg-type]  # that is what is tried


@pytest.mark.temporal
async def test_a_provider_of_an_installed_package(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting of the worker names what a package offers; a worker without it does not start."""
    (tmp_path / "own_vault.py").write_text(
        "class Vault:\n    async def secret(self, name):\n        return name.lower()\n"
    )
    facts = tmp_path / "own_vault-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: own_vault\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[swf_temporal.secret_providers]\nvault = own_vault:Vault\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("SWF_SECRETS_PROVIDER", "vault")
    seen: list[str] = []

    def login(both: str) -> None:
        seen.append(both)

    async with Worker(client, definitions=[DEFINITION], functions={"login": login}, task_queue="package"):
        await (await client.start("login", task_queue="package")).result()
    assert seen == ["vaultedlocal"] * 3
    monkeypatch.setenv("SWF_SECRETS_PROVIDER", "volt")
    with pytest.raises(UsageError, match="no installed package offers the secret provider 'volt'"):
        async with Worker(client, definitions=[DEFINITION], functions={"login": login}, task_queue="package"):
            pass
