"""A library, as `library.openapi.yaml` describes it, all of whose books are lent."""

import logging
from typing import Any

from flask import Flask, request
from werkzeug.serving import make_server

app = Flask(__name__)

BOOKS = [
    {"isbn": "9780141439518", "title": "Pride and Prejudice", "language": "en"},
    {"isbn": "9783596900367", "title": "Stolz und Vorurteil", "language": "de"},
]


@app.get("/books")
def find_books() -> list[dict[str, str]]:
    """Return the books whose titles have some words."""
    title, languages = request.args["title"].lower(), request.args["languages"].split(",")
    return [book for book in BOOKS if title in book["title"].lower() and book["language"] in languages]


@app.post("/books/<isbn>/loans")
def lend_book(isbn: str) -> tuple[dict[str, Any], int]:
    """Refuse: it is taken."""
    return {"error": f"{isbn} is lent until Friday"}, 409


@app.post("/books/<isbn>/reservations")
def reserve_book(isbn: str) -> tuple[dict[str, Any], int]:
    """Put a reader on the list."""
    return {"isbn": isbn, "reader": request.form["reader"], "place": 1}, 201


if __name__ == "__main__":
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)  # noqa: T201 - the program that started it reads this
    server.serve_forever()
