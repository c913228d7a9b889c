"""Every history that a release has recorded, as a picture and as a timeline."""

from xml.etree import ElementTree as ET

import pytest
from temporalio.client import WorkflowHistory

from swf_temporal.base.errors import UsageError
from swf_temporal.drawing.svg import svg_of
from swf_temporal.operations.steps import runs_of
from swf_temporal.sdk.scenarios.host import IN_SCENARIOS
from swf_temporal.sdk.scenarios.virtual_time import VirtualTime
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.replaying import replay
from swf_temporal.temporal.workflows import OTHER_WORKFLOWS
from tests.replay import corpus
from tests.sampling import sample
from tests.temporal.suspending import suspending

OTHERS = {vars(one)["__temporal_workflow_definition"].name for one in OTHER_WORKFLOWS}
NOT_DRAWN = ("/use/functions/", "/use/extensions/")
"""What tasks of DSL 1.0 use: they are drawn where they stand."""
RECORDED = [
    pytest.param(one, id=f"{release} {number}: {one.source}")
    for release in corpus.releases()
    for number, one in enumerate(corpus.read(release).executions)
]


@pytest.mark.parametrize("recorded", sample(RECORDED, "recorded courses", 120))
async def test_every_recorded_history_is_drawn(recorded: corpus.Recorded) -> None:
    """A history is all that a picture needs: it is followed to its end, and every state is found in its definition.

    Not drawn is what runs no definition: workflows beside the interpreter, and functions that are called by themselves.
    """
    execution = recorded.execution
    history = WorkflowHistory.from_json(execution.workflow_id, execution.history)
    options, runner = (IN_SCENARIOS, VirtualTime()) if recorded.is_virtual else (suspending(), None)
    found = await replay(history, CONVERTER, runner=runner, options=options)
    assert found.failure is None
    if execution.definition_id in OTHERS or found.definition is None:
        with pytest.raises(UsageError, match="shows no definition"):
            runs_of([found])
        assert execution.definition_id in OTHERS or "#" in execution.workflow_id
        assert not found.trace
        return
    [run] = runs_of([found])
    reached = {path for part in run.course.parts for path in (part, part.split("/")[0])}
    drawn = {entry.state for entry in found.trace if entry.state and not entry.state.startswith(NOT_DRAWN)}
    assert drawn <= reached  # of a state perhaps its branches alone
    svg = svg_of(run.picture)
    assert all(f'data-path="{path}"' in svg for path in run.course.parts if path.isalnum())
    assert run.timeline is not None
    assert len(run.timeline.rows) >= sum(one.entered for one in run.course.parts.values())
    ET.fromstring(svg_of(run.timeline))  # noqa: S314 - our own
