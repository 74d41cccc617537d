// Choosing a move part by part, by mouse, touch or keys, as the terminal does. It knows no game.

/** The choices of one position, and how far a person has come in them. */
export class Selection {
  constructor(position) {
    this.choices = position.choices;
    this.taken = [];
    this.cursor = null;
  }

  /** The parts that can come next, in the order of the list. */
  get options() {
    const depth = this.taken.length,
      found = new Set();
    for (const { parts } of this.choices) {
      if (parts.length > depth && this.taken.every((part, i) => parts[i] === part)) found.add(parts[depth]);
    }
    return [...found];
  }

  /** Take a part; the choice that it completes, or null. */
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

  /** A cell was pointed at: take it, put it back, or begin anew from it. */
  tap(part) {
    if (this.options.includes(part)) return this.take(part);
    const at = this.taken.indexOf(part);
    this.taken = at < 0 ? [] : this.taken.slice(0, at);
    if (at < 0 && this.options.includes(part)) return this.take(part);
    return null;
  }

  /** The pointer went down on a cell: take it, if it is another one to begin with; a move is not played by that. */
  grasp(part) {
    if (this.taken.includes(part) || (this.taken.length && this.options.includes(part))) return false;
    if (!this.choices.some(c => c.parts.length > 1 && c.parts[0] === part)) return false;
    this.taken = [part];
    this.cursor = null;
    return true;
  }

  back() {
    if (this.taken.length) this.cursor = this.taken.pop();
  }
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * Makes an <svg> board one on which a move is chosen.
 *
 * `show()` draws it anew and gives its geometry; `chosen(choice)` is told the move; `said(name)` where the cursor is.
 * While `selection` is null nothing can be chosen. `watched`: drawn anew wherever the pointer goes.
 */
export class Chooser {
  constructor(root, show, chosen, said) {
    Object.assign(this, { root, show, chosen, said, selection: null, down: null, hover: null, pointed: null });
    this.held = false; // whether the pointer went down on a cell that was taken by that
    root.addEventListener("pointerdown", event => {
      this.down = event.button === 0 && this.selection ? this.cellAt(event) : null;
      if (this.down === null) return;
      root.setPointerCapture(event.pointerId); // the cells may be drawn anew before the finger leaves
      this.held = this.selection.grasp(this.down);
      if (this.held) this.draw();
    });
    root.addEventListener("touchend", event => event.cancelable && event.preventDefault()); // or a click follows, on whatever lies there by then
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

  /** A position to choose in, or null; what is chosen stays where it is the same one again. */
  offer(position) {
    const key =
      position && [position.game, position.ply, position.to_move, position.choices.length, position.text].join(" ");
    if (key && key === this.offered) return;
    this.offered = key;
    this.selection = position && position.choices.length ? new Selection(position) : null;
    this.hover = null;
    this.root.classList.toggle("choosing", this.selection !== null);
  }

  /** The pointer is over a cell; `pointed` is it, `hover` only where it can be chosen. */
  over(name) {
    const before = this.pointed;
    this.pointed = name;
    if ((this.watched || this.selection?.taken.length) && name !== before) this.draw();
    const found = this.selection && this.selection.options.includes(name) ? name : null;
    if (found === this.hover) return;
    this.hover = found;
    this.draw();
  }

  /** What is to be drawn of the choice; `quietly`: what can be chosen first shows under the pointer alone. */
  look(quietly) {
    const s = this.selection;
    if (!s) return {};
    const starts = s.taken.length ? [] : quietly && s.cursor === null ? [this.hover] : s.options;
    const to = s.cursor ?? this.pointed;
    return {
      starts,
      targets: s.taken.length ? s.options : [],
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
    if (!s || from === null || to === null) return;
    s.cursor = null;
    if (event.pointerType !== "mouse") this.hover = this.pointed = null;
    let whole = null;
    if (from === to) whole = this.held ? null : s.tap(to);
    else {
      // dragged from one to the other
      if (s.taken.at(-1) !== from) whole = s.tap(from);
      if (!whole && s.options.includes(to)) whole = s.take(to);
    }
    this.after(whole);
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
      this.said(s.cursor, s.options.includes(s.cursor));
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

  /** The nearest option in a direction, straight ones before slanting ones; from the edge on to the far side. */
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
      // along the board as one reads, so that everything can be reached
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
