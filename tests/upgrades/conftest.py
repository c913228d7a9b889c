"""The server on which releases meet: one as that of the tests on Temporal."""

from tests.temporal.conftest import bench

__all__ = ["bench"]
