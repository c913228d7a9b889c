"""The box office of a theatre, as `theatre.proto` describes it. One seat is kept for the press."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

messages, services = grpc.protos_and_services("theatre.proto")

PRICES = {"A1": 60, "A2": 60, "B1": 45, "B2": 45, "C1": 30}


class BoxOffice(services.BoxOfficeServicer):
    """Sells seats."""

    def ListFree(self, _play: Any, _context: grpc.ServicerContext) -> Iterator[Any]:  # noqa: N802 - the proto's name
        """Tell the free seats, one after the other."""
        for number, price in PRICES.items():
            yield messages.Seat(number=number, price=price)

    def Reserve(self, order: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802 - the proto's name
        """Reserve seats, unless one is kept for the press."""
        if "A1" in order.seats:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "A1 is kept for the press")
        return messages.Reservation(id="R-1", seats=order.seats, total=sum(PRICES[seat] for seat in order.seats))


if __name__ == "__main__":
    server = grpc.server(ThreadPoolExecutor())
    services.add_BoxOfficeServicer_to_server(BoxOffice(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(f"grpc://127.0.0.1:{port}", flush=True)  # noqa: T201 - the program that started it reads this
    server.wait_for_termination()
