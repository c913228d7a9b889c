"""The text that follows 0.8 and has no number yet: it says "0.8", and only its own keys give it away."""

from swf_temporal.languages.serverless_workflow.reading.versions.version import Version

VERSION = Version(name="0.8-next")
