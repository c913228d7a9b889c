"""What measures loading."""

import re
import subprocess
import sys

from bench.loading import ROOT


def test_each_version_has_a_rate() -> None:
    run = [sys.executable, "-m", "bench.loading", "--versions", "--rounds", "1"]
    told = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rates = dict(re.findall(r"^  (\S.*?) +(\d+)   \(\d+ definitions of \d+ bytes\)$", told, re.MULTILINE))
    assert {"0.5", "0.8", "1.0.3", "May 2020", "direktiv"} <= set(rates)
    assert min(map(int, rates.values())) > 0
