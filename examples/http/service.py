"""A forecast, and a courier's vehicles: the bikes are all out, and there is always a van."""

import logging
from typing import Any

from flask import Flask, request
from werkzeug.serving import make_server

app = Flask(__name__)


@app.get("/cities/<city>/forecast")
def forecast(city: str) -> dict[str, Any]:
    """Tell how much rain is expected, in millimetres."""
    return {"city": city, "hours": request.args.get("hours", type=int), "rain": 0.2}


@app.post("/bookings")
def book() -> tuple[dict[str, Any], int]:
    """Book a vehicle for a parcel."""
    order = request.get_json()
    if order["vehicle"] == "bike":
        return {"error": "all bikes are out"}, 409
    return {"booking": "B-1", "shop": request.headers["X-Shop"], **order}, 201


if __name__ == "__main__":
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)  # noqa: T201 - the program that started it reads this
    server.serve_forever()
