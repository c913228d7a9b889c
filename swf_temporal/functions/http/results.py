"""What does a workflow get of a service's answer?"""

from collections.abc import Awaitable, Callable

from swf_temporal.data import JSON
from swf_temporal.functions.call import Call
from swf_temporal.functions.http.answers import Answer, HttpStatusError
from swf_temporal.functions.metadata import FAIL_ON_STATUS_CODE, switch


async def result_of(call: Call, ask: Callable[[Call], Awaitable[Answer]]) -> JSON:
    """Return the body of what *ask* gets for *call*, or all of the answer if the function takes errors for answers.

    It does so by `failOnStatusCode: false`: then its result is `{status, headers, body}`, whatever the status.
    Raises CallFailed.
    """
    if switch(call, FAIL_ON_STATUS_CODE) is not False:
        return (await ask(call)).body
    try:
        answer = await ask(call)
    except HttpStatusError as refused:
        answer = refused.answer
    return answer.to_json()
