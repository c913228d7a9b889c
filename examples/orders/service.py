"""The service that the order workflow calls. It is small, and keeps everything in memory.

    python service.py --port 8081

It prints its URL once it listens. `openapi.json` describes it. The same calls always get the same answers,
with one deliberate trouble: the first attempt to charge an order fails with 502, so that retries have
something to do.
"""

import argparse
import json
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

Answer = tuple[int, dict[str, Any]]

_STOCK = {"keyboard": 12, "mouse": 40, "monitor": 3, "webcam": 0}


class Orders:
    """Stock, reservations, payments, shipments and notifications, for any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stock = dict(_STOCK)
        self._calls: Counter[str] = Counter()
        self._charged: set[str] = set()
        self._numbers: Counter[str] = Counter()
        self._answers: dict[str, Answer] = {}
        self._operations: dict[str, Callable[[dict[str, Any]], Answer]] = {
            "checkStock": self._check_stock,
            "reserveItem": self._reserve_item,
            "chargeCard": self._charge_card,
            "createShipment": self._create_shipment,
            "notifyCustomer": self._notify_customer,
            "getStatistics": lambda _: (200, dict(self._calls)),
        }

    def answer(self, operation: str, arguments: dict[str, Any], key: str | None = None) -> Answer:
        """Return the status and the body that the operation of that id answers with.

        *key* identifies the request: a caller that repeats one that succeeded gets its answer, and nothing happens
        twice.
        """
        perform = self._operations[operation]
        with self._lock:
            self._calls[operation] += 1
            if key in self._answers:
                return self._answers[key]
            try:
                status, body = perform(arguments)
            except KeyError as missing:
                return 400, {"error": f"'{missing.args[0]}' is missing"}
            if key and status < 300:  # noqa: PLR2004 - below it an HTTP status means success
                self._answers[key] = status, body
            return status, body

    def _check_stock(self, arguments: dict[str, Any]) -> Answer:
        item = str(arguments["item"])
        if item not in self._stock:
            return 404, {"error": f"there is no item '{item}'"}
        quantity = self._stock[item]
        return 200, {"item": item, "inStock": quantity > 0, "quantity": quantity}

    def _reserve_item(self, arguments: dict[str, Any]) -> Answer:
        item, quantity = str(arguments["item"]), arguments["quantity"]
        if not isinstance(quantity, int) or quantity < 1:
            return 400, {"error": "'quantity' must be a whole number above zero"}
        if self._stock.get(item, 0) < quantity:
            return 409, {"error": f"there are only {self._stock.get(item, 0)} of '{item}'"}
        self._stock[item] -= quantity
        return 201, {"reservationId": self._next("R"), "item": item, "quantity": quantity}

    def _charge_card(self, arguments: dict[str, Any]) -> Answer:
        order, amount = str(arguments["orderId"]), arguments["amount"]
        if order not in self._charged:
            self._charged.add(order)
            return 502, {"error": "the bank did not answer"}
        return 201, {"paymentId": self._next("P"), "orderId": order, "amount": amount}

    def _create_shipment(self, arguments: dict[str, Any]) -> Answer:
        return 201, {"shipmentId": self._next("S"), "orderId": str(arguments["orderId"])}

    def _notify_customer(self, arguments: dict[str, Any]) -> Answer:
        return 202, {"customer": str(arguments["customer"]), "message": str(arguments["message"])}

    def _next(self, letter: str) -> str:
        self._numbers[letter] += 1
        return f"{letter}-{self._numbers[letter]}"


class Handler(BaseHTTPRequestHandler):
    """Reads a request, finds its operation, and writes the answer."""

    protocol_version = "HTTP/1.1"
    orders: ClassVar[Orders]
    routes: ClassVar[tuple[tuple[str, str, str], ...]] = (
        ("GET", r"/stock/(?P<item>[^/]+)", "checkStock"),
        ("POST", "/reservations", "reserveItem"),
        ("POST", "/payments", "chargeCard"),
        ("POST", "/shipments", "createShipment"),
        ("POST", "/notifications", "notifyCustomer"),
        ("GET", "/statistics", "getStatistics"),
    )

    def do_GET(self) -> None:
        """Answer a GET request."""
        self._answer()

    def do_POST(self) -> None:
        """Answer a POST request."""
        self._answer()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the library uses
        """Stay quiet: the workflow is what people watch."""

    def _answer(self) -> None:
        text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        for method, path, operation in self.routes:
            match = re.fullmatch(path, self.path.partition("?")[0])
            if match and method == self.command:
                return self._write(*self._perform(operation, match.groupdict(), text))
        return self._write(404, {"error": f"there is no {self.command} {self.path}"})

    def _perform(self, operation: str, places: dict[str, str], text: bytes) -> Answer:
        try:
            body = json.loads(text) if text else {}
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return 400, {"error": "the body is not a JSON object"}
        return self.orders.answer(operation, {**body, **places}, self.headers.get("Idempotency-Key"))

    def _write(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def serve(port: int = 0, host: str = "127.0.0.1") -> ThreadingHTTPServer:
    """Return a server with its own data that listens on *port* of *host*, or on a free one for 0."""
    handler = type("OrdersHandler", (Handler,), {"orders": Orders()})
    return ThreadingHTTPServer((host, port), handler)


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="The services of an order workflow, in memory.")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at; 0.0.0.0 means all")
    parser.add_argument("--port", type=int, default=8081, help="where to listen; 0 takes a free port")
    given = parser.parse_args()
    with serve(given.port, given.host) as server:
        print(f"http://{given.host}:{server.server_port}", flush=True)  # noqa: T201 - the program that started it reads this
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            sys.exit(0)


if __name__ == "__main__":
    main()
