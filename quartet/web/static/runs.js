// The runs: what there are, and of one its tables, games and curves, as they grow. Results stay hidden until they are wanted.
import { fill, follow, get, guarded, h, many, number, percent, query, seatTag, settings, t } from "./page.js";

const encode = encodeURIComponent;
const table = (columns, rows, extra = {}) =>
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
      rows.map(row =>
        h(
          "tr",
          {},
          columns.map(c => h("td", { class: c.kind || "" }, c.value(row))),
        ),
      ),
    ),
  );
const stateText = state =>
  ({ "goes on": t("run_goes_on"), finished: t("run_finished"), stopped: t("run_stopped") })[state] || state;
const ofText = run =>
  run.of ? t("n_of", { n: run.recorded ?? run.games, of: run.of }) : String(run.recorded ?? run.games);

/** Whether results are shown, and the switch for it. */
function resultsSwitch(changed) {
  return h(
    "label",
    { class: "check" },
    h("input", {
      type: "checkbox",
      id: "results",
      checked: settings.get("results", false),
      onchange: event => {
        settings.set("results", event.target.checked);
        changed();
      },
    }),
    " ",
    t("show_results"),
  );
}

export async function runs(main, { games }) {
  const box = h("div", { class: "scroll", tabindex: 0, "aria-label": t("runs") });
  let lines = null;
  const titles = Object.fromEntries(games.games.map(g => [g.name, g.title]));
  function show() {
    if (!lines) return;
    const shown = settings.get("results", false);
    fill(
      box,
      lines.length
        ? table(
            [
              { title: t("run"), value: r => h("a", { href: "#/run/" + encode(r.name) }, r.name) },
              { title: t("kind"), value: r => r.kind },
              { title: t("game"), value: r => titles[r.game] || r.game || "" },
              { title: t("players"), value: r => (r.players || []).join(", ") },
              { title: t("games"), value: r => ofText(r), kind: "n" },
              { title: t("state"), value: r => stateText(r.state) },
              { title: t("changed"), value: r => r.last || "" },
              ...(shown ? [{ title: t("outcome"), value: r => r.outcome || "" }] : []),
            ],
            lines,
            { id: "runs-table" },
          )
        : h("p", { class: "dim" }, t("no_runs")),
    );
  }
  main.append(
    h("section", { class: "card" }, h("h1", {}, t("runs")), h("p", { class: "actions" }, resultsSwitch(show)), box),
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

let plotting = null;
/** uPlot, when it is first needed. */
function plotter() {
  plotting ??= new Promise((done, failed) => {
    document.head.append(
      h("link", { rel: "stylesheet", href: "static/vendor/uPlot.css" }),
      h("script", {
        src: "static/vendor/uPlot.js",
        onload: () => done(window.uPlot),
        onerror: () => failed(new Error("uPlot")),
      }),
    );
  });
  return plotting;
}
const colour = name => {
  const probe = h("span", {});
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};

/** Elo with its interval of 95 %; where all games went one way, its bound. */
const eloText = ([elo, low, high]) =>
  elo != null
    ? `Elo ${number(elo, 1)} (${number(low, 1)} … ${number(high, 1)})`
    : low != null
      ? `Elo > ${number(low, 1)}`
      : `Elo < ${number(high, 1)}`;

export async function run(main, { path: [name], parameters }) {
  const at = "runs/" + encode(name),
    tabs = ["standings", "crosstable", "games", "charts", "plan"];
  let found = await get(at),
    tab = tabs.includes(parameters.get("tab")) ? parameters.get("tab") : "standings";
  let filter = {
    sort: "number",
    order: "asc",
    offset: 0,
    limit: 100,
    ...Object.fromEntries(
      [...parameters].filter(([k]) =>
        ["player", "result", "forfeit", "opening", "least", "most", "sort", "order", "offset"].includes(k),
      ),
    ),
  };
  const head = h("div", {}),
    body = h("div", { id: "run-body" }),
    bar = h("div", { class: "tabs", role: "tablist", "aria-label": t("tables") });
  const shown = () => settings.get("results", false);
  const players = () => [...(found.names || [])].sort();
  let turn = 0,
    charts = [],
    showAgain = null;

  function showHead() {
    const test = found.test,
      lines = [
        `${found.title || found.game || ""} · ${found.kind} · ${stateText(found.state)} · ${t("games")}: ${ofText(found)}`,
      ];
    fill(
      head,
      h("h1", {}, found.name),
      h("p", { id: "run-state" }, lines.join("")),
      h(
        "p",
        { class: "actions" },
        resultsSwitch(() => {
          showHead();
          showBody();
        }),
      ),
      test && shown()
        ? h(
            "p",
            { id: "verdict" },
            h("b", {}, test.decision ? t("decision_" + test.decision) : t("undecided")),
            " ",
            `LLR ${number(test.llr, 3)} (${test.bounds.map(b => number(b, 3)).join(", ")}), ${t("test_of", { a: number(test.scores[1], 4), b: number(test.scores[0], 4) })}, ${t("blocks", { n: test.blocks })}`,
            test.elo ? `, ${eloText(test.elo)}` : "",
          )
        : "",
      found.note && shown() ? h("p", { class: "dim" }, found.note) : "",
      found.state === "goes on" && found.live?.length // a run that was killed has left its last game
        ? h(
            "p",
            { id: "run-live" },
            t("live_now") + " ",
            found.live.map(g => [
              h("a", { href: `#/live/${encode(name)}/${g.number}` }, `#${g.number}`),
              ` (${t("turns", { n: g.turns })}) `,
            ]),
          )
        : "",
    );
    document.title = `${found.name} – quartet`;
  }
  const hidden = () => h("p", { class: "dim", id: "hidden-results" }, t("results_hidden"));

  function standings() {
    if (!found.standings?.length) return h("p", { class: "dim" }, t("no_table"));
    if (!shown())
      return [
        hidden(),
        h(
          "ul",
          { class: "plain" },
          players().map(p => h("li", {}, p)),
        ),
      ];
    const rows = found.standings,
      any = key => rows.some(r => r[key] != null),
      fouls = r => Object.entries(r.lost || {});
    return [
      h(
        "div",
        { class: "scroll", tabindex: 0, "aria-label": t("tab_standings") },
        table(
          [
            { title: "#", value: r => r.rank, kind: "n" },
            { title: t("player"), value: r => r.name },
            { title: t("games"), value: r => r.games, kind: "n" },
            { title: t("wdl"), value: r => `${r.wins}-${r.draws}-${r.losses}`, kind: "n" },
            {
              title: "%",
              value: r =>
                r.share == null
                  ? "–"
                  : (100 * r.share).toFixed(1) + (r.error != null ? ` ± ${(100 * r.error).toFixed(1)}` : ""),
              kind: "n",
            },
            ...(any("elo")
              ? [
                  {
                    title: "Elo",
                    kind: "n",
                    value: r =>
                      r.elo == null
                        ? "–"
                        : [
                            number(r.elo, 0),
                            r.elo95
                              ? h("span", { class: "dim" }, ` ${number(r.elo95[0], 0)} … ${number(r.elo95[1], 0)}`)
                              : "",
                          ],
                  },
                ]
              : []),
            ...(any("depth") ? [{ title: t("depth_title"), value: r => number(r.depth, 1), kind: "n" }] : []),
            ...(any("nodes_per_second")
              ? [
                  {
                    title: t("speed_title"),
                    value: r => many(r.nodes_per_second && Math.round(r.nodes_per_second)),
                    kind: "n",
                  },
                ]
              : []),
            ...(any("seconds")
              ? [
                  {
                    title: t("time_move"),
                    value: r => (r.seconds == null || !r.turns ? "–" : `${number(r.seconds / r.turns, 3)} s`),
                    kind: "n",
                  },
                ]
              : []),
            ...(any("longest")
              ? [
                  {
                    title: t("time_longest"),
                    value: r => (r.longest == null ? "–" : `${number(r.longest, 2)} s`),
                    kind: "n",
                  },
                ]
              : []),
            {
              title: t("forfeits"),
              value: r =>
                fouls(r).length
                  ? h(
                      "span",
                      { class: "bad" },
                      fouls(r)
                        .map(([verdict, n]) => `✗ ${t("verdict_" + verdict)}: ${n}`)
                        .join(", "),
                    )
                  : "0",
              kind: "n",
            },
          ],
          rows,
          { id: "standings" },
        ),
      ),
      found.by_seat?.length
        ? h(
            "p",
            { class: "dim" },
            t("by_seat") + " ",
            found.by_seat.map((x, s) => [
              seatTag(
                s,
                typeof x === "number"
                  ? percent(x)
                  : Array.isArray(x)
                    ? x.join("-")
                    : String(x?.share != null ? percent(x.share) : JSON.stringify(x)),
              ),
              " ",
            ]),
          )
        : null,
    ];
  }
  function crosstable() {
    if (!found.crosstable?.length) return h("p", { class: "dim" }, t("no_table"));
    if (!shown()) return hidden();
    const names = found.names || [];
    return h(
      "div",
      { class: "scroll", tabindex: 0, "aria-label": t("tab_crosstable") },
      h(
        "table",
        { id: "crosstable" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("td", {}),
            names.map((n, i) => h("th", { class: "n", scope: "col", title: n }, i + 1)),
          ),
        ),
        h(
          "tbody",
          {},
          found.crosstable.map((row, i) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, `${i + 1} ${names[i] ?? ""}`),
              row.map(cell =>
                h(
                  "td",
                  { class: "n", title: cell ? t("points_of", { points: number(cell.points), games: cell.games }) : "" },
                  cell ? `${number(cell.points, 1)}/${cell.games}` : "·",
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }
  async function gamesTable() {
    const got = await get(`${at}/games?` + query(filter)),
      set = change => {
        filter = { ...filter, offset: 0, ...change };
        showBody();
      };
    const field = (key, title, made) => h("label", {}, t(title), " ", made);
    const select = (key, values) =>
      h(
        "select",
        { id: "filter-" + key, onchange: event => set({ [key]: event.target.value }) },
        values.map(([value, text]) => h("option", { value, selected: String(filter[key] ?? "") === value }, text)),
      );
    const entry = (key, width) =>
      h("input", {
        type: "number",
        min: 0,
        value: filter[key] ?? "",
        class: "short",
        id: "filter-" + key,
        onchange: event => set({ [key]: event.target.value }),
      });
    const sorted = key => ({
      onclick: () => set({ sort: key, order: filter.sort === key && filter.order === "asc" ? "desc" : "asc" }),
      type: "button",
      class: "plain-button",
    });
    const sign = key => (filter.sort === key ? (filter.order === "asc" ? " ▲" : " ▼") : "");
    const games = got.games,
      view = shown(),
      from = +filter.offset;
    return [
      h(
        "form",
        { class: "filters", onsubmit: event => event.preventDefault() },
        field("player", "player", select("player", [["", t("everybody")], ...players().map(p => [p, p])])),
        view
          ? field(
              "result",
              "result",
              select("result", [
                ["", t("any")],
                ["win", t("win_result")],
                ["draw", t("draw_result")],
                ["loss", t("loss_result")],
              ]),
            )
          : null,
        field(
          "forfeit",
          "forfeits",
          select("forfeit", [
            ["", t("any")],
            ["1", t("only_forfeits")],
          ]),
        ),
        field("least", "plies", h("span", {}, entry("least"), " – ", entry("most"))),
        field("opening", "opening", entry("opening")),
      ),
      h(
        "p",
        { class: "actions" },
        h("span", { id: "games-total" }, t("games_found", { n: got.total })),
        h(
          "button",
          { type: "button", disabled: from === 0, onclick: () => set({ offset: Math.max(0, from - 100) }) },
          t("page_before"),
        ),
        h(
          "button",
          { type: "button", disabled: from + 100 >= got.total, onclick: () => set({ offset: from + 100 }) },
          t("page_after"),
        ),
      ),
      h(
        "div",
        { class: "scroll", tabindex: 0, "aria-label": t("tab_games") },
        h(
          "table",
          { id: "games-table" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { class: "n", scope: "col" }, h("button", sorted("number"), "#" + sign("number"))),
              h("th", { scope: "col" }, t("players")),
              view ? h("th", { scope: "col" }, t("result")) : null,
              h("th", { class: "n", scope: "col" }, h("button", sorted("plies"), t("plies") + sign("plies"))),
              h("th", { class: "n", scope: "col" }, h("button", sorted("seconds"), t("time") + sign("seconds"))),
              h("th", { class: "n", scope: "col" }, t("opening")),
              h("th", { scope: "col" }, t("forfeits")),
            ),
          ),
          h(
            "tbody",
            {},
            games.map(g =>
              h(
                "tr",
                {},
                h(
                  "td",
                  { class: "n" },
                  h("a", { href: "#/review?" + query({ run: name, number: g.number }) }, g.number),
                ),
                h(
                  "td",
                  {},
                  g.players.map((p, s) => [seatTag(s, p ?? "–"), " "]),
                ),
                view
                  ? h(
                      "td",
                      {},
                      g.shares
                        .map((x, s) => `${number(x)}${g.scores?.[s] != null ? ` (${g.scores[s]})` : ""}`)
                        .join(" : "),
                    )
                  : null,
                h("td", { class: "n" }, g.plies),
                h("td", { class: "n" }, `${number(g.seconds, 1)} s`),
                h("td", { class: "n" }, g.opening ?? ""),
                h(
                  "td",
                  {},
                  (g.forfeits || []).map(f =>
                    h(
                      "span",
                      { class: "bad", title: f.reason },
                      `✗ ${f.player ?? ""} ${t("verdict_" + f.verdict)} (${f.ply}) `,
                    ),
                  ),
                ),
              ),
            ),
          ),
        ),
      ),
    ];
  }
  async function chartsTab(mine) {
    if (!shown()) return hidden();
    const [series, uPlot] = await Promise.all([get(at + "/series"), plotter()]);
    if (mine !== turn) return null;
    const box = h("div", { id: "charts" });
    if (!series.curves.some(c => c.games.length > 1)) return h("p", { class: "dim" }, t("no_curves"));
    queueMicrotask(() => {
      for (const chart of charts) chart.destroy();
      charts = [];
      series.curves.forEach((curve, i) => {
        const ink = colour("--ink"),
          grid = colour("--line"),
          own = colour(`--seat${(i + 2) % 4}`),
          dim = colour("--dim");
        const xs = curve.games,
          data = [xs, curve.values],
          lines = [
            { label: t("games") },
            { label: curve.name, stroke: own, width: 2, points: { show: xs.length < 3 } },
          ],
          bands = [];
        if (curve.low && curve.high) {
          data.push(curve.high, curve.low);
          lines.push(
            { label: t("upper"), stroke: own, width: 0.5, dash: [4, 4], points: { show: false } },
            { label: t("lower"), stroke: own, width: 0.5, dash: [4, 4], points: { show: false } },
          );
          bands.push({ series: [2, 3], fill: own.replace("rgb(", "rgba(").replace(")", ", 0.15)") });
        }
        for (const [k, bound] of (curve.bounds || []).entries()) {
          data.push(xs.map(() => bound));
          lines.push({ label: `H${k}`, stroke: dim, width: 1, dash: [8, 4], points: { show: false } });
        }
        const holder = h(
          "figure",
          {
            role: "img",
            "aria-label": `${curve.name}: ${number(
              curve.values.findLast(x => x != null),
              2,
            )}`,
          },
          h("figcaption", {}, curve.unit && curve.unit !== curve.name ? `${curve.name}, ${curve.unit}` : curve.name),
        );
        box.append(holder);
        const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
        charts.push(
          new uPlot(
            {
              width: Math.max(280, body.clientWidth - 4),
              height: 230,
              scales: { x: { time: false } },
              series: lines,
              bands,
              axes: [
                { ...axis, label: t("games"), labelSize: 20 },
                { ...axis, size: 60 },
              ],
              cursor: { drag: { x: true, y: false } },
            },
            data,
            holder,
          ),
        );
      });
    });
    return box;
  }
  function plan() {
    return h("pre", { tabindex: 0, "aria-label": t("tab_plan") }, JSON.stringify(found.plan, null, 2));
  }
  async function showBody() {
    const mine = ++turn;
    fill(
      bar,
      ...tabs.map(key =>
        h(
          "button",
          {
            role: "tab",
            id: "tab-" + key,
            type: "button",
            "aria-selected": String(key === tab),
            tabIndex: key === tab ? 0 : -1,
            "aria-controls": "run-body",
            onclick: () => choose(key),
            onkeydown: event => {
              const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
              if (step) choose(tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length], true);
            },
          },
          t("tab_" + key),
        ),
      ),
    );
    body.setAttribute("role", "tabpanel");
    body.setAttribute("aria-labelledby", "tab-" + tab);
    if (tab !== "games") history.replaceState(null, "", `#/run/${encode(name)}?tab=${tab}`);
    else history.replaceState(null, "", `#/run/${encode(name)}?` + query({ tab, ...filter, limit: null }));
    const made = await { standings, crosstable, games: gamesTable, charts: chartsTab, plan }[tab](mine);
    if (mine !== turn || made === null) return;
    const focused = body.contains(document.activeElement) ? document.activeElement.id : null;
    fill(body, ...[made].flat().filter(Boolean));
    if (focused) document.getElementById(focused)?.focus();
  }
  const choose = (key, focus) => {
    tab = key;
    showBody().then(() => focus && document.getElementById("tab-" + tab).focus());
  };
  main.append(h("section", { class: "card" }, head), h("section", { class: "card" }, bar, body));
  showHead();
  await showBody();
  const unfollow = follow("run/" + name, {
    state: event => {
      const more = event.run.recorded !== found.recorded || event.run.state !== found.state;
      found = event.run;
      showHead();
      if (!more) return;
      clearTimeout(showAgain); // charts and games at most every two seconds
      showAgain = setTimeout(guarded(showBody), ["charts", "games"].includes(tab) ? 2000 : 0);
    },
    live: event => {
      found.live = event.live;
      showHead();
    },
    gone: () => {},
  });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const anew = guarded(() => tab === "charts" && showBody()); // charts have colours and a width of their own
  const changes = [
    [document, "themed"],
    [dark, "change"],
    [window, "resize"],
  ];
  for (const [where, what] of changes) where.addEventListener(what, anew);
  return () => {
    unfollow();
    for (const [where, what] of changes) where.removeEventListener(what, anew);
    clearTimeout(showAgain);
    turn += 1;
    for (const chart of charts) chart.destroy();
  };
}
