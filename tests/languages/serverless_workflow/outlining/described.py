"""A definition described, with where its functions lead as far as files on this machine tell."""

from datetime import UTC, datetime

from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.describing import Description
from swf_temporal.languages.port import Definition
from swf_temporal.sdk.documents import addresses_of, folder_of

_NOW = datetime(2024, 1, 1, tzinfo=UTC)


def describe(definition: Definition, *others: Definition, now: datetime = _NOW) -> Description:
    folder = folder_of(definition)
    catalogue = Catalogue([definition, *others])
    return Description(definition, catalogue, now, lambda uses: addresses_of(folder, uses))
