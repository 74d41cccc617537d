// One run: its state and verdict, and its tables and charts as it grows.
import { drawCharts, keepZoom } from "./run_charts.js";
import { crosstable, eloInterval, gamesTable, hidden, standings } from "./run_tables.js";
import { ACTIVE, areShown, kindText, ofText, resultsSwitch, stateText, tellSwitch } from "./runs.js";
import { entitle, fill, follow, get, guarded, h, number, percent, query, readdress, t, update } from "./page.js";

const TABS = ["standings", "crosstable", "games", "charts", "plan"];
const FILTERS = ["player", "result", "forfeit", "opening", "least", "most", "sort", "order", "offset"];
const SLOW_TABS = ["charts", "games"]; // drawn again at most every 2 s

/** Elo with its 95 % interval; only a bound if one side won all games. */
const eloText = ({ elo, elo95 }) =>
  `${t("elo95")}: ${elo == null ? eloInterval(elo95, 1) : `${number(elo, 1)} (${eloInterval(elo95, 1)})`}`;

/** A filter that the server takes: it needs a player for a result. */
const complete = filter => ({ ...filter, result: filter.player ? filter.result : null });

export async function run(main, { path: [name], parameters }) {
  const address = "#/run/" + encodeURIComponent(name);
  let found = await get("runs/" + encodeURIComponent(name)),
    tab = TABS.includes(parameters.get("tab")) ? parameters.get("tab") : "standings",
    filter = complete({
      ...{ sort: "number", order: "asc", offset: 0, limit: 100 },
      ...Object.fromEntries([...parameters].filter(([key]) => FILTERS.includes(key))),
    });
  let drawing = 0, // number of the latest drawing of the tab
    isOther = true, // the tab or its filter has changed
    charts = [],
    showAgain = null;
  const head = h("div", {}),
    body = h("div", { id: "run-body", role: "tabpanel" }),
    buttons = TABS.map(key =>
      h(
        "button",
        {
          role: "tab",
          id: "tab-" + key,
          type: "button",
          "aria-controls": "run-body",
          onclick: () => choose(key),
          onkeydown: event => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!step) return;
            choose(TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length]);
            document.getElementById("tab-" + tab).focus();
          },
        },
        t("tab_" + key),
      ),
    );
  const state = h("p", { id: "run-state" }),
    live = h("p", { id: "run-live" }),
    verdict = h("div");
  const results = resultsSwitch(found, () => {
    showHead();
    showBody();
  });

  function showHead() {
    const test = areShown(found) && found.test;
    tellSwitch(results, [found]);
    state.textContent = [
      ...[found.title || found.game || "", kindText(found.kind), stateText(found.state)],
      `${t("games")}: ${ofText(found)}`,
    ].join(" · ");
    fill(
      verdict,
      test
        ? h(
            "p",
            { id: "verdict" },
            h("b", {}, test.decision ? t("decision_" + test.decision) : found.state === "finished" ? t("inconclusive") : t("undecided")),
            " ",
            [
              `LLR ${number(test.llr, 3)} (${test.bounds.map(b => number(b, 3)).join("; ")})`,
              t("test_of", { a: percent(test.scores[1], 2), b: percent(test.scores[0], 2) }),
              t("blocks", { n: test.blocks }),
              ...(test.elo95 ? [eloText(test)] : []),
            ].join(", "),
          )
        : null,
      found.note && areShown(found) ? h("p", { class: "dim" }, found.note) : null,
    );
    showLive();
  }
  function showLive() {
    const games = found.state === ACTIVE ? found.live || [] : []; // a killed run leaves its last game
    const links = games.flatMap(g => [
      h("a", { href: `#/live/${encodeURIComponent(name)}/${g.number}` }, `#${g.number}`),
      ` (${t("turns", { n: g.turns })}) `,
    ]);
    update(live, h("p", { id: "run-live", hidden: !games.length }, t("live_now") + " ", links));
  }
  const change = changes => {
    filter = complete({ ...filter, offset: 0, ...changes });
    showBody();
  };
  const panels = {
    standings: () => standings(found, areShown(found)),
    crosstable: () => crosstable(found, areShown(found)),
    games: () => gamesTable(found, areShown(found), filter, change),
    charts: async mine => {
      if (!areShown(found)) return hidden();
      const drawn = await drawCharts(name, body.clientWidth);
      if (mine === drawing) keepZoom(charts, drawn.charts);
      for (const chart of mine === drawing ? charts : drawn.charts) chart.destroy();
      if (mine === drawing) charts = drawn.charts;
      return drawn.element;
    },
    plan: () => h("pre", { tabindex: 0, "aria-label": t("tab_plan"), translate: "no" }, JSON.stringify(found.plan, null, 2)),
  };
  /** Draw the tab, in place if only its content has changed. */
  async function showBody(again = false) {
    const mine = ++drawing;
    isOther ||= !again;
    for (const button of buttons) {
      const is = button.id === "tab-" + tab;
      button.setAttribute("aria-selected", String(is));
      button.tabIndex = is ? 0 : -1;
    }
    body.setAttribute("aria-labelledby", "tab-" + tab);
    const shown = tab === "games" ? { tab, ...filter, limit: null } : { tab };
    if (!again) readdress(main, `${address}?${query(shown)}`); // an update must not undo a click on a link
    const made = await panels[tab](mine);
    if (mine !== drawing) return;
    if (!isOther && tab !== "charts") {
      const copy = body.cloneNode();
      fill(copy, made);
      return update(body, copy);
    }
    const focused = body.contains(document.activeElement) ? document.activeElement.id : null;
    fill(body, made);
    isOther = false;
    return focused && document.getElementById(focused)?.focus();
  }
  function choose(key) {
    tab = key;
    showBody();
  }

  fill(head, h("h1", {}, found.name), state, h("p", { class: "actions" }, results), verdict, live);
  main.append(
    h("section", { class: "card" }, head),
    h(
      "section",
      { class: "card" },
      h("div", { class: "tabs", role: "tablist", "aria-label": t("tables") }, buttons),
      body,
    ),
  );
  entitle(main, found.name);
  showHead();
  await showBody();
  const unfollow = follow("run/" + name, {
    state: event => {
      const more = event.run.recorded !== found.recorded || event.run.state !== found.state;
      found = event.run;
      showHead();
      const isSlow = SLOW_TABS.includes(tab);
      if (!more && isSlow) return; // ratings of a finished run come later, into other tabs
      const again = guarded(() => {
        showAgain = null;
        return showBody(true);
      });
      showAgain ??= setTimeout(again, isSlow ? 2000 : 0);
    },
    live: event => {
      found.live = event.live;
      showLive();
    },
    gone: () => {},
  });
  const redraw = guarded(() => tab === "charts" && showBody()); // for their colours and width
  const changes = [
    [document, "themed"],
    [matchMedia("(prefers-color-scheme: dark)"), "change"],
    [window, "resize"],
  ];
  for (const [target, event] of changes) target.addEventListener(event, redraw);
  return () => {
    unfollow();
    for (const [target, event] of changes) target.removeEventListener(event, redraw);
    clearTimeout(showAgain);
    drawing += 1;
    for (const chart of charts) chart.destroy();
  };
}
