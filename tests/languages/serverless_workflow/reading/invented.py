"""A version that was never written, 0.4, whose states are called steps: all that there is of it stands in this module.

In the package it would be a module of `reading/versions/`, and its upgrade one of `upgrading/`.
"""

from typing import Final

from swf_temporal.languages.serverless_workflow.model import states, workflow
from swf_temporal.languages.serverless_workflow.model.workflow import DataFlowKind
from swf_temporal.languages.serverless_workflow.reading.normalizing import Spelling
from swf_temporal.languages.serverless_workflow.reading.versions import v0_5
from swf_temporal.languages.serverless_workflow.reading.versions.marks import VersionMarker
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version
from swf_temporal.languages.serverless_workflow.reading.vocabulary import Vocabulary
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, UpgradeReport, children, leavings
from swf_temporal.text.round_trip import rename

_VOCABULARY: Final = Vocabulary(
    spellings={
        workflow.Workflow: Spelling(renamed={"steps": "states"}),
        states.Transition: Spelling(renamed={"nextStep": "nextState"}),
    },
    later={workflow.Workflow: ("states",), states.Transition: ("nextState",)},
)

VERSION: Final = Version(
    name="0.4", title="Serverless Workflow 0.4", number="0.4", must_say_number=False,
    last_keys=(VersionMarker("", "steps", is_decisive=True),), vocabulary=_VOCABULARY.then(v0_5.VERSION.vocabulary),
    words={**v0_5.VERSION.words, "nextState": ("nextStep",)}, state_word="step", slow_call=v0_5.VERSION.slow_call,
    data_flow=DataFlowKind.KEYED_MERGING, expression_lang=v0_5.VERSION.expression_lang, defines_errors=False,
    upgraders=(__name__, *v0_5.VERSION.upgraders),
)  # fmt: skip


def upgrade(root: Tree, report: UpgradeReport) -> None:
    rename(root, "steps", "states")
    for leaving in leavings(root):
        for transition in children(leaving, "transition"):
            rename(transition, "nextStep", "nextState")
    report.respelled("steps are states")
