// The list of runs. Results stay hidden until the user asks for them.
import { follow, get, h, known, moment, settingBox, settings, t, table, update, word } from "./page.js";

/** The state that the server gives a run while a process plays it. */
export const ACTIVE = "goes on";
export const stateText = state =>
  ({ [ACTIVE]: t("run_goes_on"), finished: t("run_finished"), stopped: t("run_stopped") })[state] || word(state);
export const kindText = kind => (known("kind_" + kind) ? t("kind_" + kind) : kind);
export const ofText = run =>
  run.of ? t("n_of", { n: run.recorded ?? run.games, of: run.of }) : String(run.recorded ?? run.games);

/** True if the results of a run are shown: as the user has set it; else if the run has ended. */
export const areShown = run => settings.get("results", run.state !== ACTIVE);

/** The checkbox that shows results; `changed` draws again. */
export const resultsSwitch = (run, changed) => settingBox("results", "show_results", "results", areShown(run), changed);
/** Let the checkbox tell which of some runs have their results shown. */
export function tellSwitch(results, runs) {
  const box = results.querySelector("input");
  box.checked = runs.every(areShown);
  box.indeterminate = !box.checked && runs.some(areShown);
}

export async function runs(main, { games }) {
  const box = h("div", {}),
    results = resultsSwitch({}, show);
  let lines = null;
  const titles = Object.fromEntries(games.games.map(g => [g.name, g.title]));
  function show() {
    if (!lines) return;
    const shown = lines.some(areShown);
    tellSwitch(results, lines);
    const made = h(
      "div",
      { class: "scroll", tabindex: 0, "aria-label": t("runs") },
      lines.length
        ? table(
            [
              { title: t("run"), value: r => h("a", { href: "#/run/" + encodeURIComponent(r.name) }, r.name), kind: "name" },
              ...(shown ? [{ title: t("outcome"), value: r => (areShown(r) && r.outcome) || "" }] : []),
              { title: t("games"), value: r => ofText(r), kind: "n" },
              { title: t("state"), value: r => stateText(r.state) },
              { title: t("players"), value: r => (r.players || []).map(word).join(", ") },
              { title: t("game"), value: r => titles[r.game] || r.game || "" },
              { title: t("kind"), value: r => kindText(r.kind) },
              { title: t("changed"), value: r => (r.last ? moment(Date.parse(r.last.replace(" ", "T") + "Z") / 1000) : "") },
            ],
            lines,
            { id: "runs-table" },
          )
        : h("p", { class: "dim" }, t("no_runs")),
    );
    update(box, made);
  }
  main.append(
    h("section", { class: "card" }, h("h1", {}, t("runs")), h("p", { class: "actions" }, results), box),
  );
  if (!games.runs) {
    lines = [];
    show();
    return null;
  }
  lines = (await get("runs")).runs;
  show();
  return follow("runs", {
    state: event => {
      lines = event.runs;
      show();
    },
  });
}

