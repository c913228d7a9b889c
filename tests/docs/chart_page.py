"""Write the README of the Helm chart: `python -m tests.docs.chart_page`.

It has the descriptions of values.schema.json and the defaults of values.yaml.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

CHART: Final = Path(__file__).parents[2] / "charts" / "swf-temporal"
README: Final = CHART / "README.md"
PARTS: Final = ("worker", "gateway", "consumer")
_HEAD: Final = """\
# The Helm chart of swf-temporal

<!-- Made by `python -m tests.docs.chart_page` from values.schema.json and values.yaml. -->

It deploys workers and, if its values enable them, a gateway and consumers. [Kubernetes](../../docs/kubernetes.md) says
how it is used, and `ci/` has complete examples.

```console
$ helm install shop charts/swf-temporal --values values.yaml
$ helm test shop
```

`image.repository` and `temporal.address` are required. Values that are not listed here are refused, and so are values
that contradict one another: all of them at once, each with the value to change.
"""


def written() -> str:
    """Return the README that the schema and the defaults have."""
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    defaults = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    part = schema["definitions"]["part"]
    shared = {f"definitions/part/{name}": of for name, of in part.items()}
    properties = {name: of for name, of in schema["properties"].items() if name != "global"}
    plain = {name: of for name, of in properties.items() if "properties" not in of}
    lines = [_HEAD, "## General", "", *_table(plain, defaults, shared)]
    for name, of in properties.items():
        if name in plain:
            continue
        if name == PARTS[0]:
            lines += ["", f"## {', '.join(PARTS[:-1])} and {PARTS[-1]}", "", "Each of the three has these values."]
            lines += ["", *_table({key: one for key, one in part.items() if key != "enabled"}, defaults[name], shared)]
        isolated = name not in PARTS
        own = {key: one for key, one in of["properties"].items() if isolated or key == "enabled" or key not in part}
        described = ["", of["description"]] if "description" in of else []
        lines += ["", f"## {name}", *described, "", *_table({name: {"properties": own}}, defaults, shared)]
    return "\n".join(lines) + "\n"


def _table(properties: Mapping[str, Any], defaults: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterator[str]:
    yield "| value | default | meaning |"
    yield "|---|---|---|"
    for place, default, meaning in _rows(properties, defaults, shared):
        yield f"| `{place}` | {_shown(default)} | {meaning} |"


def _rows(
    properties: Mapping[str, Any], defaults: Mapping[str, Any], shared: Mapping[str, Any], place: str = ""
) -> Iterator[tuple[str, Any, str]]:
    for name, found in properties.items():
        of = shared[found["$ref"].removeprefix("#/")] if "$ref" in found else found
        default = defaults.get(name)
        if "properties" in of and "description" not in of:
            yield from _rows(of["properties"], default or {}, shared, f"{place}{name}.")
        else:
            yield f"{place}{name}", default, of["description"]


def _shown(default: object) -> str:
    if default in ("", None, [], {}):
        return ""
    return f"`{default if isinstance(default, str) else json.dumps(default)}`"


if __name__ == "__main__":
    README.write_text(written(), encoding="utf-8")
