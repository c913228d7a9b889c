"""The server on which releases meet."""

from tests.temporal.conftest import bench

__all__ = ["bench"]
