"""May the definitions of a command read what its options allow?"""

import pytest

from tests.cli.conftest import Swf
from tests.definitions import definition

DEFINITION = definition("""\
id: sharing
constants: ../shared/constants.json
states: [{name: Say, type: inject, data: {limit: "${ $CONST.limit }"}, end: true}]
""")


@pytest.fixture
def sharing(swf: Swf) -> str:
    for folder in ("defs", "shared"):
        (swf.folder / folder).mkdir()
    swf.write("shared/constants.json", '{"limit": 3}')
    return str(swf.write("defs/sharing.yaml", DEFINITION))


def test_folders_are_forbidden(swf: Swf, sharing: str) -> None:
    for command in (["validate", sharing], ["run", sharing, "--simulate"], ["worker", "defs"]):
        ended = swf(*command)
        assert ended.code != 0
        assert "sharing.yaml:4:12  error  external-forbidden  constants are in" in ended.out + ended.err
        assert "--resources" in ended.out + ended.err


def test_folders_are_allowed(swf: Swf, sharing: str) -> None:
    assert swf("validate", sharing, "--resources", "shared").code == 0
    ended = swf("run", sharing, "--simulate", "--resources", "shared")
    assert (ended.code, ended.out) == (0, '{"limit": 3}\n')


def test_folders_that_are_not_there(swf: Swf, sharing: str) -> None:
    ended = swf("validate", sharing, "--resources", "nowhere")
    assert (ended.code, ended.err) == (2, "error: nowhere is not a folder\n  see --resources\n")


def test_documents_that_are_shared(swf: Swf) -> None:
    swf.write("both/functions.yaml", "- {name: f, operation: 3, typ: rest}\n")
    for name in ("a", "b"):
        text = DEFINITION.replace("constants: ../shared/constants.json", "functions: functions.yaml")
        swf.write(f"both/{name}.yaml", text.replace("id: sharing", f"id: {name}").replace("$CONST.limit", "1"))
    ended = swf("validate", "both")
    assert ended.out.count("functions.yaml:1:27  warning  unknown-property") == 1


def test_definitions_of_one_version(swf: Swf) -> None:
    for name in ("a", "b"):
        text = DEFINITION.replace("constants: ../shared/constants.json", f"description: {name}")
        swf.write(f"both/{name}.yaml", text.replace("$CONST.limit", "1"))
    message = (
        "both/b.yaml:1:5  error  duplicate-definition  there are several definitions with the id 'sharing' and "
        "version '1.0'\n    the first is at both/a.yaml:1\n"
    )
    ended = swf("validate", "both")
    assert (ended.code, ended.out) == (1, message)
    assert swf("validate", "both/a.yaml", "both/b.yaml").code == 0
    assert message in swf("worker", "both").err
