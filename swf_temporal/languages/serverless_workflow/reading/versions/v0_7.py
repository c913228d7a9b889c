"""0.7: everything means the same in 0.8, which made some things optional and added others."""

from typing import Final

from swf_temporal.languages.serverless_workflow.reading.versions import before_0_8, v0_8
from swf_temporal.languages.serverless_workflow.reading.versions.marks import ACTIONS, VersionMarker, each, word
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version

VERSION: Final = Version(
    name="0.7",
    title="Serverless Workflow 0.7",
    number="0.7",
    tolerates_older_words=True,
    first_keys=(
        *each([""], "timeouts", "errors", "auth", "secrets", "constants", "annotations", "autoRetries", "key"),
        VersionMarker("states", "type", word("sleep")),
        *each(["states"], "defaultCondition", "timeouts", "numCompleted", "batchSize", "mode"),
        VersionMarker("states", "completionType", word("allOf", "atLeast")),
        *each(["states.onErrors"], "errorRef", "errorRefs"),
        *each(ACTIONS, "sleep", "subFlowRef", "retryRef", "retryableErrors", "nonRetryableErrors"),
        *each(["events"], "dataOnly"),
    ),
    vocabulary=v0_8.VERSION.vocabulary,
    words=v0_8.WORDS,
    slow_call=before_0_8.SLOW_CALL,
    upgraders=v0_8.VERSION.upgraders,
)
