// The tables of a run: standings, crosstable, games.
import { get, h, many, number, percent, query, seatTag, seconds, t, table, word } from "./page.js";

const Z95 = 1.96; // half a 95 % interval, in standard errors
const playersOf = found => [...(found.names || [])].sort();
export const hidden = () => h("p", { class: "dim", id: "hidden-results" }, t("results_hidden"));

/** The 95 % interval of a rating in words, "" if it is open on both sides. */
export function eloInterval(elo95, digits) {
  const [low, high] = (elo95 || [null, null]).map(x => (x == null ? null : number(x, digits)));
  return low && high ? `${low} … ${high}` : low ? t("elo_above", { x: low }) : high ? t("elo_below", { x: high }) : "";
}
function eloCell({ elo, elo95 }) {
  const interval = eloInterval(elo95, 0);
  return elo == null ? interval || "–" : [number(elo, 0), h("span", { class: "dim" }, " " + interval)];
}

/** Ranks, scores, ratings and search figures of the players. */
export function standings(found, shown) {
  if (!found.standings?.length) return h("p", { class: "dim" }, t("no_table"));
  if (!shown)
    return [
      hidden(),
      h(
        "ul",
        { class: "plain" },
        playersOf(found).map(p => h("li", {}, word(p))),
      ),
    ];
  const rows = found.standings,
    any = key => rows.some(r => r[key] != null),
    forfeits = r => Object.entries(r.lost || {});
  return [
    h(
      "div",
      { class: "scroll", tabindex: 0, "aria-label": t("tab_standings") },
      table(
        [
          { title: "#", value: r => r.rank, kind: "n" },
          { title: t("player"), value: r => word(r.name), kind: "name" },
          {
            title: t("score95"),
            value: r =>
              r.share == null
                ? "–"
                : number(100 * r.share, 1, 1) + (r.error != null ? ` ± ${number(100 * Z95 * r.error, 1, 1)}` : ""),
            kind: "n",
          },
          { title: t("games"), value: r => r.games, kind: "n" },
          { title: t("wdl"), value: r => `${r.wins}-${r.draws}-${r.losses}`, kind: "n" },
          ...(any("elo") || any("elo95") ? [{ title: t("elo95"), kind: "n", value: eloCell }] : []),
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
                  value: r => (r.seconds == null || !r.turns ? "–" : seconds(r.seconds / r.turns, 3)),
                  kind: "n",
                },
              ]
            : []),
          ...(any("longest")
            ? [
                {
                  title: t("time_longest"),
                  value: r => (r.longest == null ? "–" : seconds(r.longest, 2)),
                  kind: "n",
                },
              ]
            : []),
          {
            title: t("forfeits"),
            value: r =>
              forfeits(r).length
                ? h(
                    "span",
                    { class: "bad" },
                    forfeits(r)
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
          { class: "dim actions" },
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

/** Score of each player (row) in games against each other (column). */
export function crosstable(found, shown) {
  if (!found.crosstable?.length) return h("p", { class: "dim" }, t("no_table"));
  if (!shown) return hidden();
  const names = found.names || [];
  return h(
    "div",
    { class: "scroll", tabindex: 0, "aria-label": t("tab_crosstable") },
    h("p", { class: "dim" }, t("crosstable_note")),
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
          names.map((n, i) => h("th", { class: "n", scope: "col", title: word(n) }, i + 1)),
        ),
      ),
      h(
        "tbody",
        {},
        found.crosstable.map((row, i) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, `${i + 1} ${word(names[i]) ?? ""}`),
            row.map(cell =>
              h(
                "td",
                { class: "n", title: cell ? t("points_of", { points: number(cell.points), games: cell.games }) : "" },
                cell ? `${percent(cell.points / cell.games)} (${cell.games})` : "·",
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

/** A page of the run's games; `set` changes the filter. */
export async function gamesTable(found, shown, filter, set) {
  const got = await get(`runs/${encodeURIComponent(found.name)}/games?` + query(filter));
  const field = (key, title, made) => h("label", {}, t(title), " ", made);
  const select = (key, values, more = {}) =>
    h(
      "select",
      { ...more, id: "filter-" + key, onchange: event => set({ [key]: event.target.value }) },
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
    from = +filter.offset;
  return [
    h(
      "form",
      { class: "filters", onsubmit: event => event.preventDefault() },
      field("player", "player", select("player", [["", t("everybody")], ...playersOf(found).map(p => [p, word(p)])])),
      shown
        ? field(
            "result",
            "result",
            select(
              "result",
              [
                ["", t("any")],
                ["win", t("win_result")],
                ["draw", t("draw_result")],
                ["loss", t("loss_result")],
              ],
              { disabled: !filter.player },
            ),
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
            shown ? h("th", { scope: "col" }, t("result")) : null,
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
                h("a", { href: "#/review?" + query({ run: found.name, number: g.number }) }, g.number),
              ),
              h(
                "td",
                {},
                g.players.map((p, s) => [seatTag(s, word(p) ?? "–"), " "]),
              ),
              shown
                ? h(
                    "td",
                    {},
                    g.shares
                      .map((x, s) => `${number(x)}${g.scores?.[s] != null ? ` (${g.scores[s]})` : ""}`)
                      .join(" : "),
                  )
                : null,
              h("td", { class: "n" }, g.plies),
              h("td", { class: "n" }, seconds(g.seconds)),
              h("td", { class: "n" }, g.opening ?? ""),
              h(
                "td",
                {},
                (g.forfeits || []).map(f =>
                  h(
                    "span",
                    { class: "bad", title: f.reason },
                    `✗ ${word(f.player) ?? ""} ${t("verdict_" + f.verdict)} (${f.ply + 1}) `,
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
