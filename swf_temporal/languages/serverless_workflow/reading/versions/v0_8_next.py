"""The text after 0.8, which has no number yet: it says "0.8", and only its own keys identify it."""

from typing import Final

from swf_temporal.languages.serverless_workflow.reading.versions import v0_8
from swf_temporal.languages.serverless_workflow.reading.versions.marks import ACTIONS, each
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version

VERSION: Final = Version(
    name="0.8-next",
    title="Serverless Workflow 0.8-next",
    number=v0_8.VERSION.number,
    tolerates_older_words=True,
    first_keys=(
        *each([""], "dataOutputSchema", "extensions"),
        *each(["functions.authRef"], "resource", "invocation"),
        *each((f"{path}.eventRef" for path in ACTIONS), "produceEventRef", "consumeEventRef"),
    ),
    vocabulary=v0_8.VERSION.vocabulary,
    has_semantic_versions=True,
    writers=("swf_temporal.languages.serverless_workflow.upgrading.to_next",),
)
