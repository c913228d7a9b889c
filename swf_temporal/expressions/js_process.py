"""JavaScript in a helper process: what a script is given, and what is taken away from it.

`jq_process` runs this file as it stands where a helper is to run JavaScript, so it imports the engine alone. Every
evaluation has a new context, in which nothing is left of those before. A script sees the data and what the language
has, without files, network, timers or modules. What would differ from one replay to the next is replaced: the clock
stands at the workflow's time, random numbers follow from a seed, and what tells of memory or of other threads is gone.
"""

import _quickjs

WARMING = ("return 1", "[null,0,0]")
"""A script, and its input, by which the engine loads what it needs."""

_OUT_OF_MEMORY = "InternalError: out of memory"
_STACK = 512 * 1024
"""Bytes of stack that a script may use: calls that go deeper are an error of the script on every machine."""

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
        """Return the one value that the script yields, as JSON. *text* has the data, the time in milliseconds, a seed.

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
    """Return the script that *text* is, the body of a function of `data`. Raises ValueError if it is none."""
    return Script(text)


def _as_value_error(error: Exception) -> ValueError:
    """Return what a person reads of *error*: its first line, without where in this file it was noticed."""
    message = str(error).partition("\n")[0]
    if message.startswith(_OUT_OF_MEMORY):
        raise MemoryError
    return ValueError(message)
