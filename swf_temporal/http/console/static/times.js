// Times in the time zone of the person, relative where they are recent; UTC is shown on hover. Without this file they
// are in UTC.
"use strict";

(() => {
  const DAY = 24 * 3600;
  const EVERY = 15_000;
  const UNITS = [["day", DAY], ["hour", 3600], ["minute", 60], ["second", 1]];
  const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
  const length = (value, unit) => new Intl.NumberFormat("en", { style: "unit", unit, unitDisplay: "narrow" }).format(value);
  const exact = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });

  function parts(seconds) {
    const place = UNITS.findIndex(([, size]) => seconds >= size);
    const from = place < 0 ? UNITS.length - 1 : place;
    const [unit, size] = UNITS[from];
    const found = [[Math.floor(seconds / size), unit]];
    const next = UNITS[from + 1];
    if (next) found.push([Math.floor((seconds % size) / next[1]), next[0]]);
    return found;
  }

  function show(one) {
    const at = new Date(one.dateTime);
    if (Number.isNaN(at.getTime())) return;
    const passed = (Date.now() - at.getTime()) / 1000;
    let text = exact.format(at);
    if (one.classList.contains("since")) {
      text = parts(Math.max(0, passed)).map(([value, unit]) => length(value, unit)).join(" ");
      if (!one.classList.contains("length")) text = `for ${text}`;
    } else if (Math.abs(passed) < DAY) {
      const [value, unit] = parts(Math.abs(passed))[0];
      text = relative.format(passed < 0 ? value : -value, unit);
    }
    if (one.textContent !== text) one.textContent = text;
    const utc = one.dateTime.slice(0, 19).replace("T", " ");
    one.title = `${utc} UTC, here ${exact.format(at)}`;
  }

  function showAll(under) {
    if (under.matches?.("time.moment")) show(under);
    for (const one of under.querySelectorAll?.("time.moment") ?? []) show(one);
  }

  showAll(document);
  new MutationObserver((changes) => {
    for (const change of changes) for (const one of change.addedNodes) showAll(one);
  }).observe(document.body, { childList: true, subtree: true });
  setInterval(() => showAll(document), EVERY);

  // Filters with a time of day mean that of the person.
  for (const one of document.querySelectorAll("input[name=zone]")) {
    one.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
  }
})();
