"""Servers that have documents for definitions."""

from tests.fetching.conftest import new_site, site

__all__ = ["new_site", "site"]
