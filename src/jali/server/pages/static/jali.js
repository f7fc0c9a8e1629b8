// One small script for all pages. Everything works on the server; this saves loading whole pages.
"use strict";

const one = (selector, within = document) => within.querySelector(selector);
const waits = new Map();

function later(name, milliseconds, act) {
  clearTimeout(waits.get(name));
  waits.set(name, setTimeout(act, milliseconds));
}

// Fetch a part of a page; an older request for the same place is given up.
const asked = new WeakMap();
async function fetchInto(place, address, options = {}) {
  asked.get(place)?.abort();
  const control = new AbortController();
  asked.set(place, control);
  place.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address, { ...options, headers: { "X-Jali-Fragment": "1" }, signal: control.signal });
    place.innerHTML = await answer.text(); // made by the server, where every text is escaped
    watch(place);
  } catch (problem) {
    if (problem.name === "AbortError") return false;
    place.textContent = place.dataset.silent ?? "The server does not respond.";
  }
  place.removeAttribute("aria-busy");
  return true;
}

// Signing in: a link carries the token behind #, which no server sees.
function signInByLink() {
  const form = one("[data-sign-in]");
  if (form) sessionStorage.removeItem(DRAFT); // what somebody else may have typed
  if (!location.hash.startsWith("#jali_")) return;
  if (!form) return location.replace("/sign-in" + location.hash);
  one("#token", form).value = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, "", location.pathname + location.search);
  one(".by-link", form).hidden = false;
  // A click is asked for: a link of somebody else's must not sign anybody in unseen.
  one("button", form).focus();
}

// What is typed stays while this tab is open, also on other pages.
const DRAFT = "jali draft";
function keepDraft(form) {
  const fields = new FormData(form);
  fields.delete("csrf");
  sessionStorage.setItem(DRAFT, JSON.stringify([...fields]));
}

function takeUpDraft(form) {
  if (form.elements.sql.value) return keepDraft(form);
  for (const [name, value] of JSON.parse(sessionStorage.getItem(DRAFT) ?? "[]"))
    if (form.elements[name]) form.elements[name].value = value;
  one(".more", form).open ||= [...form.querySelectorAll(".more input")].some((field) => field.value);
}

// Asking.
function askPage(form) {
  const sql = one("#sql", form), explained = one("#explained"), answered = one("#answered");
  const button = one("button[value=ask]", form);
  const body = () => ({ method: "POST", body: new URLSearchParams(new FormData(form)) });
  let last = answered.firstElementChild ? sql.value : null;
  const fade = () => answered.classList.toggle("stale", last !== null && sql.value.trim() !== last.trim());
  const explain = () => {
    if (sql.value.trim()) fetchInto(explained, "/ask/explain", body());
    else explained.replaceChildren();
  };
  const ask = async () => {
    if (!sql.value.trim() || button.disabled) return;
    clearTimeout(waits.get("explain"));
    asked.get(explained)?.abort();
    explained.replaceChildren();
    explained.removeAttribute("aria-busy");
    last = sql.value;
    fade();
    button.disabled = true;
    answered.innerHTML = '<section class="card waiting"><h2>Asking …</h2></section>';
    await fetchInto(answered, "/ask/answer", body());
    button.disabled = false;
    answered.scrollIntoView({ block: "nearest" });
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter?.value === "ask") ask();
    else explain();
  });
  const changed = (wait) => {
    keepDraft(form);
    fade();
    later("explain", wait, explain);
  };
  form.addEventListener("input", (event) => {
    only(form, event.target);
    changed(300);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      ask();
    }
  });
  document.addEventListener("click", (event) => {
    const name = event.target.closest("[data-insert]"), fill = event.target.closest("[data-fill]");
    if (name) insert(sql, name.dataset.insert);
    if (fill) fillIn(form, fill.dataset);
    if (name || fill) changed(100);
  });
  takeUpDraft(form);
  if (sql.value && !explained.firstElementChild && !answered.firstElementChild) explain();
}

// A question is paid by one of these three.
const PAYS = ["epsilon", "rho", "within"];
function only(form, field) {
  if (!PAYS.includes(field.name) || !field.value) return;
  for (const name of PAYS) if (name !== field.name) form.elements[name].value = "";
}

function fillIn(form, values) {
  const field = form.elements[values.fill];
  field.value = values.amount;
  if (values.delta) form.elements.delta.value = values.delta;
  only(form, field);
  if (values.fill !== "epsilon") one(".more", form).open = true;
  field.focus();
}

function insert(area, name) {
  const text = /^[A-Za-z_]\w*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
  const before = area.value.slice(0, area.selectionStart);
  area.setRangeText((/[\w")]$/.test(before) ? " " : "") + text, area.selectionStart, area.selectionEnd, "end");
  area.focus();
}

// A question that takes long: its stages, and then its answer; or that the server has gone.
function follow(card) {
  const source = new EventSource(card.dataset.events);
  let errors = 0;
  const lost = () => {
    source.close();
    card.classList.remove("waiting");
    one("h2", card).textContent = "Reserved, not answered yet";
    one("[data-while]", card).remove();
    one("[data-lost]", card).hidden = false;
  };
  source.addEventListener("stage", (event) => {
    const values = JSON.parse(event.data);
    errors = 0;
    one("[data-stage]", card).textContent = values.stage;
    one("[data-elapsed]", card).textContent = values.elapsed;
  });
  source.addEventListener("end", () => {
    source.close();
    if (card.isConnected) fetchInto(card.parentElement, card.dataset.then);
  });
  source.addEventListener("stop", lost);
  source.addEventListener("error", () => {
    errors += 1;
    if (!card.isConnected) source.close();
    else if (errors >= 3 || source.readyState === EventSource.CLOSED) lost();
  });
}

function watch(place) {
  for (const card of place.querySelectorAll("[data-events]")) follow(card);
  for (const part of place.querySelectorAll("[data-scripted]")) part.hidden = false;
  for (const button of place.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
}

// Streams.
function followStream(place) {
  const source = new EventSource(place.dataset.live);
  source.addEventListener("tick", () => later("tick", 150, () => fetchInto(place, place.dataset.stream)));
  addEventListener("pagehide", () => source.close());
}

// The lab: the server draws; the sliders take their ends from the drawing.
function labPage(form) {
  const place = one("#curve"), SLIDERS = ["people", "noise", "loss"];
  const load = async (by) => {
    const values = new URLSearchParams({ people: form.elements.people.value });
    values.set(by === "loss" ? "loss" : "noise", form.elements[by === "loss" ? "loss" : "noise"].value);
    if (await fetchInto(place, `/lab/curve?${values}`)) say(by);
  };
  const say = (by) => {
    const values = one("[data-curve]", place)?.dataset;
    if (!values) return;
    for (const name of SLIDERS) {
      const slider = form.elements[name];
      if (values[name + "Min"]) [slider.min, slider.max] = [values[name + "Min"], values[name + "Max"]];
      if (name !== by) slider.value = values[name];
      slider.setAttribute("aria-valuetext", values[name + "Text"]);
      one(`#${name}-text`).value = values[name + "Text"];
    }
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => later("lab", 60, () => load(event.target.id)));
}

// Audits: each is a form in a line of the list, which the server writes anew.
async function audit(form) {
  const row = form.closest("tr"), body = new URLSearchParams(new FormData(form));
  one("button", form).disabled = true;
  one(".verdict", row).textContent = "trying …";
  try {
    const options = { method: "POST", body, headers: { "X-Jali-Fragment": "1" } };
    const answer = await fetch(form.action, options), text = await answer.text();
    if (answer.ok) return row.outerHTML = text; // made by the server, where every text is escaped
    one(".verdict", row).innerHTML = text;
  } catch {
    one(".verdict", row).textContent = "The server does not respond.";
  }
  one("button", form).disabled = false;
}

document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
  if ("audit" in event.target.dataset) {
    event.preventDefault();
    audit(event.target);
  }
});
document.addEventListener("click", async (event) => {
  const card = event.target.closest("[data-card]"), copy = event.target.closest("[data-copy]");
  if (card && one("#answered")) {
    event.preventDefault();
    fetchInto(one("#answered"), card.href);
  }
  if (copy) {
    await navigator.clipboard.writeText(one(copy.dataset.copy).textContent);
    copy.textContent = "Copied";
  }
});
document.addEventListener("input", (event) => {
  if (!event.target.dataset?.filter) return;
  const wanted = event.target.value.trim().toLowerCase(), table = one(event.target.dataset.filter);
  let found = 0;
  for (const row of table.tBodies[0].rows) found += !(row.hidden = !row.dataset.name.includes(wanted));
  table.hidden = !found;
  one("[data-nothing]", table.parentElement).hidden = found > 0;
});
addEventListener("hashchange", signInByLink);

signInByLink();
watch(document);
for (const [selector, begin] of [["[data-ask]", askPage], ["[data-live]", followStream], ["[data-lab]", labPage]]) {
  const found = one(selector);
  if (found) begin(found);
}
for (const place of document.querySelectorAll("[data-load]")) {
  place.textContent = place.dataset.loading;
  fetchInto(place, place.dataset.load);
}
