// Streams of server-sent events by which pages update: used by the scripts that follow.
"use strict";

// Call `listen` with each event source that is opened for `url`, and show in `refused` why one was refused.
function watch(url, refused, listen) {
  const source = new EventSource(url);
  source.addEventListener("live", () => refused.replaceChildren());
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) ask();
  });
  listen(source);

  // An event source does not tell why it was refused.
  async function ask() {
    const leaving = new AbortController();
    const answer = await fetch(url, { signal: leaving.signal });
    if (answer.ok) {
      leaving.abort();
      watch(url, refused, listen);
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const why = page.querySelector(".notice");
    if (why) refused.replaceChildren(document.adoptNode(why));
    const after = answer.headers.get("Retry-After");
    if (after) setTimeout(() => watch(url, refused, listen), 1000 * Number(after));
  }
}
