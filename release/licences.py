"""The licences that dependencies may have, and whether those of a bill of materials are among them."""

from collections.abc import Iterator, Mapping
from typing import Any

PERMITTED = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CNRI-Python",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",  # asks for the source of changes to its own files, and we change none
    "PSF-2.0",
    "Python-2.0",
}
FOR_SOME = {
    ("psycopg", "LGPL-3.0-only"),  # of the extra `sql` alone, and used as it is
    ("psycopg-binary", "LGPL-3.0-only"),
}
UNNAMED = {"protobuf": "BSD-3-Clause", "quickjs-ng": "MIT", "resvg_py": "MIT"}
"""Those whose metadata name no licence that tools know, though their wheels have its text."""

_CLASSIFIERS = {
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}


def refused(bill: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each component of the bill of materials *bill* whose licence is unknown, or not permitted."""
    for component in bill["components"]:
        name, release = component["name"], component["version"]
        licences = [_expression(one) for one in component.get("licenses", [])] or [UNNAMED.get(name, "")]
        for licence in licences:
            if not licence:
                yield f"{name} {release} names no licence: read its text, and add it to UNNAMED in release/licences.py"
            elif not _is_permitted(licence) and (name, licence) not in FOR_SOME:
                yield f"{name} {release} has the licence {licence}, and PERMITTED in release/licences.py has not"


def _expression(told: Mapping[str, Any]) -> str:
    """Return what an entry of CycloneDX tells as an expression of SPDX: the entry names a licence, or is one."""
    licence = told.get("license", {})
    named = str(told.get("expression") or licence.get("id") or licence.get("name"))
    return _CLASSIFIERS.get(named, named)


def _is_permitted(expression: str) -> bool:
    """Tell whether one of the alternatives of *expression* has permitted licences only."""
    alternatives = expression.replace("(", "").replace(")", "").split(" OR ")
    return any(all(one in PERMITTED for one in each.split(" AND ")) for each in alternatives)
