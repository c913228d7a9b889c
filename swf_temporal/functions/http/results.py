"""The results of calls over HTTP: what a workflow gets of an answer."""

from base64 import b64encode
from collections.abc import Awaitable, Callable
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.headers import CREDENTIALS
from swf_temporal.functions.call import FAIL_ON_STATUS_CODE, Call, switch
from swf_temporal.functions.http.client import HttpResponse, HttpStatusError
from swf_temporal.text.bodies import read_answer, read_error_answer
from swf_temporal.text.suggestions import suggestion

OUTPUT: Final = "output"
REDIRECT: Final = "redirect"
CONTENT: Final = "content"
RAW: Final = "raw"
RESPONSE: Final = "response"
OUTPUTS: Final = (CONTENT, RAW, RESPONSE)
"""The forms of a result: the content of the answer, its bytes in base64, and the whole answer with its request."""


async def result_of(call: Call, ask: Callable[[Call], Awaitable[HttpResponse]]) -> JSON:
    """Return the result of *call*, whose answer *ask* gets: the body, unless the function says otherwise.

    `output` in the metadata is the form of the result. With `failOnStatusCode: false` and no `output`, the function
    accepts errors, and its result is `{status, headers, body}`, whatever the status. Raises CallFailed.
    """
    output = _output(call)
    if output is not None:
        return result_in(output, await ask(call))
    if switch(call, FAIL_ON_STATUS_CODE) is not False:
        return (await ask(call)).body
    try:
        answer = await ask(call)
    except HttpStatusError as refused:
        answer = refused.answer
    return answer.to_json()


def reading(call: Call) -> Callable[[bytes, str], JSON]:
    """Return what reads the body of an answer to *call*. Raises CallFailed for an unknown `output`."""
    return reader(_output(call) or CONTENT)


def reader(output: str) -> Callable[[bytes, str], JSON]:
    """Return what reads a body for a result in the form *output*: raw bytes need not have their declared format."""
    return read_error_answer if output == RAW else read_answer


def result_in(output: str, answer: HttpResponse) -> JSON:
    """Return *answer* in the form *output*."""
    if output == RAW:
        return _base64(answer.content) if answer.content else None
    content = answer.body
    # What is neither JSON nor a text is read as an object with its bytes: no JSON contains itself in base64.
    if isinstance(content, dict) and "base64" in content and content["base64"] == _base64(answer.content):
        content = content["base64"]
    if output == CONTENT:
        return content
    headers: JSON = {_usual(name): value for name, value in answer.headers.items()}
    result: dict[str, JSON] = {"statusCode": answer.status, "headers": headers, "content": content}
    asked = answer.asked
    if asked is None:
        return result
    shown: JSON = {name: value for name, value in asked.headers if name.lower() not in CREDENTIALS}
    return {"request": {"method": asked.method, "uri": asked.shown_url, "headers": shown}, **result}


def _output(call: Call) -> str | None:
    output: JSON = call.function.metadata.get(OUTPUT)
    if output is None or output in OUTPUTS:
        return output
    name, known = call.function.name, ", ".join(OUTPUTS)
    message = f"'{OUTPUT}' of function '{name}' is {output!r}; it must be one of {known}"
    raise permanent_failure("BadOperation", message + suggestion(str(output), OUTPUTS))


def _usual(name: str) -> str:
    """Return the name of a header as it is usually written, such as `Content-Type`, however the service wrote it."""
    return "-".join(part.capitalize() for part in name.split("-"))


def _base64(content: bytes) -> str:
    return b64encode(content).decode("ascii")
