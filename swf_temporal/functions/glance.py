"""What do files on this machine say of functions that nobody is going to call?

Most documents are OpenAPI's, and to read one takes none of the libraries that calls are made with. So those are
imported only if another kind of document is named.
"""

from typing import TYPE_CHECKING, Any

from swf_temporal.calls import Function
from swf_temporal.fetching.resources import Resources
from swf_temporal.functions.documents.local_documents import file_named, looked

if TYPE_CHECKING:
    from swf_temporal.functions.calling import Functions
    from swf_temporal.functions.documents.documents import Documents


class Glance:
    """Looks at functions as `Functions.prepare` does, and can do nothing else."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._documents: Documents | None = None
        self._functions: Functions | None = None

    async def prepare(self, function: Function, base: str | None) -> Any:
        """Return what a file says of *function*; None if no such file describes it. Raises CallFailed."""
        if file_named(function, base) is None:
            return None
        if function.type not in {"rest", "openapi"}:
            return await self._all().prepare(function, base)
        from swf_temporal.functions.documents.documents import Documents  # noqa: PLC0415 - seldom needed
        from swf_temporal.functions.openapi.looking import look  # noqa: PLC0415 - as above

        documents = self._documents = self._documents or Documents(None, resources=self._resources)
        return await looked(lambda call: look(documents, call), function, base)

    def _all(self) -> "Functions":
        from swf_temporal.functions.calling import Functions  # noqa: PLC0415 - heavy, and seldom needed
        from swf_temporal.functions.operator.settings import Settings  # noqa: PLC0415 - as above

        if self._functions is None:
            self._functions = Functions(settings=Settings(resources=self._resources))
        return self._functions
