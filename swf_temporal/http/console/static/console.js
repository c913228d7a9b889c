// The page of an instance: its pictures, and what changes on it while it runs. Without this file it is shown as it was.
"use strict";

(() => {
  const live = document.getElementById("live");
  const pictures = document.getElementById("pictures");
  if (!live || !pictures) return;

  let isDrawing = false;
  let isOld = false;

  async function draw() {
    isOld = true;
    if (isDrawing) return;
    isDrawing = true;
    while (isOld) {
      isOld = false;
      const answer = await fetch(pictures.dataset.source);
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const drawn = page.getElementById("drawn");
        if (drawn) pictures.replaceChildren(document.adoptNode(drawn));
      }
    }
    isDrawing = false;
  }

  // What a person is writing stays, and so do details that were opened.
  function isInUse(part) {
    const fields = [...part.querySelectorAll("input:not([type=hidden]), textarea, select")];
    return fields.some((one) => one === document.activeElement || ("defaultValue" in one && one.value !== one.defaultValue));
  }

  function replace(part, html) {
    const opened = [...part.querySelectorAll("details")].map((one) => one.open);
    const before = opened.length;
    part.innerHTML = html;
    const now = [...part.querySelectorAll("details")];
    // New entries of the trace come first.
    now.slice(now.length - before).forEach((one, place) => { one.open = opened[place]; });
  }

  draw();
  if (!live.dataset.stream) return;
  const refused = document.getElementById("live-refused");

  function watch() {
    const source = new EventSource(live.dataset.stream);
    source.addEventListener("live", (event) => {
      refused.replaceChildren();
      for (const [id, html] of Object.entries(JSON.parse(event.data))) {
        const part = document.getElementById(id);
        if (part && !isInUse(part)) replace(part, html);
      }
      draw();
    });
    source.addEventListener("end", () => source.close());
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) ask();
    });
  }

  // An event source does not tell why it was refused.
  async function ask() {
    const leaving = new AbortController();
    const answer = await fetch(live.dataset.stream, { signal: leaving.signal });
    if (answer.ok) {
      leaving.abort();
      watch();
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const why = page.querySelector(".notice");
    if (why) refused.replaceChildren(document.adoptNode(why));
    if (answer.headers.has("Retry-After")) setTimeout(watch, 1000 * Number(answer.headers.get("Retry-After")));
  }

  watch();
})();
