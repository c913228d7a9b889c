"""The type `direktiv`: functions of Direktiv workflows, which are servers that answer one POST for each call."""

from collections.abc import Mapping

from swf_temporal.base.data import JSON
from swf_temporal.functions.port import DeclaredType

_NAMES = ("image", "service")


class ContainerType(DeclaredType):
    """Functions that name an image or a service; its address is configured."""

    performed_by = "swf_temporal.functions.containers.containers:Containers"
    example = "registry.example.com/images/resize:1"

    def named(self, operation: JSON) -> Mapping[str, str]:
        given = operation if isinstance(operation, dict) else {}
        return {key: str(given[key]) for key in _NAMES if key in given}

    def services(self, operation: JSON) -> tuple[str, ...]:
        """Return the image and the service, each also without its tag."""
        names = (one for name in self.named(operation).values() for one in (name, _without_tag(name)))
        return tuple(dict.fromkeys(names))


TYPE = ContainerType()


def _without_tag(image: str) -> str:
    """Return *image* without its tag and its digest; a colon before the last slash belongs to a registry's port."""
    registry, slash, name = image.partition("@")[0].rpartition("/")
    return registry + slash + name.partition(":")[0]
