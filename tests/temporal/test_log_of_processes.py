"""The line of the log about a script or a command that failed, with the line of its output that says why."""

import pytest

from swf_temporal.base.errors import CallFailed
from swf_temporal.temporal.instance_log import in_a_line

PYTHON = 'Traceback (most recent call last):\n  File "/tmp/a/script.py", line 3, in <module>\nValueError: no stock\n'
NODE = 'file:///a.mjs:1\nthrow new TypeError("no")\n      ^\n\nTypeError: no\n    at file:///a.mjs:1\n\nNode.js v20\n'


@pytest.mark.parametrize(("stderr", "told"), [
    (PYTHON, ": ValueError: no stock"),
    (NODE, ": TypeError: no"),
    ("shop.errors.NoStockError: none left", ": shop.errors.NoStockError: none left"),
    ("line 1\nls: cannot access 'x'\n\n", ": ls: cannot access 'x'"),
    ("a" * 5000 + "\nat last", ": at last"),
    ("", ""),
], ids=["Python", "Node.js", "of another module", "a command", "much", "nothing"])  # fmt: skip
def test_one_line_says_why(stderr: str, told: str) -> None:
    said = stderr.strip()
    message = "the process of function 'pick' ended with the exit code 1" + (said and f": {said}")
    fault = CallFailed(message, code="ProcessFailed", body={"code": 1, "stdout": "", "stderr": stderr})
    begun = "CallFailed ProcessFailed: the process of function 'pick' ended with the exit code 1"
    assert in_a_line(fault) == f"{begun}{told}"
