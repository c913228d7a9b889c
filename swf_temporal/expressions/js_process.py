"""JavaScript in a helper process, in a restricted and deterministic environment.

`jq_process` runs this file in helpers for JavaScript, so it imports only the engine. Every evaluation has a new context
without traces of earlier ones. A script has the data and the language, without files, network, timers or modules.
Whatever would differ between replays is replaced: the clock shows the workflow's time, random numbers are derived from
a seed, and objects that reveal memory or other threads are removed.
"""

import _quickjs

WARMING = ("return 1", "[null,0,0]")
"""A script and its input, with which the engine loads everything that it needs."""

_OUT_OF_MEMORY = "InternalError: out of memory"
_STACK = 512 * 1024
"""The stack limit of a script in bytes: exceeding it is an error of the script on every machine."""

_SURROUNDINGS = """
(function (script) {
  'use strict';
  const TheDate = Date, ThePromise = Promise;
  const parse = JSON.parse, stringify = JSON.stringify, isFinite = Number.isFinite;
  for (const name of ['performance', 'WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics'])
    delete globalThis[name];
  const fn = new Function('data', script);
  return function (request) {
    const [data, now, seed] = parse(request);
    let state = seed;
    Math.random = function random() {
      state = (state + 0x6D2B79F5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
    TheDate.now = function () { return now; };
    globalThis.Date = TheDate.prototype.constructor = new Proxy(TheDate, {
      construct(target, given, maker) { return Reflect.construct(target, given.length ? given : [now], maker); },
      apply() { return new TheDate(now).toString(); },
    });
    const value = fn(data);
    if (value === undefined || value === null || typeof value === 'function' || typeof value === 'symbol')
      throw 'the script returns nothing: it needs a `return` with a value';
    if (value instanceof ThePromise)
      throw 'the script returns a promise, which nothing waits for';
    if (typeof value === 'number' && !isFinite(value))
      throw `the script returns ${value}, which is not JSON`;
    return stringify(value);
  };
})
"""


class Script:
    def __init__(self, text: str) -> None:
        self._text = text
        self._made()

    def input_text(self, text: str) -> list[str]:
        """Return the result of the script as JSON. *text* has the data, the time in milliseconds, and a seed.

        Raises ValueError.
        """
        made = self._made()
        try:
            result = made(text)
        except _quickjs.JSException as error:
            raise _as_value_error(error) from None
        if not isinstance(result, str):
            raise ValueError("the script returns nothing that is JSON")  # noqa: TRY004 - what the caller expects
        return [result]

    def _made(self) -> "_quickjs.Object":
        context = _quickjs.Context()
        context.set_max_stack_size(_STACK)
        try:
            return context.eval(_SURROUNDINGS)(self._text)
        except _quickjs.JSException as error:
            raise _as_value_error(error) from None


def compiled(text: str) -> Script:
    """Return the script in *text*, the body of a function of `data`. Raises ValueError if it is not valid."""
    return Script(text)


def _as_value_error(error: Exception) -> ValueError:
    """Return the message of *error* for people: its first line, without the position in this file."""
    message = str(error).partition("\n")[0]
    if message.startswith(_OUT_OF_MEMORY):
        raise MemoryError
    return ValueError(message)
