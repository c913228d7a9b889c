"""0.7: all that it writes means the same in 0.8, which made things optional and added others."""

from swf_temporal.languages.serverless_workflow.reading.versions import v0_8
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version

VERSION = Version(name="0.7", words=v0_8.WORDS)
