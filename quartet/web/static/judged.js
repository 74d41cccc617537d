// What a review says about turns and players.
import { scoreCurves } from "./game.js";
import { fill, h, many, moveText, number, percent, seatTag, seconds, t, table, who, word } from "./page.js";

export const SIGNS = { inaccuracy: "?!", mistake: "?", blunder: "??", foul: "✗", best: "", good: "", forced: "□" };
export const FLAWS = ["inaccuracy", "mistake", "blunder", "foul"];
export const TO_FIND = ["inaccuracy", "mistake", "blunder"];
/** The label of a turn, or of another engine's verdict; "best" only for the best move. */
const labelTag = ({ label, is_best } = {}) =>
  label && (label !== "best" || is_best) ? h("span", { class: "label " + label }, (SIGNS[label] ? SIGNS[label] + " " : "") + t("label_" + label)) : null;

const sharesText = (view, shares) =>
  view.players
    .map((p, s) => (p == null ? null : `${view.labels[s]} ${percent(shares[s])}`))
    .filter(Boolean)
    .join(", ");

/** Describe turn `i` (-1: the start) by its review `r` and the document `d`; both may be missing. `line(moves, parts)`
    makes buttons of moves instead of the turn's. */
export function tellTurn(now, view, i, r, d, line) {
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
    seconds(turn.seconds, 2) +
      (turn.clock != null ? `, ${t("left", { s: number(turn.clock / 1000, 1) })}` : "") +
      (r?.idle ? `, ${t("idle")}` : ""),
  );
  if (turn.drawn != null) facts.push(t("drew", { x: turn.drawn }));
  now.append(
    h(
      "p",
      {},
      h("span", { class: "dim" }, `${turn.ply + 1}. `),
      seatTag(turn.seat, h("b", {}, `${who(view, turn.seat)}: ${moveText(turn)} `)),
      labelTag(r),
    ),
    turn.reason ? h("p", { class: "bad" }, turn.reason) : "",
    h("p", {}, facts.join("; ")),
  );
  if (r?.shares) now.append(h("p", { class: "dim" }, sharesText(view, r.shares)));
  if (r && turn.verdict !== "resigned") now.append(...advice(turn, r, d, line));
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
          r.harm
            .map((x, s) => (view.players[s] == null ? null : `${view.labels[s]} ${x > 0 ? "−" : "+"}${percent(Math.abs(x))}`))
            .filter(Boolean)
            .join(", "),
      ),
    );
  for (const o of r?.second_opinions || [])
    now.append(
      h("p", { class: "dim" }, `${word(o.engine)}: ${o.label ? t("label_" + o.label) : number(o.score_loss)}, ${o.best}`),
    );
  const said = [...(turn.said || []).map(([seat, text]) => `${view.labels[seat] ?? "?"}: ${text}`)];
  if (said.length)
    now.append(h("pre", { class: "remarks", translate: "no", tabindex: 0, "aria-label": t("remarks") }, said.join("\n")));
}

/** The better move with its line, and the candidates. */
function advice(turn, r, d, line) {
  const bad = r.loss == null || r.loss >= (d?.thresholds?.[0] ?? 0.05);
  const better =
    r.best && !r.is_best
      ? h(
          "p",
          {},
          t(bad ? "better" : "engines_move"),
          " ",
          r.best.share != null ? `${percent(r.best.share)} ` : "",
          h("span", { class: "best-move" }, line(r.line?.length ? r.line : [r.best.move], [r.best.parts])),
        )
      : "";
  const columns = [
    { title: "#", value: (c, k) => k + 1 },
    {
      title: t("candidates"),
      value: c => [line([c.move], [c.parts]), c.move === turn.move ? ` (${t("played")})` : ""],
    },
    { title: t("win"), value: c => percent(c.share) + (c.proven ? " ✓" : ""), kind: "n" },
    { title: t("score"), value: c => number(c.score), kind: "n" },
    { title: t("nodes_title"), value: c => many(c.nodes || null), kind: "n" },
  ];
  const list = r.candidates?.length
    ? h("div", { class: "scroll", tabindex: 0, "aria-label": t("candidates") }, table(columns, r.candidates))
    : "";
  return [better, list];
}

/** Describe the review `r` of a turn with `nodes` per position. */
export function tellDeeper(turn, r, d, nodes, line) {
  const lost = r.loss != null ? percent(r.loss) : number(r.score_loss);
  return h(
    "div",
    { class: "deeper" },
    h("p", {}, t("deeper_found", { n: many(nodes), x: lost }), " ", labelTag(r)),
    advice(turn, r, d, line),
  );
}

/** Fill in the summary by player. */
export function tellSeats(sums, view, d) {
  const columns = [
    [t("player"), s => seatTag(s.seat, who(view, s.seat)), ""],
    [t("accuracy"), s => (s.accuracy == null && d.start ? t("few_decisions") : number(s.accuracy, 1)), "n"],
    [t("lost_all"), s => (s.loss != null ? number(s.loss) : number(s.score_loss)), "n"],
    ...TO_FIND.map(label => [`${SIGNS[label]} ${t("label_" + label)}`, s => s.labels[label] ?? 0, "n"]),
    [t("missed_wins"), s => s.missed_wins, "n"],
    ...(d.seats.some(s => s.luck != null) ? [[t("luck_all"), s => number(s.luck), "n"]] : []),
    [t("time"), s => seconds(s.seconds), "n"],
    [t("time_idle"), s => seconds(s.idle_seconds), "n"],
  ];
  fill(
    sums,
    h("h2", {}, t("seats_table")),
    table(
      columns.map(([title, value, kind]) => ({ title, value, kind })),
      d.seats.filter(s => s.player != null),
    ),
  );
  const seats = view.labels.map((_, seat) => seat).filter(seat => view.players[seat] != null);
  if (d.harm?.length && seats.length > 1) {
    sums.append(
      h("h2", {}, t("harm")),
      table(
        [
          { title: "", value: s => seatTag(s, who(view, s)) },
          ...seats.map(k => ({ title: view.labels[k], value: s => number(d.harm[s][k], 2), kind: "n" })),
        ],
        seats,
      ),
    );
  }
  sums.append(
    h("p", { class: "dim" }, d.engines.map(e => t("judged_by", { name: word(e.name), n: many(e.nodes) })).join("; ")),
  );
}

/** Win probabilities as curves with flaws for the graph; scores if there are none yet. */
export function shareCurves(view, turnAt, d) {
  const { turns } = view;
  if (!turns.some((_, i) => turnAt(i)?.shares)) return scoreCurves(view);
  const shares = i => (i === 0 ? d?.start : turnAt(i - 1)?.shares);
  const seats = view.players.map((p, s) => s).filter(s => view.players[s] !== null);
  return {
    curves: seats.map(seat => ({
      seat,
      points: Array.from({ length: turns.length + 1 }, (_, i) => shares(i)?.[seat] ?? null),
    })),
    ticks: [0, 0.25, 0.5, 0.75, 1].map(p => [p, `${100 * p} %`]),
    percent: true,
    flaws: turns
      .map((turn, i) => [turn, turnAt(i), i])
      .filter(([, r]) => r?.shares && FLAWS.includes(r.label))
      .map(([turn, r, i]) => ({ step: i + 1, seat: turn.seat, value: r.shares[turn.seat], sign: SIGNS[r.label] })),
  };
}
