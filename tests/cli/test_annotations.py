"""Problems as code hosts read them."""

from pathlib import Path

from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.cli.annotations import github_commands, sarif_of_problems

PROBLEMS = [
    Problem("some-code", "a: b, c\n100 %", Position(3, 7), Severity.WARNING, "do, or not", file="a,b:c.yaml"),
    Problem("other", "bad", Position(1, 1), file="d.yaml"),
    Problem("third", "old", Position(1, 2), Severity.NOTE, file="d.yaml"),
]


def test_a_job_on_github_shows_them_beside_the_lines() -> None:
    assert github_commands(PROBLEMS).splitlines() == [
        "::warning file=a%2Cb%3Ac.yaml,line=3,col=7,title=some-code::a: b, c%0A100 %25%0Ado, or not",
        "::error file=d.yaml,line=1,col=1,title=other::bad",
        "::notice file=d.yaml,line=1,col=2,title=third::old",
    ]


def test_sarif_has_a_rule_for_each_code_and_a_place_for_each_problem() -> None:
    [run] = sarif_of_problems(PROBLEMS)["runs"]
    assert [one["id"] for one in run["tool"]["driver"]["rules"]] == ["other", "some-code", "third"]
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [
        ("some-code", "warning"), ("other", "error"), ("third", "note"),
    ]  # fmt: skip
    [place] = run["results"][0]["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "a,b:c.yaml"}, "region": {"startLine": 3, "startColumn": 7},
    }  # fmt: skip


def test_the_hook_and_the_action_run_what_there_is() -> None:
    root = Path(__file__).parents[2]
    assert "entry: swf validate --strict\n" in (root / ".pre-commit-hooks.yaml").read_text()
    assert "swf validate --output github" in (root / "action.yml").read_text()
