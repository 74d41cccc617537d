// Moves of engines' lines as buttons: the pointer or the focus previews a position, a click enters it.
import { h, moveText, post, sourceQuery, word } from "./page.js";

const PAUSE = 80; // ms before a preview
const MAX_MOVES = 10; // of a line

export class Lines {
  /** `show(position)` shows a preview, null ends it; `enter(source, moves)` makes them the variation. */
  constructor(show, enter) {
    Object.assign(this, { show, enter, wanted: null, known: new Map() });
  }

  /** Buttons for the moves of a line from the position of a source; `parts` are the moves' cells, if known. */
  buttons(source, line, parts = []) {
    const button = (move, i) =>
      h(
        "button",
        {
          type: "button",
          class: "line-move",
          // a line that moves under a pointer at rest is not meant
          onmousemove: event => (event.movementX || event.movementY) && this.preview(source, line, i),
          onfocus: () => this.preview(source, line, i),
          onmouseleave: () => this.end(),
          onblur: () => this.end(),
          onclick: () => {
            this.end();
            this.enter(source, line.slice(0, i + 1));
          },
        },
        this.text(move, parts[i]),
      );
    return h("span", { class: "line" }, line.slice(0, MAX_MOVES).map(button));
  }

  text(move, parts) {
    return word(moveText({ move, parts }));
  }

  preview(source, line, i) {
    if (this.wanted?.line === line && this.wanted.i === i) return;
    const mine = (this.wanted = { line, i });
    setTimeout(async () => {
      if (this.wanted !== mine) return;
      const moves = [...(source.moves || []), ...line];
      const key = sourceQuery({ ...source, moves });
      const found = this.known.get(key) ?? (await this.trail(source, moves));
      if (found.length) this.known.set(key, found);
      const position = found[(source.moves || []).length + i + 1];
      if (this.wanted === mine && position) this.show(position);
    }, PAUSE);
  }

  /** The positions along moves; [] if they cannot be played or the server does not answer. */
  async trail(source, moves) {
    try {
      return (await post("position", { ...source, moves, trail: true })).positions;
    } catch {
      return [];
    }
  }

  end() {
    if (!this.wanted) return;
    this.wanted = null;
    this.show(null);
  }
}
