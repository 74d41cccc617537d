// The page's frame: which view is shown, in which language and theme.
import { Refusal, get, h, languages, loadTexts, say, settings, t } from "./page.js";
import { lobby } from "./lobby.js";

const views =
  (file, name) =>
  async (...given) =>
    (await import(file))[name](...given); // fetched when it is first shown
const VIEWS = {
  "": lobby,
  play: lobby,
  watch: views("./match.js", "watch"),
  match: views("./match.js", "match"),
  live: views("./match.js", "match"),
  review: views("./review.js", "review"),
  runs: views("./runs.js", "runs"),
  run: views("./runs.js", "run"),
};
const LINKS = [
  ["", "play"],
  ["watch", "watch"],
  ["review", "review"],
  ["runs", "runs"],
];
const BELONGS = { play: "", match: "", live: "watch", run: "runs" };
/** What was dropped; it can be asked for only at once. */
const entriesOf = transfer =>
  [...transfer.items].map(item => item.webkitGetAsEntry?.() ?? item.getAsFile()).filter(Boolean);
const main = document.getElementById("main");
let leave = null,
  showing = 0,
  games = null;

/** The address behind #: {name, path, parameters}. */
function address() {
  const [path, search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  return { name, path: rest.map(decodeURIComponent), parameters: new URLSearchParams(search) };
}

function frame(name) {
  const theme = settings.get("theme", "auto"),
    link = BELONGS[name] ?? name;
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  document.getElementById("skip").textContent = t("skip");
  document.getElementById("offline").textContent = t("offline");
  document.getElementById("top").replaceChildren(
    h("a", { class: "brand", href: "#/" }, "quartet"),
    h(
      "nav",
      { "aria-label": t("views") },
      LINKS.map(([path, key]) => h("a", { href: "#/" + path, "aria-current": link === path ? "page" : null }, t(key))),
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
        ["auto", "light", "dark"].map(value => h("option", { value, selected: value === theme }, t("theme_" + value))),
      ),
      h(
        "select",
        {
          "aria-label": t("language"),
          id: "language",
          onchange: async event => {
            settings.set("language", event.target.value);
            await loadTexts();
            show();
          },
        },
        Object.entries(languages).map(([value, text]) =>
          h("option", { value, lang: value, selected: value === document.documentElement.lang }, text),
        ),
      ),
    ),
  );
}

async function show() {
  const turn = ++showing,
    { name, path, parameters } = address();
  if (leave) leave();
  leave = null;
  frame(name);
  document.title = "quartet";
  const view = VIEWS[name];
  main.replaceChildren();
  try {
    if (!view) throw new Refusal(404, t("no_view"));
    games ??= await get("games");
    const left = await view(main, { name, path, parameters, games });
    if (turn === showing) leave = left;
    else if (left) left();
  } catch (error) {
    if (turn !== showing) return;
    if (!(error instanceof Refusal)) throw error;
    games = error.status === 0 ? null : games;
    main.append(
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
window.addEventListener("unhandledrejection", event => say(String(event.reason?.message || event.reason), true));
document.addEventListener("dragover", event => {
  if ([...event.dataTransfer.types].includes("Files")) event.preventDefault();
});
document.addEventListener("drop", async event => {
  // a log may be dropped on every view
  if (![...event.dataTransfer.types].includes("Files")) return;
  event.preventDefault();
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
const asked = get("games").catch(() => null);
await loadTexts();
games = await asked;
await show();
