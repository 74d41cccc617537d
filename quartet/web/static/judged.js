// What a review says of turns and seats.
import { fill, h, many, moveText, number, percent, seatTag, t, who } from "./page.js";

export const SIGNS = { inaccuracy: "?!", mistake: "?", blunder: "??", foul: "✗", best: "", good: "", forced: "□" };
export const FLAWS = ["inaccuracy", "mistake", "blunder", "foul"];
export const TO_FIND = ["inaccuracy", "mistake", "blunder"];
const labelTag = label =>
  label ? h("span", { class: "label " + label }, (SIGNS[label] ? SIGNS[label] + " " : "") + t("label_" + label)) : null;

const sharesText = (view, shares) =>
  view.players
    .map((p, s) => (p == null ? null : `${view.labels[s]} ${percent(shares[s])}`))
    .filter(Boolean)
    .join(", ");

/** What is said of turn `i` (-1: of the start), by its review `r` and the whole document `d`, as far as they are there. */
export function tellTurn(now, view, i, r, d) {
  const turn = view.turns[i];
  fill(now);
  if (!turn) {
    now.append(h("p", {}, t("at_start")), d?.start ? h("p", { class: "dim" }, sharesText(view, d.start)) : "");
    return;
  }
  const facts = [];
  if (r) {
    if (r.loss >= 0.0005) facts.push(t("lost", { x: percent(r.loss) }) + (r.proven ? ` (${t("proven")})` : ""));
    else if (r.loss == null && r.score_loss) facts.push(t("lost", { x: number(r.score_loss) }));
    if (r.missed_win) facts.push(t("missed_win"));
    if (r.luck) facts.push(t("luck", { x: (r.luck > 0 ? "+" : "") + percent(r.luck) }));
    if (r.gain) facts.push(t("swung", { name: d?.score_name || view.score_name, x: number(r.gain) }));
    if (d?.turning_point === i) facts.push(t("turning_point"));
  }
  facts.push(
    `${turn.seconds.toFixed(2)} s` +
      (turn.clock != null ? `, ${t("left", { s: (turn.clock / 1000).toFixed(1) })}` : "") +
      (r?.idle ? `, ${t("idle")}` : ""),
  );
  if (turn.drawn != null) facts.push(t("drew", { x: turn.drawn }));
  now.append(
    h(
      "p",
      {},
      h("span", { class: "dim" }, `${turn.ply}. `),
      seatTag(turn.seat, h("b", {}, `${who(view, turn.seat)}: ${moveText(turn)} `)),
      labelTag(r?.label),
    ),
    turn.reason ? h("p", { class: "bad" }, turn.reason) : "",
    h("p", {}, facts.join("; ")),
  );
  if (r?.shares) now.append(h("p", { class: "dim" }, sharesText(view, r.shares)));
  if (r?.best && !r.is_best) {
    now.append(
      h(
        "p",
        {},
        t(r.loss == null || r.loss >= (d?.thresholds?.[0] ?? 0.05) ? "better" : "engines_move"),
        " ",
        h("b", { class: "best-move" }, r.best.move),
        r.best.share != null ? ` ${percent(r.best.share)}` : "",
        (r.line || []).length > 1
          ? h("span", { class: "dim" }, "  " + t("then", { line: r.line.slice(1).join(" · ") }))
          : "",
      ),
    );
  }
  if (r?.candidates?.length) {
    now.append(
      h(
        "div",
        { class: "scroll", tabindex: 0, "aria-label": t("candidates") },
        h(
          "table",
          {},
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", {}, "#"),
              h("th", {}, t("candidates")),
              h("th", { class: "n" }, t("win")),
              h("th", { class: "n" }, t("score")),
            ),
          ),
          h(
            "tbody",
            {},
            r.candidates.map((c, k) =>
              h(
                "tr",
                {},
                h("td", {}, k + 1),
                h("td", {}, c.move + (c.move === turn.move ? ` (${t("played")})` : "")),
                h("td", { class: "n" }, percent(c.share) + (c.proven ? " ✓" : "")),
                h("td", { class: "n" }, number(c.score)),
              ),
            ),
          ),
        ),
      ),
    );
  }
  if (r?.overlooked?.length)
    now.append(
      h(
        "p",
        { class: "dim" },
        t("overlooked", { n: r.overlooked_count }) +
          " " +
          r.overlooked.map(([move, gain]) => `${move} +${number(gain)}`).join(", "),
      ),
    );
  if (r?.harm?.length)
    now.append(
      h(
        "p",
        { class: "dim" },
        t("took") +
          " " +
          r.harm.map((x, s) => `${view.labels[s]} ${x > 0 ? "−" : "+"}${percent(Math.abs(x))}`).join(", "),
      ),
    );
  for (const o of r?.second_opinions || [])
    now.append(
      h("p", { class: "dim" }, `${o.engine}: ${o.label ? t("label_" + o.label) : number(o.score_loss)}, ${o.best}`),
    );
  const said = [...(turn.said || []).map(([seat, text]) => `${view.labels[seat] ?? "?"}: ${text}`)];
  if (said.length)
    now.append(h("pre", { class: "remarks", tabindex: 0, "aria-label": t("remarks") }, said.join("\n")));
}

/** The tables of the seats. */
export function tellSeats(sums, view, d) {
  const columns = [
    [t("player"), s => seatTag(s.seat, who(view, s.seat)), ""],
    [t("accuracy"), s => number(s.accuracy, 1), "n"],
    [t("lost_all"), s => (s.loss != null ? number(s.loss) : number(s.score_loss)), "n"],
    ...TO_FIND.map(label => [`${SIGNS[label]} ${t("label_" + label)}`, s => s.labels[label] ?? 0, "n"]),
    [t("missed_wins"), s => s.missed_wins, "n"],
    ...(d.seats.some(s => s.luck != null) ? [[t("luck_all"), s => number(s.luck), "n"]] : []),
    [t("time"), s => `${s.seconds.toFixed(1)} s`, "n"],
    [t("time_idle"), s => `${s.idle_seconds.toFixed(1)} s`, "n"],
  ];
  fill(
    sums,
    h("h2", {}, t("seats_table")),
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          columns.map(([title, , kind]) => h("th", { class: kind }, title)),
        ),
      ),
      h(
        "tbody",
        {},
        d.seats
          .filter(s => s.player != null)
          .map(s =>
            h(
              "tr",
              {},
              columns.map(([, value, kind]) => h("td", { class: kind }, value(s))),
            ),
          ),
      ),
    ),
  );
  if (d.harm?.length) {
    sums.append(
      h("h2", {}, t("harm")),
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", {}, ""),
            view.labels.map(l => h("th", { class: "n" }, l)),
          ),
        ),
        h(
          "tbody",
          {},
          d.harm.map((row, s) =>
            h(
              "tr",
              {},
              h("td", {}, seatTag(s, who(view, s))),
              row.map(x => h("td", { class: "n" }, number(x, 2))),
            ),
          ),
        ),
      ),
    );
  }
  sums.append(
    h("p", { class: "dim" }, d.engines.map(e => t("judged_by", { name: e.name, n: many(e.nodes) })).join("; ")),
  );
}
