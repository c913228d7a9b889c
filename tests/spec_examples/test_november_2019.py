"""Do the examples of the November 2019 draft come to the ends that they are meant to come to?

They stand beside a development checkout, not in it: without them these tests are skipped.
"""

import pytest

from swf_temporal import simulate
from swf_temporal.languages.loading import check_file
from tests.spec_examples.test_run_to_the_end import EXAMPLES

FOLDER = EXAMPLES / "draft-states"

pytestmark = [
    pytest.mark.spec,
    pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the draft's examples are not at {FOLDER}: none of them was run"),
]


def test_every_example_is_run() -> None:
    """The two examples below are all that there are."""
    assert [file.name[:2] for file in sorted(FOLDER.glob("*.json"))] == ["01", "02"]


def test_hello_world() -> None:
    """The result of a function is put where resultPath says, and sent on as outputPath selects it."""
    file = FOLDER / "01-partial-hello-world-example.json"
    assert [problem.code for problem in check_file(file).problems] == ["tolerated-spelling"]
    run = simulate(file, {"name": "Ann"}, functions={"hello": {"payload": "Hello, Ann"}, "save_resut": "saved"})
    assert run.calls == (("hello", {"name": "Ann"}), ("save_resut", {"value1": "Hello, Ann"}))
    assert (run.status, run.output) == ("completed", "saved")


def test_custom_extension() -> None:
    """An extension changes nothing; what stands for it in the example is no JSON, and is read all the same."""
    file = FOLDER / "02-custom-extension-example.json"
    assert {problem.code for problem in check_file(file).problems} == {"tolerated-spelling"}
    run = simulate(file, {"n": 1}, functions={"firstFunction": {"n": 2}, "secondFunction": {"n": 3}})
    assert run.calls == (("firstFunction", {"n": 1}), ("secondFunction", {"n": 2}))
    assert (run.status, run.output) == ("completed", {"n": 3})
