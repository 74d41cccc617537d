// The page's frame: chooses the view, the language and the theme.
import { Refusal, check, get, guarded, h, keepClear, languages, loadTexts, say, settings, showConnection, t } from "./page.js";
import { lobby } from "./lobby.js";

const views =
  (file, name) =>
  async (...given) => {
    const script = import(file); // fetched when it is first shown
    const loaded = await script.catch(() => check().then(() => Promise.reject(new Refusal(0, t("no_server")))));
    return loaded[name](...given);
  };
const VIEWS = {
  "": lobby,
  play: lobby,
  watch: views("./watch.js", "watch"),
  match: views("./match.js", "match"),
  live: views("./match.js", "match"),
  board: views("./editor.js", "board"),
  review: views("./review.js", "review"),
  runs: views("./runs.js", "runs"),
  run: views("./run.js", "run"),
};
/** The views of a human with a link to a seat. */
const GUEST_VIEWS = { "": views("./guests.js", "guestHome"), match: VIEWS.match };
const SIGNS = { auto: "◐", light: "☼", dark: "☾" }; // all that a phone shows of the theme; of the language, it shows two letters
const LINKS = [
  ["", "play"],
  ["watch", "watch"],
  ["board", "board_view"],
  ["review", "review"],
  ["runs", "runs"],
];
const BELONGS = { play: "", match: "", live: "watch", run: "runs" };
/** The dropped files. The browser reveals them only during the event. */
const entriesOf = transfer =>
  [...transfer.items].map(item => item.webkitGetAsEntry?.() ?? item.getAsFile()).filter(Boolean);
const main = document.getElementById("main");
const FIELDS = ":is(details, select, textarea, input:not([type=file], [type=range]))[id]";
let failed = false,
  leave = null, // ends the shown view, and returns what its next showing needs; null until the view is shown
  kept = null, // {fields, state} of a view that is shown again in another language
  showing = 0,
  games = null;

/** A part of a path; as it is if its escapes are damaged. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
/** The part of the address after #, as {name, path, parameters}. */
function address() {
  const [path, search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  return { name, path: rest.filter(Boolean).map(decoded), parameters: new URLSearchParams(search) };
}

function frame(name) {
  const theme = settings.get("theme", "auto"),
    link = BELONGS[name] ?? name,
    header = document.getElementById("top"),
    focused = header.contains(document.activeElement) ? document.activeElement.id : "";
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  document.getElementById("skip").textContent = t("skip");
  showConnection();
  header.replaceChildren(
    h("a", { class: "brand", href: "#/" }, "quartet"),
    h(
      "nav",
      { "aria-label": t("views") },
      (games?.guest ? [] : LINKS).map(([path, key]) =>
        h("a", { href: "#/" + path, "aria-current": link === path ? "page" : null }, t(key)),
      ),
    ),
    h(
      "div",
      { class: "switches" },
      h(
        "select",
        {
          "aria-label": t("theme"),
          id: "theme",
          onchange: event => {
            settings.set("theme", event.target.value);
            frame(name);
            document.dispatchEvent(new Event("themed"));
          },
        },
        ["auto", "light", "dark"].map(value => h("option", { value, selected: value === theme }, `${SIGNS[value]} ${t("theme_" + value)}`)),
      ),
      h(
        "select",
        {
          "aria-label": t("language"),
          id: "language",
          onchange: guarded(async event => {
            const { value } = event.target;
            try {
              await loadTexts(value);
            } catch {
              frame(name); // the texts and the choice are still the old ones
              check();
              throw new Refusal(0, t("no_server"));
            }
            settings.set("language", value);
            games = null;
            show(true);
          }),
        },
        Object.entries(languages).map(([value, text]) =>
          h(
            "option",
            { value, lang: value, translate: "no", selected: value === document.documentElement.lang },
            `${value.toUpperCase()} ${text}`,
          ),
        ),
      ),
    ),
  );
  if (focused) document.getElementById(focused).focus();
}

/** What a user has opened, ticked, chosen and typed in a view. */
const fieldsOf = view =>
  [...view.querySelectorAll(FIELDS)].map(({ id, open, checked, value }) => ({ id, open, checked, value }));
/** Fill in the fields of the same view again, as the user did. */
function fillIn(fields) {
  for (const { id, open, checked, value } of fields) {
    const field = document.getElementById(id);
    if (!field) continue;
    if (open !== undefined) field.open = open;
    else if (field.checked !== checked) field.click();
    else if (field.value !== value) {
      field.value = value;
      field.dispatchEvent(new Event("change", { bubbles: true }));
    }
  }
}

/** Show the view of the address; `again` if it is the same one in another language. */
async function show(again = false) {
  const turn = ++showing,
    { name, path, parameters } = address();
  if (leave) kept = { fields: fieldsOf(main), state: leave() };
  if (!again) kept = null;
  leave = null;
  failed = false;
  document.title = "quartet";
  const box = h("div"); // a view that is shown too late adds its content to a box that is gone
  main.replaceChildren(box);
  try {
    games ??= await get("games");
    frame(name);
    const known = games.guest ? GUEST_VIEWS : VIEWS,
      view = Object.hasOwn(known, name) && known[name];
    if (!view) throw new Refusal(404, t("no_view"));
    const left = (await view(box, { name, path, parameters, games, kept: kept?.state ?? {} })) ?? (() => {});
    if (turn === showing) {
      leave = left;
      fillIn(kept?.fields ?? []);
      keepClear();
    } else left();
  } catch (error) {
    if (turn !== showing) return;
    if (!(error instanceof Refusal)) throw error;
    failed = true;
    games = error.status === 0 ? null : games;
    frame(name);
    box.append(
      h(
        "section",
        { class: "card" },
        h("h1", {}, t("sorry")),
        h("p", { class: "bad" }, error.message),
        h("a", { href: "#/" }, t("to_start")),
      ),
    );
  }
}

window.addEventListener("hashchange", () => show());
document.addEventListener("reconnected", () => failed && location.reload());
window.addEventListener("unhandledrejection", event => say(String(event.reason?.message || event.reason), true));
document.addEventListener("dragover", event => {
  if ([...event.dataTransfer.types].includes("Files")) event.preventDefault();
});
document.addEventListener("drop", async event => {
  if (![...event.dataTransfer.types].includes("Files")) return;
  event.preventDefault();
  if (games?.guest) return;
  const entries = entriesOf(event.dataTransfer);
  const { droppedFiles, takeFiles } = await import("./logs.js");
  takeFiles(await droppedFiles(entries));
  if (location.hash === "#/review") await show();
  else location.hash = "#/review";
});
document.getElementById("skip").addEventListener("click", event => {
  event.preventDefault();
  main.focus();
});
const loading = loadTexts(settings.get("language", null)),
  asked = get("games").catch(() => null);
await loading;
games = await asked;
await show();
