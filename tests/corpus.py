"""The scenarios of `tests/scenarios`, read once for all tests that run them: it takes a second."""

from pathlib import Path
from typing import Final

from swf_temporal.simulation.scenario import find_scenarios

ROOT: Final = Path(__file__).parent / "scenarios"
CORPUS: Final = find_scenarios([ROOT])
