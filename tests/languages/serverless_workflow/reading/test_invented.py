"""A further version takes one module, and its line in the table: nothing else asks which version it is."""

import pytest
import yaml
from jsonschema import Draft202012Validator

from swf_temporal import simulate
from swf_temporal.languages.known import looks_like_definition, upgrade
from swf_temporal.languages.loading import check, load
from swf_temporal.languages.serverless_workflow.language import LANGUAGE
from swf_temporal.languages.serverless_workflow.reading import versions
from swf_temporal.text.origin import Source
from tests.languages.serverless_workflow.reading import invented

GREETING = """\
id: greeting
steps:
- name: Greet
  type: inject
  start: {kind: default}
  data: {hello: world, left: out}
  stateDataFilter: {dataOutputPath: "{{ $.hello }}"}
  transition: {nextStep: Rest}
- name: Rest
  type: delay
  timeDelay: PT1S
  end: {kind: default}
"""


@pytest.fixture(autouse=True)
def _in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "VERSIONS", (invented.VERSION, *versions.VERSIONS))


def test_it_is_shown_by_its_key() -> None:
    assert looks_like_definition(GREETING)
    checked = check(f"specVersion: '0.8'\n{GREETING}")
    assert checked.written_in is not None
    assert (checked.written_in.title, checked.written_in.key) == ("Serverless Workflow 0.4", "steps")
    assert [problem.message for problem in checked.problems] == [
        "specVersion says '0.8', but 'steps' in line 3 exists only up to 0.4: the definition is read as 0.4"
    ]


def test_it_runs() -> None:
    """Its words are read, its data flow as it says, and it is spoken of in its words."""
    definition = load(GREETING)
    assert simulate(definition).output == {"hello": "world"}
    assert (definition.language_version, definition.words.state) == ("0.4", "step")
    assert definition.words.slow_call.startswith("give it a timeout, or")


def test_problems_are_told_in_its_words() -> None:
    text = GREETING.replace("nextStep: Rest", "nextStep: Nap").replace("  timeDelay: PT1S\n", "")
    messages = [problem.message for problem in check(text).problems]
    assert "step 'Greet' leads to 'Nap', which is not a step here" in messages
    assert all("state" not in message for message in messages)


def test_it_has_a_schema() -> None:
    validator = Draft202012Validator(LANGUAGE.json_schema(version="0.4"))
    assert validator.is_valid(yaml.safe_load(GREETING))
    assert not validator.is_valid(yaml.safe_load(GREETING.replace("steps:", "states:")))


def test_it_is_upgraded() -> None:
    made = upgrade(Source(GREETING))
    assert made.version == "0.4"
    assert simulate(load(made.text)).output == {"hello": "world"}
    assert (load(made.text).language_version, check(made.text).problems) == ("0.8", ())
