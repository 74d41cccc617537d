// What every view uses: elements, texts in the reader's language, requests, events.
import { glyph, seatClass, svg } from "./board.js";

/** An element with properties and children; strings become text, never markup. */
export function h(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value == null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (key in made && !key.includes("-") && key !== "list" && key !== "form") made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(9).filter(child => child != null && child !== false));
  return made;
}

/** Replace what is in an element; what is null or false is left away. */
export const fill = (element, ...children) =>
  element.replaceChildren(...children.flat(9).filter(child => child != null && child !== false));

export const languages = { en: "English", ru: "Русский", ko: "한국어" };
export const settings = {
  get(name, otherwise) {
    try {
      return JSON.parse(localStorage.getItem("quartet." + name)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem("quartet." + name, JSON.stringify(value));
    } catch {
      /* a private window may have no storage */
    }
  },
};

let table = {};
export async function loadTexts() {
  const known = settings.get("language", null);
  const wanted = [known, ...navigator.languages.map(l => l.slice(0, 2))].find(l => languages[l]) || "en";
  document.documentElement.lang = wanted;
  table = await (await fetch(`static/messages/${wanted}.json`)).json();
}

/** The text of a key, with {name} filled in. */
export function t(key, values = {}) {
  return (table[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}
export const known = key => key in table;

export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(method, path, body, type = "application/json") {
  let answer;
  try {
    answer = await fetch("api/" + path, {
      method,
      body: body === undefined ? undefined : type === "application/json" ? JSON.stringify(body) : body,
      headers: method === "GET" ? {} : { "Content-Type": type },
    });
  } catch {
    throw new Refusal(0, t("no_server"));
  }
  const text = await answer.text();
  let data = {};
  try {
    data = text ? JSON.parse(text) : {};
  } catch {
    data = { error: text.slice(0, 200) };
  }
  if (!answer.ok) throw new Refusal(answer.status, data.error || `${answer.status}`);
  return data;
}
export const get = path => ask("GET", path);
export const post = (path, body = {}) => ask("POST", path, body);
export const remove = path => ask("DELETE", path);
export const send = (path, bytes) => ask("POST", path, bytes, "application/octet-stream");
export const query = values =>
  new URLSearchParams(Object.entries(values).filter(([, v]) => v != null && v !== "")).toString();

/** The one stream of events of this tab: who follows what. */
const following = new Map();
let stream = null,
  due = null;
export function follow(topic, handlers) {
  following.set(topic, handlers);
  reopen();
  return () => {
    if (following.get(topic) === handlers) following.delete(topic);
    reopen();
  };
}
function reopen() {
  // once for all changes of this turn of the loop
  due ??= setTimeout(() => {
    due = null;
    if (stream) stream.close();
    stream = null;
    offline(false);
    if (!following.size) return;
    stream = new EventSource(
      "api/events?" + [...following.keys()].map(topic => "topic=" + encodeURIComponent(topic)).join("&"),
    );
    stream.onerror = () => offline(true);
    stream.onopen = () => offline(false);
    for (const name of EVENTS) {
      stream.addEventListener(name, event => {
        const data = JSON.parse(event.data),
          handlers = following.get(data.topic);
        if (handlers && handlers[name]) handlers[name](data);
      });
    }
  }, 0);
}
const EVENTS = ["state", "turn", "asking", "thinking", "pace", "end", "live", "failed", "line", "gone"];
function offline(is) {
  document.getElementById("offline").hidden = !is;
}

/** A line for everybody, at the foot; it goes by itself. */
let fading = null;
export function say(text, bad = false) {
  const line = document.getElementById("said");
  line.textContent = text;
  line.className = bad ? "bad" : "";
  clearTimeout(fading);
  fading = setTimeout(() => {
    line.textContent = "";
  }, 8000);
}
/** What a handler does, its refusal said aloud. */
export const guarded =
  act =>
  async (...given) => {
    try {
      return await act(...given);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      say(error.message, true);
      return undefined;
    }
  };

/** A seat's mark and name. */
export function seatTag(seat, text) {
  const mark = svg(null, "svg", { viewBox: "-1 -1 2 2", class: "mark", "aria-hidden": "true" });
  svg(mark, "circle", { cx: 0, cy: 0, r: 1, class: "mark-ground" });
  glyph(mark, seat, 0, 0, 0.55);
  return h("span", { class: "seat " + seatClass(seat) }, mark, text);
}
export const who = (view, seat) => {
  const player = view.players[seat],
    label = view.labels[seat];
  return player && player !== label ? `${label} ${player}` : label;
};

export const number = (x, digits = 2) => (x == null ? "–" : String(Math.round(x * 10 ** digits) / 10 ** digits));
export const percent = (x, digits = 1) => (x == null ? "–" : (100 * x).toFixed(digits) + " %");
export const many = n =>
  n == null ? "–" : n >= 1e6 ? (n / 1e6).toFixed(1) + "M" : n >= 1e3 ? Math.round(n / 1e3) + "k" : String(n);
export const duration = ms => {
  if (ms == null) return "–";
  const s = Math.max(0, ms) / 1000;
  return s >= 60
    ? `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")}`
    : s.toFixed(s < 20 ? 1 : 0) + " s";
};
/** A turn's move, as a list shows it. */
export const moveText = turn => (turn.move === "-" ? t("no_move") : turn.move);
export const isFoul = turn => !["ok", "pass", "resigned"].includes(turn.verdict);

/** A source as the address has it, and back. */
export function sourceQuery(source) {
  const { run, number: n, match, log, step, moves, game, position } = source;
  return query({
    match,
    log,
    run,
    number: n,
    game,
    position,
    step,
    moves: moves && moves.length ? moves.join(";") : null,
  });
}
export function sourceFrom(parameters) {
  const found = {};
  for (const key of ["match", "log", "run", "game", "position"])
    if (parameters.has(key)) found[key] = parameters.get(key);
  for (const key of ["number", "step"]) if (parameters.has(key)) found[key] = +parameters.get(key);
  if (parameters.get("moves")) found.moves = parameters.get("moves").split(";");
  return found;
}
