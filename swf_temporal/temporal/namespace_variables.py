"""Variables as workflows read them: those in a store, and files of their namespace."""

import asyncio
from collections.abc import Mapping

from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.runtime.namespace_files import folder_of, read_file
from swf_temporal.runtime.variables import Variable, VariableRef, VariableStore


class NamespaceVariables:
    """The variables of a store, and the files in the folders of a worker's definitions."""

    def __init__(self, variables: VariableStore, catalogue: Catalogue) -> None:
        self._variables = variables
        self._catalogue = catalogue

    async def read_variable(self, of: VariableRef) -> Variable | None:
        """Return the value of the variable, or the file; None if there is none."""
        if of.scope == "file":
            folders = {one.id: folder for one in self._catalogue if (folder := folder_of(one.id, one.source.name))}
            if folders:
                # The workflow's own folder, if this worker knows it, else all folders.
                looked = [folders[of.owner]] if of.owner in folders else list(dict.fromkeys(folders.values()))
                return await asyncio.to_thread(read_file, of.key, looked)
        return await self._variables.read_variable(of)

    async def write_variables(self, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:
        """Write *values* to variables of the store."""
        await self._variables.write_variables(values, write_id)
