// The played move and the better one side by side, each on a small board after the move.
import { draw, framesOf } from "./board.js";
import { fill, h, percent, settings, t } from "./page.js";

export class Comparison {
  /** `panel` shows the game; `lines` gives positions and the buttons of moves. */
  constructor(view, panel, lines) {
    Object.assign(this, { view, panel, lines });
    this.boards = h("div", { class: "pair-boards" });
    const ontoggle = () => settings.set("compare", this.element.open);
    this.element = h(
      "details",
      { class: "card", id: "compare", hidden: true, open: settings.get("compare", true), ontoggle },
      h("summary", {}, t("compare")),
      this.boards,
    );
  }

  /** Compare the moves of turn `i` of a source by its review; hide the boards if the best move was played. */
  async show(source, i, r) {
    const best = r?.best,
      turn = this.view.turns[i];
    this.element.hidden = !best || r.is_best || r.label === "forced" || !r.parts?.length;
    const key = this.element.hidden ? "" : JSON.stringify([i, best.move, best.share, this.panel.quarters]);
    if (key === this.key) return;
    this.key = key;
    if (!key) return;
    const chosen = r.expected ?? r.shares;
    const after = (await this.lines.trail({ ...source, step: i }, [best.move])).at(-1);
    if (this.key !== key) return;
    const { game } = this.panel;
    fill(
      this.boards,
      this.board(t("played"), turn, chosen?.[turn.seat], "played", this.view.board, game.frames[i + 1]),
      after && this.board(t("better_move"), best, best.share, "best", after.board, framesOf(after.board)[0]),
    );
    for (const svg of this.boards.querySelectorAll("svg")) svg.redraw();
  }

  board(title, { move, parts, seat }, share, kind, board, frame) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "board");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `${title} ${move}`);
    const look = { quarters: this.panel.quarters, labels: this.view.labels, moves: [{ parts: parts || [], seat, kind }] };
    svg.redraw = () => draw(svg, board, frame, look); // it has a width only in the document
    return h("figure", {}, h("figcaption", {}, `${title} `, this.lines.text(move, parts), share == null ? "" : `, ${percent(share)}`), svg);
  }
}
