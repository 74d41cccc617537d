// The variations that a user has tried, as a tree inside the list of moves.
import { h, moveText, settings, t, word } from "./page.js";

const MAX_GAMES = 20; // games whose variations stay in the browser

export class Variations {
  /** `key` names the game, `enter(step, moves)` shows a variation, `changed(step)` draws the tree after a step again. */
  constructor(key, enter, changed) {
    Object.assign(this, { key, enter, changed });
    this.steps = settings.get("variations", {})[key] || {};
  }

  /** Keep the moves after a step; `positions` are those before and after each move. */
  add(step, moves, positions) {
    let nodes = (this.steps[step] ??= []),
      isNew = false;
    moves.forEach((move, i) => {
      let node = nodes.find(o => o.move === move);
      if (!node) {
        isNew = true;
        nodes.push((node = { move, parts: positions[i + 1].last?.parts, next: [] }));
      }
      nodes = node.next;
    });
    if (isNew) this.keep(step);
  }

  remove(step, nodes, node) {
    nodes.splice(nodes.indexOf(node), 1);
    if (!this.steps[step].length) delete this.steps[step];
    this.keep(step);
  }

  keep(step) {
    const { [this.key]: _, ...others } = settings.get("variations", {});
    const kept = Object.entries({ ...others, [this.key]: this.steps }).slice(-MAX_GAMES);
    settings.set("variations", Object.fromEntries(kept));
    this.changed(step);
  }

  /** The tree after a step; the move at the end of `moves` is the current one. */
  draw(step, moves) {
    const nodes = this.steps[step];
    return nodes?.length ? this.list(step, nodes, nodes, [], moves) : null;
  }

  list(step, nodes, shown, path, moves) {
    const items = shown.map(node => h("li", {}, this.line(step, nodes, node, path, moves)));
    return h("ul", { class: "variations", "aria-label": t("variation", { step }) }, items);
  }

  /** A move and its first continuations in a line; other moves follow as lists. */
  line(step, nodes, node, path, moves) {
    const made = [];
    for (let others = []; node; ) {
      path = [...path, node.move];
      made.push(this.button(step, node, path, moves), node.next.length ? null : this.removal(step, nodes, node));
      if (others.length) made.push(this.list(step, nodes, others, path.slice(0, -1), moves));
      nodes = node.next;
      [node, ...others] = nodes;
    }
    return made;
  }

  button(step, node, line, moves) {
    const isShown = line.join(";") === moves?.join(";");
    const onclick = () => this.enter(step, line);
    return h(
      "button",
      { type: "button", class: "line-move", "aria-current": isShown ? "step" : null, onclick },
      h("span", { class: "dim" }, `${step + line.length}. `),
      word(moveText(node)),
    );
  }

  removal(step, nodes, node) {
    const label = t("variation_delete");
    const onclick = () => this.remove(step, nodes, node);
    return h("button", { type: "button", class: "line-move dim", title: label, "aria-label": label, onclick }, "×");
  }
}
