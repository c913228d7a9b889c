"""When a schedule starts instances, as far as a scenario asks."""

from collections.abc import Sequence
from datetime import datetime

from swf_temporal.calendars.previewing import preview
from swf_temporal.errors import UsageError
from swf_temporal.simulation.definitions import workflows_of
from swf_temporal.simulation.description import Scenario


def starts_of(scenario: Scenario) -> Sequence[datetime] | UsageError:
    """Return the starts that *scenario* asks about, as a server would make them; or why its workflow has none."""
    asked = scenario.expect.starts
    if asked is None:
        return ()
    try:
        spec = workflows_of(scenario)[0].schedule()
    except UsageError as error:
        return error
    times = preview(spec, asked.after, asked.most)
    return [time for time in times if asked.before is None or time <= asked.before]
