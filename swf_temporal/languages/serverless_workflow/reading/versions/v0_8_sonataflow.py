"""0.8 as SonataFlow read and ran it, for definitions that are not to be rewritten.

A text states it by its number. `upgrading/sonataflow` converts definitions of SonataFlow to such texts.
"""

from typing import Final

from swf_temporal.languages.serverless_workflow.model.workflow import DataFlowKind
from swf_temporal.languages.serverless_workflow.reading.versions import v0_8
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version

VERSION: Final = Version(
    name="0.8-sonataflow",
    title="Serverless Workflow 0.8 in the mode of SonataFlow",
    number="0.8-sonataflow",
    tolerates_older_words=True,
    vocabulary=v0_8.VERSION.vocabulary,
    words=v0_8.VERSION.words,
    data_flow=DataFlowKind.REPLACING,
    closest_handler=True,
    narrow_truths=True,
    filters_objects=True,
    tells_of_requests=True,
    upgraders=v0_8.VERSION.upgraders,
)
