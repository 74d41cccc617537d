// The evaluation bar next to a board: every seat's win probability.
import { seatClass } from "./board.js";
import { fill, h, percent, t } from "./page.js";

const ROOM = 0.1; // least share with a label

export class ValueBar {
  constructor() {
    this.element = h("div", { class: "value-bar", id: "value-bar", role: "img", hidden: true });
  }

  /** Show shares by seat, from the bottom up; null hides the bar, [] leaves it empty. `text` replaces percentages. */
  show(view, shares, text = null) {
    this.element.hidden = shares === null;
    const said = (shares || [])
      .map((share, seat) => (view.players[seat] == null ? null : `${view.labels[seat]} ${text?.[seat] ?? percent(share)}`))
      .filter(Boolean)
      .join(", ");
    this.element.title = `${text ? t("score") : t("win_probability")}: ${said || "–"}`;
    this.element.setAttribute("aria-label", this.element.title);
    fill(
      this.element,
      (shares || []).map((share, seat) => {
        const part = h("span", { class: "part " + seatClass(seat) }, share >= ROOM ? (text?.[seat] ?? Math.round(100 * share)) : "");
        part.style.flexGrow = share;
        return part;
      }),
    );
  }
}

/** What the bar shows after a step: the review's win probabilities, or its scores if there are none. */
export function reviewedValue(view, turnAt, d, step) {
  const shares = step === 0 ? d?.start : turnAt(step - 1)?.shares;
  if (shares) return [shares];
  const scores = view.turns.map((_, i) => turnAt(i)?.score ?? null);
  if (d?.start || view.players.length !== 2 || scores.every(s => s === null)) return [null];
  if (scores[step] == null) return step === view.turns.length && d?.shares?.length ? [d.shares] : [[]];
  return scoreValue(view.turns[step].seat, scores[step], Math.max(...scores.map(Math.abs)));
}

/** A score for a seat as parts of the bar, and its texts. `most` fills the bar. */
export function scoreValue(seat, score, most) {
  const mine = 0.5 + (0.5 * Math.max(-most, Math.min(most, score))) / (most || 1);
  const pick = (own, other) => (seat === 0 ? [own, other] : [other, own]);
  return [pick(mine, 1 - mine), pick(score, -score).map(x => (x > 0 ? "+" : "") + Math.round(x))];
}
