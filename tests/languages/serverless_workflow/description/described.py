"""A definition described, with where its functions lead as far as files on this machine tell."""

from datetime import datetime

from swf_temporal.app.addresses import addresses_of
from swf_temporal.app.documents import folder_of
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.port import Definition, Description
from swf_temporal.languages.serverless_workflow.description.compact import Facts


def describe(definition: Definition, catalogue: Catalogue, now: datetime) -> Description:
    """Return the description of *definition*."""
    folder = folder_of(definition)
    return definition.language.describe(definition, catalogue, now, lambda functions: addresses_of(folder, functions))


def described(definition: Definition, catalogue: Catalogue, now: datetime) -> Facts:
    """Return the facts of *definition*."""
    return describe(definition, catalogue, now).facts
