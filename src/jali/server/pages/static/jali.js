// One small script for all pages. Everything works on the server; this saves loading whole pages.
"use strict";

const one = (selector, within = document) => within.querySelector(selector);
const word = () => one("meta[name=csrf]").content;
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
    if (problem.name === "AbortError") return;
    place.textContent = "The server does not answer.";
  }
  place.removeAttribute("aria-busy");
}

// Signing in: a link carries the token behind #, which no server sees.
function signInByLink() {
  if (!location.hash.startsWith("#jali_")) return;
  const form = one("[data-sign-in]");
  if (!form) return location.replace("/sign-in" + location.hash);
  one("#token", form).value = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, "", location.pathname + location.search);
  // A click is asked for: a link of somebody else's must not sign anybody in unseen.
  one("button", form).focus();
}

// Asking.
function askPage(form) {
  const sql = one("#sql", form), explained = one("#explained"), answered = one("#answered");
  const body = () => ({ method: "POST", body: new URLSearchParams(new FormData(form)) });
  const explain = () => {
    if (sql.value.trim()) fetchInto(explained, "/ask/explain", body());
    else explained.replaceChildren();
  };
  const ask = async () => {
    if (!sql.value.trim() || answered.hasAttribute("aria-busy")) return;
    clearTimeout(waits.get("explain"));
    await fetchInto(answered, "/ask/answer", body());
    if (one(".answer, .refused, .waiting", answered)) explained.replaceChildren();
    answered.scrollIntoView({ block: "nearest" });
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter?.value === "ask") ask();
    else explain();
  });
  form.addEventListener("input", (event) => {
    only(form, event.target);
    later("explain", 300, explain);
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
    if (name || fill) later("explain", 100, explain);
  });
}

// A question is paid by one of these three.
const PAYS = ["epsilon", "rho", "within"];
function only(form, field) {
  if (!PAYS.includes(field.name) || !field.value) return;
  for (const name of PAYS) if (name !== field.name) form.elements[name].value = "";
}

function fillIn(form, told) {
  const field = form.elements[told.fill];
  field.value = told.amount;
  if (told.delta) form.elements.delta.value = told.delta;
  only(form, field);
  if (told.fill !== "epsilon") one(".more", form).open = true;
  field.focus();
}

function insert(area, name) {
  const text = /^[A-Za-z_]\w*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
  const before = area.value.slice(0, area.selectionStart);
  area.setRangeText((/[\w")]$/.test(before) ? " " : "") + text, area.selectionStart, area.selectionEnd, "end");
  area.focus();
}

// A question that takes long: its stages, and then its answer.
function follow(card) {
  const source = new EventSource(card.dataset.events);
  source.addEventListener("stage", (event) => {
    const told = JSON.parse(event.data);
    one("[data-stage]", card).textContent = told.stage;
    one("[data-elapsed]", card).textContent = told.elapsed;
  });
  source.addEventListener("end", () => {
    source.close();
    fetchInto(card.parentElement, card.dataset.then);
  });
}

function watch(place) {
  for (const card of place.querySelectorAll("[data-events]")) follow(card);
}

// Streams.
function followStream(place) {
  const source = new EventSource(place.dataset.live);
  source.addEventListener("tick", () => later("tick", 150, () => fetchInto(place, place.dataset.stream)));
  addEventListener("pagehide", () => source.close());
}

// The lab.
const SVG = "http://www.w3.org/2000/svg";
function drawn(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

const percent = (share) => (100 * share).toFixed(1) + " %";
const short = (value) =>
  value >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));

function labPage(room) {
  const people = one("#people"), noise = one("#noise"), loss = one("#loss"), place = one("#curve");
  let told = null, running = null;
  const n = () => 2 ** Number(people.value);
  const load = async (by) => {
    running?.abort();
    running = new AbortController();
    const chosen = by === "loss" ? `epsilon=${10 ** Number(loss.value)}` : `noise=${10 ** Number(noise.value)}`;
    try {
      const answer = await fetch(`/api/v1/lab/reconstruction?n=${n()}&${chosen}`, { signal: running.signal });
      const found = await answer.json();
      if (!answer.ok) throw new Error(found.error.message);
      told = found;
    } catch (problem) {
      if (problem.name !== "AbortError") one("#lab-said").textContent = problem.message;
      return;
    }
    if (by === "loss") noise.value = Math.log10(told.noise);
    else if (told.epsilon) loss.value = Math.log10(told.epsilon);
    say();
  };
  const say = () => {
    one("#people-said").value = told.n.toLocaleString("en");
    one("#noise-said").value = short(told.noise);
    one("#loss-said").value = told.epsilon === null ? "none" : short(told.epsilon);
    const [low, high] = told.interval;
    one("#lab-said").textContent =
      `Recovered ${percent(told.fraction)} of ${told.n.toLocaleString("en")} bits ` +
      `(interval ${percent(low)} to ${percent(high)}); the law says ${percent(told.law)}, guessing gets 50 %.`;
    drawCurve(place, told);
  };
  room.addEventListener("input", (event) => later("lab", 60, () => load(event.target.id)));
  addEventListener("resize", () => told && drawCurve(place, told));
  load("noise");
}

function drawCurve(place, told) {
  const width = Math.max(260, place.clientWidth), height = 280, left = 40, right = 12, top = 22, below = 34;
  const xs = told.curve.map(([x]) => Math.log(x)), first = xs[0], last = xs[xs.length - 1];
  const across = (x) => left + ((Math.min(Math.max(x, first), last) - first) / (last - first)) * (width - left - right);
  const up = (share) => top + ((1 - share) / 0.6) * (height - top - below);
  const svg = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  for (const share of [0.4, 0.6, 0.7, 0.8, 0.9, 1, 0.5]) {
    const kind = share === 0.5 ? "base" : "grid";
    svg.append(drawn("line", { class: kind, x1: left, x2: width - right, y1: up(share), y2: up(share) }));
    svg.append(drawn("text", { class: "tick", x: left - 6, y: up(share) + 4, "text-anchor": "end" }, `${Math.round(100 * share)} %`));
  }
  for (const [value, name] of [[told.sqrt_n, "√n = " + short(told.sqrt_n)], [told.n, "n = " + short(told.n)]]) {
    const x = across(Math.log(value));
    svg.append(drawn("line", { class: "mark", x1: x, x2: x, y1: top, y2: up(0.4) }));
    svg.append(drawn("text", { class: "tick", x, y: top - 8, "text-anchor": "middle" }, name));
  }
  const step = width < 480 ? 2 : 1; // labels must not touch
  for (let power = Math.ceil(first / Math.LN10); power * Math.LN10 <= last; power += step) {
    const x = across(power * Math.LN10), at = x > width - 30 ? "end" : "middle";
    svg.append(drawn("line", { class: "grid", x1: x, x2: x, y1: up(0.4), y2: up(0.4) + 4 }));
    svg.append(drawn("text", { class: "tick", x, y: height - 16, "text-anchor": at }, short(10 ** power)));
  }
  svg.append(drawn("text", { class: "tick", x: width - right, y: height - 2, "text-anchor": "end" }, "noise, standard deviation"));
  const points = told.curve.map(([, share], i) => `${across(xs[i]).toFixed(1)},${up(share).toFixed(1)}`).join(" ");
  svg.append(drawn("polyline", { class: "law", points }));
  const x = across(Math.log(Math.max(told.noise, 1e-9))), [low, high] = told.interval.map((end) => up(Math.max(end, 0.4)));
  for (const [x1, x2, y1, y2] of [[x, x, low, high], [x - 5, x + 5, low, low], [x - 5, x + 5, high, high]])
    svg.append(drawn("line", { class: "whisker", x1, x2, y1, y2 }));
  svg.append(drawn("circle", { class: "measured", cx: x, cy: up(Math.max(told.fraction, 0.4)), r: 4.5 }));
  place.replaceChildren(svg);
}

// Audits: the auditor's own words; a lower bound is cut off, never rounded up.
const LOSSES = ["epsilon", "rho", "delta"];
function cut(value) {
  if (value === null) return "everything";
  if (value <= 0) return "0";
  const scale = 10 ** (2 - Math.floor(Math.log10(value)));
  return String(Number((Math.floor(value * scale + 1e-9) / scale).toPrecision(3)));
}
const exact = (told) => told.interval[0] !== null && told.interval[0] === told.interval[1];
const shown = (told) => (exact(told) ? String(Number(told.found.toPrecision(6))) : "≥ " + cut(told.found));
const weight = (told) =>
  (told.verdict === "violation" ? 1e9 : 0) + (LOSSES.includes(told.kind) ? (told.found ?? 1e6) / (told.claimed || 1e-9) : 0);

async function audit(button) {
  const row = button.closest("tr"), verdict = one(".verdict", row);
  button.disabled = true;
  verdict.textContent = "trying …";
  try {
    const answer = await fetch(button.dataset.audit, { method: "POST", headers: { "X-CSRF-Token": word() } });
    const told = await answer.json();
    if (!answer.ok) throw new Error(`${told.error.message} ${told.error.remedy}`);
    const best = told.audits.reduce((a, b) => (weight(b) > weight(a) ? b : a));
    one(".claimed", row).textContent = `${best.kind} ${Number(best.claimed.toPrecision(6))}`;
    one(".found", row).textContent = shown(best);
    verdict.className = "verdict" + (told.verdict === "violation" ? " alarm" : "");
    verdict.textContent = best.said;
    if (told.audits.length > 1) verdict.append(others(told.audits));
  } catch (problem) {
    verdict.textContent = problem.message;
  }
  button.disabled = false;
}

function others(audits) {
  const made = document.createElement("details"), list = document.createElement("ul");
  const title = document.createElement("summary");
  title.textContent = `all ${audits.length} claims`;
  for (const told of audits) {
    const line = document.createElement("li");
    line.textContent = `${told.name}: ${told.said}`;
    list.append(line);
  }
  made.append(title, list);
  return made;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-audit]"), card = event.target.closest("[data-card]");
  if (button) audit(button);
  if (card && one("#answered")) {
    event.preventDefault();
    fetchInto(one("#answered"), card.href);
  }
});
document.addEventListener("input", (event) => {
  if (!event.target.dataset?.filter) return;
  const wanted = event.target.value.toLowerCase();
  for (const row of document.querySelectorAll(event.target.dataset.filter + " tbody tr"))
    row.hidden = !row.dataset.name.includes(wanted);
});

signInByLink();
watch(document);
for (const [selector, begin] of [["[data-ask]", askPage], ["[data-live]", followStream], ["[data-lab]", labPage]]) {
  const found = one(selector);
  if (found) begin(found);
}
for (const place of document.querySelectorAll("[data-load]")) fetchInto(place, place.dataset.load);
