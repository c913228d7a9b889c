// Graphs and timelines that can be zoomed and moved, and the page of an instance while that runs. Without this file the
// pages show what they have, as it was.
"use strict";

(() => {
  const MIN = 0.02;
  const MAX = 4;
  const READABLE = 0.55; // below this scale texts are too small to read
  const STEP = 1.25;

  // A picture in its frame, which scrolls.
  class Viewer {
    constructor(frame) {
      this.frame = frame;
      this.holder = document.createElement("div");
      this.holder.className = "viewer";
      frame.before(this.holder);
      this.holder.append(this.bar(), frame);
      this.take();
      frame.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      frame.addEventListener("keydown", (event) => this.key(event));
      frame.addEventListener("dragstart", (event) => event.preventDefault());
      frame.addEventListener("pointerdown", (event) => this.grab(event));
      document.addEventListener("fullscreenchange", () => this.refit());
      this.begin();
    }

    // The picture in the frame is new.
    take() {
      this.svg = this.frame.querySelector("svg");
      const [, , width, height] = this.svg.getAttribute("viewBox").split(" ").map(Number);
      this.size = { width, height };
    }

    bar() {
      const bar = document.createElement("div");
      bar.className = "zoom";
      bar.setAttribute("role", "toolbar");
      bar.setAttribute("aria-label", `View of the ${this.frame.getAttribute("aria-label") || "picture"}`);
      const add = (text, label, act) => {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "quiet";
        button.textContent = text;
        button.title = label;
        button.setAttribute("aria-label", label);
        button.addEventListener("click", act);
        bar.append(button);
        return button;
      };
      add("−", "Zoom out", () => this.zoom(this.scale / STEP));
      this.shown = add("100%", "Full size", () => this.zoom(1));
      add("+", "Zoom in", () => this.zoom(this.scale * STEP));
      add("Fit", "Fit the picture into its frame", () => this.fit());
      this.finder = add("Where it is", "Show where it is, or where it failed", () => this.find());
      if (document.fullscreenEnabled) add("Full screen", "Full screen", () => this.fill());
      return bar;
    }

    begin() {
      const whole = this.fitting();
      this.scale = 0;
      this.isFitted = whole >= READABLE;
      this.zoom(this.isFitted ? whole : READABLE, false);
      if (!this.isFitted) this.find();
    }

    fitting() {
      const { clientWidth, clientHeight } = this.frame;
      const room = document.fullscreenElement === this.holder ? clientHeight : 0.7 * window.innerHeight;
      return Math.min(1, (clientWidth - 8) / this.size.width, room / this.size.height);
    }

    fit() {
      this.zoom(this.fitting(), false);
      this.isFitted = true;
    }

    refit() {
      if (this.isFitted) this.fit();
    }

    // Sets the scale; a point of the frame, by default its middle, keeps what is there.
    zoom(scale, isChosen = true, at = null) {
      const { frame } = this;
      const point = at || { x: frame.clientWidth / 2, y: frame.clientHeight / 2 };
      const before = this.scale || 1;
      this.scale = Math.min(MAX, Math.max(MIN, scale));
      if (isChosen) this.isFitted = false;
      const x = (frame.scrollLeft + point.x) * (this.scale / before) - point.x;
      const y = (frame.scrollTop + point.y) * (this.scale / before) - point.y;
      this.resize();
      frame.scrollTo(x, y);
    }

    resize() {
      this.svg.setAttribute("width", Math.round(this.size.width * this.scale));
      this.svg.setAttribute("height", Math.round(this.size.height * this.scale));
      this.shown.textContent = `${Math.round(100 * this.scale)}%`;
      this.finder.hidden = !this.place();
    }

    // What a person looks for first: what failed, or what is in progress; else where it ended.
    place() {
      const all = (statuses) => [...this.svg.querySelectorAll(statuses.map((one) => `g.part.${one}, g.span.${one}`).join(", "))];
      for (const statuses of [["failed"], ["waiting", "running"], ["stopped"], ["done", "undone"]]) {
        const inner = all(statuses).filter((one) => !one.querySelector(statuses.map((it) => `g.part.${it}`).join(", ")));
        if (inner.length) return inner[inner.length - 1];
      }
      return null;
    }

    find() {
      const found = this.place();
      if (!found) return;
      if (this.scale < READABLE) this.zoom(READABLE);
      const [place, frame] = [found.getBoundingClientRect(), this.frame.getBoundingClientRect()];
      const x = place.left - frame.left - (frame.width - Math.min(place.width, frame.width)) / 2;
      const y = place.top - frame.top - (frame.height - Math.min(place.height, frame.height)) / 2;
      this.frame.scrollBy(x, y);
    }

    fill() {
      if (document.fullscreenElement) document.exitFullscreen();
      else this.holder.requestFullscreen();
    }

    wheel(event) {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = this.frame.getBoundingClientRect();
      this.zoom(this.scale * Math.exp(-event.deltaY / 300), true, { x: event.clientX - box.left, y: event.clientY - box.top });
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const acts = { "+": () => this.zoom(this.scale * STEP), "-": () => this.zoom(this.scale / STEP), 0: () => this.fit() };
      if (!(event.key in acts)) return;
      event.preventDefault();
      acts[event.key]();
    }

    // Drags with the mouse; fingers scroll by themselves.
    grab(event) {
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      const { frame } = this;
      const from = { x: event.clientX + frame.scrollLeft, y: event.clientY + frame.scrollTop };
      let hasMoved = false;
      const move = (now) => {
        if (!hasMoved && Math.hypot(now.clientX - event.clientX, now.clientY - event.clientY) < 5) return;
        hasMoved = true;
        frame.classList.add("moving");
        frame.scrollTo(from.x - now.clientX, from.y - now.clientY);
      };
      const end = () => {
        document.removeEventListener("pointermove", move);
        document.removeEventListener("pointerup", end);
        document.removeEventListener("pointercancel", end);
        frame.classList.remove("moving");
        if (!hasMoved) return;
        const hold = (click) => click.preventDefault(); // what was dragged is not opened
        frame.addEventListener("click", hold, { capture: true });
        setTimeout(() => frame.removeEventListener("click", hold, { capture: true }), 0);
      };
      document.addEventListener("pointermove", move);
      document.addEventListener("pointerup", end);
      document.addEventListener("pointercancel", end);
    }

    // Shows the picture as it is now, at the same scale and place.
    renew(svg) {
      const { scrollLeft, scrollTop } = this.frame;
      const focused = this.frame.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
      this.svg.replaceWith(svg);
      this.take();
      if (this.isFitted) this.scale = this.fitting();
      this.resize();
      this.frame.scrollTo(scrollLeft, scrollTop);
      const again = focused && [...svg.querySelectorAll("a")].find((one) => one.getAttribute("href") === focused);
      if (again) again.focus({ preventScroll: true });
    }
  }

  const viewers = [...document.querySelectorAll(".picture")].filter((one) => one.querySelector("svg")).map((one) => new Viewer(one));

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
      if (answer.ok) show(new DOMParser().parseFromString(await answer.text(), "text/html"));
    }
    isDrawing = false;
  }

  function show(page) {
    const drawn = page.getElementById("drawn");
    if (!drawn) return;
    const frames = [...drawn.querySelectorAll(".picture")];
    if (viewers.length && frames.length === viewers.length) {
      frames.forEach((one, number) => viewers[number].renew(document.adoptNode(one.querySelector("svg"))));
    } else {
      pictures.replaceChildren(document.adoptNode(drawn));
      viewers.splice(0, viewers.length, ...frames.map((one) => new Viewer(one)));
    }
    const [count, place] = [page.getElementById("drawn-count"), document.getElementById("trace-total")];
    if (count && place) place.textContent = count.firstChild.textContent;
  }

  // What a person is writing stays, and so do details that were opened.
  function isInUse(part) {
    const fields = [...part.querySelectorAll("input:not([type=hidden]), textarea, select")];
    return fields.some((one) => one === document.activeElement || ("defaultValue" in one && one.value !== one.defaultValue));
  }

  function keyOf(details, place, all) {
    const row = details.closest("[data-key]");
    return row ? row.dataset.key : `${all.length - place}`;
  }

  function replace(part, html) {
    const before = [...part.querySelectorAll("details")];
    const opened = new Map(before.map((one, place) => [keyOf(one, place, before), one.open]));
    part.innerHTML = html;
    const now = [...part.querySelectorAll("details")];
    now.forEach((one, place) => {
      const key = keyOf(one, place, now);
      if (opened.has(key)) one.open = opened.get(key);
    });
  }

  draw();
  if (!live.dataset.stream) return;
  const refused = document.getElementById("live-refused");

  watch(live.dataset.stream, refused, (source) => {
    source.addEventListener("live", (event) => {
      for (const [id, html] of Object.entries(JSON.parse(event.data))) {
        const part = document.getElementById(id);
        if (part && !isInUse(part)) replace(part, html);
      }
      draw();
    });
    source.addEventListener("end", () => source.close());
  });
})();
