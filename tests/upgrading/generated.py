"""Generated definitions of every version that is rewritten."""

from typing import Any, Final, TypeAlias

from tests.upgrading.may_2020 import may_2020
from tests.upgrading.november_2019 import november_2019
from tests.upgrading.older import VERSIONS as SINCE_0_5
from tests.upgrading.older import older

Document: TypeAlias = dict[str, Any]

_MAY: Final = {"May 2020, tasks": False, "May 2020, states": True}
"""By what the definitions of the draft have, whether that is states."""

_NOVEMBER: Final = "November 2019"

VERSIONS: Final = (_NOVEMBER, *_MAY, *SINCE_0_5)


def generated(seed: int, version: str) -> Document:
    if version == _NOVEMBER:
        return november_2019(seed)
    if version in _MAY:
        return may_2020(seed, with_states=_MAY[version])
    return older(seed, version)
