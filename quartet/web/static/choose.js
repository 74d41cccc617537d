// Chooses a move part by part, by mouse, touch or keys, in any game.

/** The choices of a position, and the parts that are chosen so far. */
export class Selection {
  constructor(position) {
    this.choices = position.choices;
    this.free = position.board.corners; // any cell may be a corner; legal ones are not told apart
    this.taken = [];
    this.cursor = null;
  }

  /** The possible next parts, in the order of the choices. */
  get options() {
    const depth = this.taken.length,
      found = new Set();
    for (const { parts } of this.choices) {
      if (parts.length > depth && this.taken.every((part, i) => parts[i] === part)) found.add(parts[depth]);
    }
    return [...found];
  }

  /** Add a part. Return the choice that it completes, or null. */
  take(part) {
    const parts = [...this.taken, part];
    const whole = this.choices.find(c => c.parts.length === parts.length && c.parts.every((p, i) => p === parts[i]));
    if (whole) {
      this.taken = [];
      return whole;
    }
    this.taken = parts;
    return null;
  }

  /** A cell was tapped: add it, remove it, or start again from it. */
  tap(part) {
    if (this.options.includes(part)) return this.take(part);
    const at = this.taken.indexOf(part);
    this.taken = at < 0 ? [] : this.taken.slice(0, at);
    if (at < 0 && !this.free && this.options.includes(part)) return this.take(part);
    return null;
  }

  /** The pointer went down on a cell: start from it if a longer move can. Never completes a move. */
  grasp(part) {
    if (this.taken.includes(part) || (this.taken.length && this.options.includes(part))) return false;
    if (this.free ? this.taken.length || this.isWhole(part) : !this.isStart(part)) return false;
    this.taken = [part];
    this.cursor = null;
    return true;
  }

  isWhole(part) {
    return this.choices.some(c => c.parts.length === 1 && c.parts[0] === part);
  }

  isStart(part) {
    return this.choices.some(c => c.parts.length > 1 && c.parts[0] === part);
  }

  /** A drag went from one cell to another. Return the choice that it completes, or null. */
  drag(from, to) {
    let whole = null;
    if (this.free) this.taken = [from];
    else if (this.taken.at(-1) !== from) whole = this.tap(from);
    if (!whole && this.options.includes(to)) whole = this.take(to);
    if (this.free) this.taken = [];
    return whole;
  }

  back() {
    if (this.taken.length) this.cursor = this.taken.pop();
  }
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * Lets a user choose a move on an <svg> board.
 *
 * `show()` draws the board and returns its layout. `chosen(choice)` gets the move, `said(name)` the cursor's cell.
 * `marked()` is false if legal cells of a game with rectangles must not be marked.
 * While `selection` is null, no move can be chosen. `watched` draws at every movement of the pointer.
 */
export class Chooser {
  constructor(root, show, chosen, said, marked) {
    Object.assign(this, { root, show, chosen, said, marked, selection: null, down: null, hover: null, pointed: null });
    this.held = false; // true if the pointer's press has added a part
    root.addEventListener("pointerdown", event => {
      this.down = event.button === 0 && this.selection ? this.cellAt(event) : null;
      if (this.down === null) return;
      root.setPointerCapture(event.pointerId); // a drawing replaces the cells before the finger leaves
      this.held = this.selection.grasp(this.down);
      if (this.held) this.draw();
    });
    root.addEventListener("touchend", event => event.cancelable && event.preventDefault()); // otherwise a click follows
    root.addEventListener("pointercancel", () => {
      if (this.held && this.selection) this.selection.taken = [];
      this.down = null;
      this.over(null);
    });
    root.addEventListener("pointermove", event => {
      if (event.pointerType === "mouse" || this.down !== null) this.over(this.cellAt(event));
    });
    root.addEventListener("pointerleave", () => this.over(null));
    root.addEventListener("blur", () => {
      if (this.selection && this.selection.cursor !== null) {
        this.selection.cursor = null;
        this.draw();
      }
    });
    root.addEventListener("pointerup", event => this.up(event));
    root.addEventListener("keydown", event => this.key(event));
  }

  /** Offer the choices of a position, or null. The same position keeps the chosen parts. */
  offer(position) {
    const key =
      position && [position.game, position.ply, position.to_move, position.choices.length, position.text].join(" ");
    if (key && key === this.offered) return;
    this.offered = key;
    this.selection = position && position.choices.length ? new Selection(position) : null;
    this.hover = null;
    this.root.classList.toggle("choosing", this.selection !== null);
  }

  /** The pointer is over a cell: `pointed`, and `hover` if it can be chosen. */
  over(name) {
    const before = this.pointed;
    this.pointed = name;
    if ((this.watched || this.selection?.taken.length) && name !== before) this.draw();
    const s = this.selection;
    const found = s && (this.isHidden || s.options.includes(name)) ? name : null;
    if (found === this.hover) return;
    this.hover = found;
    this.draw();
  }

  /** True if legal cells are not marked. */
  get isHidden() {
    return this.selection?.free && !this.marked();
  }

  /** The marks to draw; `quietly` marks a first part only under the pointer. */
  look(quietly) {
    const s = this.selection;
    if (!s) return {};
    const starts = s.taken.length || this.isHidden ? [] : quietly && s.cursor === null ? [this.hover] : s.options;
    const to = s.cursor ?? this.pointed;
    return {
      starts,
      targets: s.taken.length && !this.isHidden ? s.options : [],
      hover: this.hover,
      taken: s.taken,
      cursor: s.cursor,
      span: s.taken.length && to !== null ? [s.taken[0], to, s.options.includes(to)] : null,
    };
  }

  places() {
    return this.geometry ? this.geometry.places : new Map();
  }

  cellAt(event) {
    const matrix = this.root.getScreenCTM();
    if (!matrix) return null;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    let best = null,
      least = 0.7;
    for (const [name, [x, y]] of this.places()) {
      const far =
        name === "pass"
          ? Math.abs(point.x - x) < 1.6 && Math.abs(point.y - y) < 0.45
            ? 0
            : 9
          : Math.hypot(point.x - x, point.y - y);
      if (far < least) [best, least] = [name, far];
    }
    return best;
  }

  up(event) {
    const from = this.down,
      to = this.cellAt(event),
      s = this.selection;
    this.down = null;
    if (!s || from === null) return;
    s.cursor = null;
    if (event.pointerType !== "mouse") this.hover = this.pointed = null;
    if (to === null) s.taken = [];
    this.after(to === null ? null : from !== to ? s.drag(from, to) : this.held ? null : s.tap(to));
  }

  after(whole) {
    if (whole) {
      this.chosen(whole);
      if (this.selection) this.selection.taken = [];
    }
    this.draw();
  }

  draw() {
    this.geometry = this.show();
  }

  key(event) {
    const s = this.selection;
    if (!s || event.ctrlKey || event.altKey || event.metaKey) return;
    const act = ARROWS[event.key]
      ? () => this.move(...ARROWS[event.key])
      : { Enter: () => this.enter(), " ": () => this.enter(), Escape: () => s.back() }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    if (act() !== "played") {
      this.draw();
      this.said(s.cursor);
    }
  }

  enter() {
    const s = this.selection;
    if (s.cursor === null) return this.move(1, 0);
    const whole = s.tap(s.cursor);
    if (whole) {
      this.after(whole);
      return "played";
    }
    s.cursor = this.nearest(s.options, this.places().get(s.cursor) || [0, 0]) ?? s.cursor;
    return null;
  }

  /** Move the cursor to the nearest option in a direction; at the edge, to the opposite side. */
  move(dx, dy) {
    const s = this.selection,
      places = this.places(),
      options = s.options.filter(name => places.has(name));
    if (!options.length) return;
    const order = name => {
      const [x, y] = places.get(name);
      return Math.round(y * 1000) * 1e6 + x;
    };
    options.sort((a, b) => order(a) - order(b));
    if (s.cursor === null || !places.has(s.cursor)) {
      s.cursor = options[0];
      return;
    }
    const [x, y] = places.get(s.cursor);
    if (dx) {
      // in reading order, so that every option can be reached
      const at = options.indexOf(s.cursor);
      s.cursor = options[(at + dx + options.length) % options.length];
      return;
    }
    const far = name => {
      const [u, v] = places.get(name);
      return (v - y) * dy > 0.01 ? (v - y) * dy + 2 * Math.abs(u - x) : Infinity;
    };
    const ahead = options.filter(name => far(name) < Infinity);
    if (ahead.length) s.cursor = ahead.reduce((a, b) => (far(b) < far(a) ? b : a));
    else s.cursor = this.nearest(dy > 0 ? options.slice(0, 1) : options.slice(-1), [x, y]);
  }

  nearest(names, [x, y]) {
    const places = this.places(),
      far = name => {
        const place = places.get(name);
        return place ? Math.hypot(place[0] - x, place[1] - y) : Infinity;
      };
    return names.length ? names.reduce((a, b) => (far(b) < far(a) ? b : a)) : null;
  }
}
