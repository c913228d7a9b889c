"""The table of rules is complete, and every rule says where it comes from."""

import pkgutil
from importlib import import_module

from swf_temporal.languages.serverless_workflow.validation import rules
from swf_temporal.languages.serverless_workflow.validation.rules import RULES

MODULES = [import_module(f"{rules.__name__}.{found.name}") for found in pkgutil.iter_modules(rules.__path__)]


def test_every_rule_is_in_the_table() -> None:
    assert sorted(rule.__module__ for rule in RULES) == sorted(module.__name__ for module in MODULES)


def test_every_rule_cites_a_section() -> None:
    assert [module.__name__ for module in MODULES if "(section" not in (module.__doc__ or "")] == []
