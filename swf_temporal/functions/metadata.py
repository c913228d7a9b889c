"""What does a function ask for, in its `metadata`, of how it is called?"""

from collections.abc import Mapping

from swf_temporal.data import JSON
from swf_temporal.functions.call import Call, permanent_failure

CHECK_RESPONSE = "checkResponse"
HIDE_SECRETS = "hideSecrets"
FAIL_ON_STATUS_CODE = "failOnStatusCode"
SERVER_VARIABLES = "serverVariables"


def switch(call: Call, name: str) -> bool | None:
    """Return whether the function asks for *name*, or None if it does not say. Raises CallFailed if it is no boolean.

    Where the operation is an object, it may stand there as well.
    """
    operation = call.function.operation
    holders = (operation if isinstance(operation, dict) else {}, call.function.metadata)
    value: JSON = next((holder[name] for holder in holders if holder.get(name) is not None), None)
    if value is None or isinstance(value, bool):
        return value
    raise permanent_failure(
        "BadOperation", f"'{name}' of function '{call.function.name}' is {value!r}; it must be true or false"
    )


def variables(call: Call) -> Mapping[str, JSON]:
    """Return the values that the function gives to variables of its server. Raises CallFailed if they are no object."""
    value: JSON = call.function.metadata.get(SERVER_VARIABLES)
    if value is None or isinstance(value, dict):
        return value or {}
    message = f"'{SERVER_VARIABLES}' of function '{call.function.name}' is {value!r}; it must be an object"
    raise permanent_failure("BadOperation", message)
