// Texts and numbers in the user's language. The page's own texts have keys; those of the server and of games are
// translated by their English.
export const languages = { en: "English", ru: "Русский", ko: "한국어" };
let texts = {},
  words = new Map(),
  phrases = [];
const language = () => document.documentElement.lang;

/** Done when the texts are there; answers of the server wait for it. */
export let loading = Promise.resolve();
/** Load the texts of the preferred language; without one, of the browser's. The last call counts; if it fails, the
    texts stay as they were. */
export function loadTexts(preferred) {
  const wanted = load(preferred);
  loading = wanted.catch(() => {});
  return wanted;
}
let latest = 0;
async function load(preferred) {
  const mine = ++latest;
  const wanted = [preferred, ...navigator.languages.map(l => l.slice(0, 2))].find(l => languages[l]) || "en";
  const [own, others] = await Promise.all(
    [`static/messages/${wanted}.json`, `api/words/${wanted}`].map(async path => {
      const answer = await fetch(path);
      return answer.ok ? answer.json() : {};
    }),
  );
  if (mine !== latest) return;
  document.documentElement.lang = wanted;
  texts = own;
  words = new Map(Object.entries(others));
  const literal = text => text.replaceAll("{}", "").length,
    open = text => /^(\{\}|\S+ \{\}$)/.test(text); // it would take "line 5: " or "FIRST " before a sentence for a part of it
  phrases = Object.entries(others)
    .filter(([english]) => english.includes("{}"))
    .sort(([a], [b]) => open(a) - open(b) || literal(b) - literal(a))
    .map(([english, own]) => {
      const parts = english.split("{}").map(part => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      return [new RegExp(`^${parts.join("([^]*?)")}$`), own];
    });
}

/** The text of a key, with {name} filled in; [s] is an s unless {n} is 1. */
export const t = (key, values = {}) =>
  (texts[key] ?? key)
    .replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "")
    .replace(/\[s\]/g, String(values.n) === "1" ? "" : "s");
export const known = key => key in texts;

/** A text of the server or of a game; English if nothing translates it. */
export function word(text) {
  if (!words.size || typeof text !== "string") return text;
  if (!words.has(text)) words.set(text, phrase(text));
  return words.get(text);
}
function phrase(text) {
  for (const [pattern, own] of phrases) {
    const found = pattern.exec(text);
    if (found) return own.replace(/\{(\d)\}/g, (_, n) => (/^\d+\.\d+$/.test(found[n]) ? pointed(found[n]) : word(found[n])));
  }
  return text;
}

export const capital = text => text.slice(0, 1).toUpperCase() + text.slice(1);

const TEXTS = new Set(["title", "score_name", "help", "error", "reason", "complaint", "note", "outcome"]);
const LISTS = new Set(["labels", "notes"]);
/** A text with its plies and seats counted from 1, as on the page; the server counts from 0. What a program has said
    comes after the judge's first ply, and stays. */
const counted = text =>
  text.replace(/^[^]*?\b(at|of) ply \d+(, where seat \d+ has ply \d+)?/, found =>
    found.replace(/\b(ply|seat) (\d+)/g, (_, kind, n) => `${kind} ${+n + 1}`),
  );
/** The outcome of a run: names, each with a number behind it. */
const outcome = text => text.replace(/(?<= )-?\d+\.\d+(?=e| %|,|$)/g, pointed);
const shown = (text, key) => (typeof text !== "string" ? text : key === "outcome" ? outcome(word(text)) : word(counted(text)));
/** Parse an answer of the server; its texts are counted and translated. */
export const parsed = json =>
  JSON.parse(json, (key, value) =>
    TEXTS.has(key) ? shown(value, key) : LISTS.has(key) && Array.isArray(value) ? value.map(text => shown(text)) : value,
  );

// a negative number that rounds to 0 has no sign
const local = (x, least, most) =>
  (Math.abs(x) < 0.5 / 10 ** most ? 0 : x).toLocaleString(language(), { minimumFractionDigits: least, maximumFractionDigits: most, useGrouping: false }).replace("-", "−");
/** A number with a decimal point as the language writes it. */
const pointed = text => text.replace(".", local(0.5, 1, 1)[1]);
export const number = (x, digits = 2, least = 0) => (x == null ? "–" : local(x, least, digits));
export const percent = (x, digits = 1) => (x == null ? "–" : local(100 * x, digits, digits) + " %");
/** A large number in short, with three digits. */
export const many = n =>
  n == null ? "–" : n.toLocaleString(language(), { notation: "compact", maximumSignificantDigits: 3 });
/** A time in seconds since 1970. */
export const moment = s => new Date(1000 * s).toLocaleString(language(), { dateStyle: "medium", timeStyle: "short" });
export const seconds = (s, digits = 1) => (s == null ? "–" : t("seconds", { s: local(s, digits, digits) }));
export const duration = ms => {
  if (ms == null) return "–";
  const s = Math.max(0, ms) / 1000;
  return s >= 60 ? `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")}` : seconds(s, s < 20 ? 1 : 0);
};
