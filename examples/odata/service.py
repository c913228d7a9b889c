"""Products and suppliers of a shop, as OData 4.0 has it; of its query options as many as the example takes."""

import logging
import re
from typing import Any

from flask import Flask, request
from werkzeug.serving import make_server

app = Flask(__name__)

SETS: dict[str, list[dict[str, Any]]] = {
    "Products": [
        {"ID": 1, "Name": "pens", "Stock": 80, "Supplier": 1},
        {"ID": 2, "Name": "paper", "Stock": 4, "Supplier": 9},
        {"ID": 3, "Name": "ink", "Stock": 7, "Supplier": 1},
    ],
    "Suppliers": [{"ID": 1, "Name": "the wholesaler"}],
}
CONDITION = re.compile(r"(\w+) lt (\d+)")


@app.get("/shop.svc/<name>")
def entities(name: str) -> tuple[dict[str, Any], int]:
    """Return entities of a set: filtered, ordered, the first of them, and of these some properties."""
    found = SETS[name]
    if condition := request.args.get("$filter"):
        match = CONDITION.fullmatch(condition)
        if match is None:
            return error(501, "filters are written 'Property lt 12' here")
        found = [entity for entity in found if entity[match[1]] < int(match[2])]
    if key := request.args.get("$orderby"):
        found = sorted(found, key=lambda entity: entity[key])
    found = found[: request.args.get("$top", type=int)]
    if chosen := request.args.get("$select"):
        found = [{key: entity[key] for key in re.split(r",\s*", chosen)} for entity in found]
    return {"@odata.context": f"{request.host_url}shop.svc/$metadata#{name}", "value": found}, 200


@app.get("/shop.svc/<name>(<int:key>)")
def entity(name: str, key: int) -> tuple[dict[str, Any], int]:
    """Return one entity."""
    for found in SETS[name]:
        if found["ID"] == key:
            return {"@odata.context": f"{request.host_url}shop.svc/$metadata#{name}/$entity", **found}, 200
    return error(404, f"there are no {name} with the key {key}")


def error(status: int, message: str) -> tuple[dict[str, Any], int]:
    """Return an error as OData has it."""
    return {"error": {"code": str(status), "message": message}}, status


if __name__ == "__main__":
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)  # noqa: T201 - the program that started it reads this
    server.serve_forever()
