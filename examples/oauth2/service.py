"""A bank, and the server that grants tokens for it: to accounting for reading only."""

import logging
import secrets
from typing import Any

from flask import Flask, request
from werkzeug.serving import make_server

app = Flask(__name__)

CLIENTS = {"accounting": ("only-for-the-example", {"balance.read"})}
tokens: dict[str, set[str]] = {}


@app.post("/token")
def grant() -> tuple[dict[str, Any], int]:
    """Grant a token for those of the scopes that the client may have. RFC 6749, section 4.4."""
    client = request.authorization
    if client is None or client.type != "basic":
        return {"error": "invalid_client"}, 401
    password, allowed = CLIENTS.get(client.username or "", ("", set[str]()))
    if not password or client.password != password:
        return {"error": "invalid_client"}, 401
    if request.form["grant_type"] != "client_credentials":
        return {"error": "unsupported_grant_type"}, 400
    token, scopes = secrets.token_urlsafe(), allowed & set(request.form.get("scope", "").split())
    tokens[token] = scopes
    return {"access_token": token, "token_type": "Bearer", "expires_in": 600, "scope": " ".join(scopes)}, 200


@app.get("/accounts/<account>/balance")
def get_balance(account: str) -> tuple[dict[str, Any], int]:
    """Tell the balance, to those who may see it."""
    return permanent_failure("balance.read") or ({"account": account, "amount": 250}, 200)


@app.post("/accounts/<account>/payments")
def pay_out(account: str) -> tuple[dict[str, Any], int]:
    """Pay out, for those who may."""
    return permanent_failure("payment.write") or ({"account": account, **request.get_json()}, 201)


def permanent_failure(scope: str) -> tuple[dict[str, Any], int] | None:
    """Return what to answer to a caller whose token is not good for *scope*."""
    bearer = request.authorization
    if bearer is None or bearer.token not in tokens:
        return {"error": "who are you?"}, 401
    return None if scope in tokens[bearer.token] else ({"error": f"that takes the scope {scope}"}, 403)


if __name__ == "__main__":
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)  # noqa: T201 - the program that started it reads this
    server.serve_forever()
