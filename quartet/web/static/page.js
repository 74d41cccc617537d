// Shared by all views: elements, texts in the user's language, requests, events.
import { glyph, seatClass, svg, usualQuarters } from "./board.js";
import { loading, parsed, t, word } from "./language.js";
export { capital, duration, known, languages, loadTexts, many, moment, number, percent, seconds, t, word } from "./language.js";

/** An element with properties and children; strings become text, never markup. */
export function h(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value == null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (key in made && !key.includes("-") && !["list", "form", "translate"].includes(key)) made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(9).filter(child => child != null && child !== false));
  return made;
}

/** Replace the content of an element; null and false are omitted. The focus goes to the new control with the old one's
    id, else to the first one. */
export function fill(element, ...children) {
  const focused = document.activeElement,
    had = focused !== element && element.contains(focused);
  element.replaceChildren(...children.flat(9).filter(child => child != null && child !== false));
  if (!had) return;
  const again = focused.id && element.querySelector("#" + CSS.escape(focused.id));
  (again || element.querySelector("button, a[href], input, select"))?.focus({ preventScroll: true });
}

/** Make an element like another one, in place: focus, clicks, scroll positions and what a user has typed survive. */
export function update(old, made) {
  if (old.nodeName !== made.nodeName) return old.replaceWith(made);
  if (old.nodeType === Node.TEXT_NODE) return old.data === made.data || (old.data = made.data);
  for (const { name } of [...old.attributes]) if (!made.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of made.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const there = [...old.childNodes],
    wanted = [...made.childNodes];
  there.forEach((child, i) => (i < wanted.length ? update(child, wanted[i]) : child.remove()));
  return old.append(...wanted.slice(there.length));
}

/** A table: columns are {title, value(row, i), kind: "n" for numbers}. */
export const table = (columns, rows, extra = {}) =>
  h(
    "table",
    extra,
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        columns.map(c => h("th", { class: c.kind || "", scope: "col" }, c.title)),
      ),
    ),
    h(
      "tbody",
      {},
      rows.map((row, i) =>
        h(
          "tr",
          {},
          columns.map(c => h("td", { class: c.kind || "" }, c.value(row, i))),
        ),
      ),
    ),
  );

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

/** Quarter turns of a game's board: as the user has turned it last, else as it fits the screen. */
export const quartersOf = (game, board) => settings.get("quarters." + game, null) ?? usualQuarters(board);

/** A checkbox that is kept as a setting. */
export const settingBox = (id, key, setting, checked, changed) =>
  h(
    "label",
    { class: "check" },
    h("input", {
      type: "checkbox",
      id,
      checked,
      onchange: event => {
        settings.set(setting, event.target.checked);
        changed();
      },
    }),
    " ",
    t(key),
  );

const SPEEDS = [0, 250, 500, 1000, 2000]; // milliseconds per move
/** A list of speeds at which a user can follow moves; `changed` gets the choice, which is kept as a setting. */
export const speedBox = (value, changed) => {
  const choice = h(
    "select",
    {
      id: "speed",
      onchange: () => {
        settings.set("speed", +choice.value);
        changed?.(+choice.value);
      },
    },
    SPEEDS.map(ms => h("option", { value: ms, selected: ms === value }, t("speed_" + ms))),
  );
  return h("label", { class: "check" }, t("pace_speed"), " ", choice);
};
/** Milliseconds per move. */
export const speed = () => settings.get("speed", 500);

export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(method, path, body, type = "application/json") {
  let answer, text;
  try {
    answer = await fetch("api/" + path, {
      method,
      body: body === undefined ? undefined : type === "application/json" ? JSON.stringify(body) : body,
      headers: method === "GET" ? {} : { "Content-Type": type },
    });
    text = await answer.text();
  } catch {
    lose("offline");
    throw new Refusal(0, t("no_server"));
  }
  await loading;
  if (isGuarded(answer)) lose("access_lost");
  let data = {};
  try {
    data = text ? parsed(text) : {};
  } catch {
    data = { error: word(text.trim().slice(0, 200)) };
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

/** Handlers by topic. All topics share the one event stream of this tab. */
const following = new Map();
let stream = null,
  due = null,
  checking = null;
const PAUSE = 2000; // ms between two checks of the server
export function follow(topic, handlers) {
  following.set(topic, handlers);
  reopen();
  return () => {
    if (following.get(topic) === handlers) following.delete(topic);
    reopen();
  };
}
function reopen() {
  // once for all changes in this task of the event loop
  due ??= setTimeout(() => {
    due = null;
    if (stream) stream.close();
    stream = null;
    if (!following.size) return;
    stream = new EventSource(
      "api/events?" + [...following.keys()].map(topic => "topic=" + encodeURIComponent(topic)).join("&"),
    );
    stream.onerror = ({ target }) => {
      if (target.readyState === EventSource.CLOSED) {
        clearTimeout(checking); // the server refuses the stream, so asking again at once would not help
        checking = setTimeout(check, PAUSE);
      } else lose("offline");
    };
    stream.onopen = found;
    for (const name of EVENTS) {
      stream.addEventListener(name, event => {
        const data = parsed(event.data),
          handlers = following.get(data.topic);
        if (handlers && handlers[name]) handlers[name](data);
      });
    }
  }, 0);
}
const EVENTS = ["state", "turn", "asking", "thinking", "pace", "end", "rematch", "live", "failed", "line", "gone"];

/** Why the server cannot be used, as a key of the texts; empty if it can. */
let lost = "";
/** True for the answer to a request without a valid token. */
const isGuarded = answer => answer.status === 403 && !answer.headers.get("content-type").includes("json");
function lose(why) {
  lost = why;
  showConnection();
}
function found() {
  const was = lost;
  lose("");
  if (was) document.dispatchEvent(new Event("reconnected"));
}
/** Say whether the server can be used. */
export function showConnection() {
  const line = document.getElementById("offline"),
    text = lost && t(lost);
  line.hidden = !lost;
  if (line.textContent !== text) line.textContent = text;
}
/** Ask the server for something small. */
export async function check() {
  try {
    if (isGuarded(await fetch("static/icon.svg"))) return lose("access_lost");
  } catch {
    return lose("offline");
  }
  if (stream && stream.readyState !== EventSource.OPEN) reopen();
  return found();
}
let ticks = 0;
setInterval(() => {
  ticks += 1; // a tab without a stream learns only so whether the server is there
  if (lost || (!stream && !document.hidden && ticks % 5 === 0)) check();
}, PAUSE);

/** Show another address without a step in the history, unless the user has left the view. */
export const readdress = (main, address) => main.isConnected && history.replaceState(null, "", address);
/** Name the tab after a view, unless the user has left it. */
export const entitle = (main, title) => main.isConnected && (document.title = `${title} – quartet`);

/** Show a message at the foot of the page for 8 s. */
let fading = null;
export function say(text, bad = false) {
  const line = document.getElementById("said");
  line.textContent = text;
  line.className = bad ? "bad" : "";
  keepClear();
  clearTimeout(fading);
  fading = setTimeout(() => {
    line.textContent = "";
  }, 8000);
}
/** Remove a message if it is still shown. */
export const unsay = text => text && document.getElementById("said").textContent === text && say("");
/** Put the message where it covers no control. */
export function keepClear() {
  const line = document.getElementById("said");
  const controls = [...document.querySelectorAll("a, button, input, select, summary, .board")]
    .filter(control => control.checkVisibility())
    .map(control => control.getBoundingClientRect());
  const { left, right, height } = line.getBoundingClientRect();
  const isFree = top =>
    controls.every(box => box.right <= left || box.left >= right || box.bottom <= top || box.top >= top + height);
  const tops = Array.from({ length: Math.floor((innerHeight - height) / 4) }, (_, i) => 4 * i);
  line.style.top = `${scrollY + (tops.find(isFree) ?? 0)}px`; // it scrolls with them
}
/** A handler that shows the message of a refused request. */
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
  return player && player !== label ? t("who", { label, player: word(player) }) : label;
};

/** The name and players of a game in a list. */
export const gameTitle = ({ games }, { game, players }) =>
  [games.find(g => g.name === game)?.title || game, players.filter(Boolean).map(word).join(", ")].filter(Boolean).join(": ");
/** A turn's move as text. */
export const moveText = ({ move, parts }) => (move === "-" ? t("no_move") : parts?.[0] === "pass" ? t("pass") : move);
/** The moves of a line as text. */
export const lineText = (line, parts = []) => line.map((move, i) => moveText({ move, parts: parts[i] })).join(" · ");
export const isForfeit = turn => !["ok", "pass", "resigned"].includes(turn.verdict);

/** A source as the query of an address, and back. */
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
/** A whole number in an address; null if it is none. */
export const whole = text => (/^\d+$/.test(text) ? +text : null);
export function sourceFrom(parameters) {
  const found = {};
  for (const key of ["match", "log", "run", "game", "position"])
    if (parameters.has(key)) found[key] = parameters.get(key);
  for (const key of ["number", "step"]) {
    const value = whole(parameters.get(key));
    if (value != null) found[key] = value;
  }
  if (parameters.get("moves")) found.moves = parameters.get("moves").split(";");
  return found;
}

/** How a game ended, in one sentence. */
export function resultText(view) {
  const { result } = view;
  if (!result) return "";
  const first = result.places.flatMap((place, seat) => (place === 1 ? [who(view, seat)] : []));
  const won = first.length === 1 ? t("won", { who: first[0] }) : t("shared", { who: first.join(", ") });
  return result.reason && !["score", "draw"].includes(result.termination)
    ? `${won} ${t("because", { reason: result.reason })}`
    : won;
}

/** The name of the file with a game's log. */
export const logName = view =>
  [view.game, new Date(view.started ? 1000 * view.started : Date.now()).toISOString().slice(0, 10), ...view.players.filter(p => p != null)]
    .map(word => word.replace(/[^\p{L}\p{N}._]+/gu, "-"))
    .join("-") + ".txt";

/** A button that acts at the second click, within 5 s after the first. */
export function confirmed(id, key, sureKey, act) {
  let timer = null;
  const reset = () => {
    clearTimeout(timer);
    timer = null;
    made.textContent = t(key);
  };
  const made = h(
    "button",
    {
      id,
      type: "button",
      onclick: guarded(async () => {
        if (timer !== null) {
          reset();
          return act();
        }
        made.textContent = t(sureKey);
        timer = setTimeout(reset, 5000);
        return undefined;
      }),
    },
    t(key),
  );
  return made;
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    say(t("copied"));
  } catch {
    say(text); // an address without encryption has no clipboard
  }
}
/** A button that copies the page's address. */
export const copyLink = () =>
  h("button", { type: "button", id: "share", onclick: () => copyText(location.href) }, t("share"));
