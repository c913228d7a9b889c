// The list of instances: it refreshes itself and keeps the selection. Without this file it is shown as it was.
"use strict";

(() => {
  const list = document.getElementById("list");
  if (!list?.dataset.stream) return;
  const refused = document.getElementById("list-refused");
  const chosen = document.getElementById("chosen");
  const kept = new Set();
  const boxes = () => [...list.querySelectorAll("input[name=instance]")];

  function show() {
    const all = boxes();
    const number = all.filter((one) => one.checked).length;
    const head = document.getElementById("choose-all");
    if (head) {
      head.hidden = false;
      head.checked = number > 0 && number === all.length;
      head.indeterminate = number > 0 && number < all.length;
    }
    if (chosen) chosen.textContent = `${number} selected`;
  }

  function note() {
    for (const one of boxes()) {
      if (one.checked) kept.add(one.value);
      else kept.delete(one.value);
    }
    show();
  }

  list.addEventListener("change", (event) => {
    if (event.target.id === "choose-all") for (const one of boxes()) one.checked = event.target.checked;
    note();
  });

  function replace(html) {
    const focused = document.activeElement;
    const href = list.contains(focused) ? focused.getAttribute("href") : null;
    const value = list.contains(focused) && focused.name === "instance" ? focused.value : null;
    const id = list.contains(focused) ? focused.id : "";
    list.innerHTML = html;
    for (const one of boxes()) one.checked = kept.has(one.value);
    const same = [...list.querySelectorAll("a, input")].find((one) =>
      (href && one.getAttribute("href") === href) || (value && one.value === value) || (id && one.id === id));
    same?.focus({ preventScroll: true });
    show();
  }

  note();
  watch(list.dataset.stream, refused, (source) => {
    source.addEventListener("live", (event) => replace(JSON.parse(event.data).list));
  });
})();
