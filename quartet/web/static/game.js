// Shared by matches, live games and reviews: the board with its slider, the list of moves, the players, the graph.
import { draw, drawGraph, framesOf, nextFrame, stepAt, svg } from "./board.js";
import { Chooser } from "./choose.js";
import { animate } from "./motion.js";
import {
  duration,
  h,
  isForfeit,
  lineText,
  many,
  moveText,
  number,
  percent,
  quartersOf,
  seatTag,
  settings,
  speed,
  t,
  who,
  word,
} from "./page.js";

/** A view that grows, and the frames of its board. */
export class Game {
  constructor(view) {
    this.view = view;
    this.frames = framesOf(view.board);
  }

  get steps() {
    return this.view.turns.length;
  }

  /** Add an event `turn`. Return false if it is not the next one. */
  append(event) {
    const view = this.view;
    if (event.step !== this.steps + 1) return false;
    view.turns.push(event.turn);
    view.board.pieces = event.pieces;
    view.board.frames.push(event.frame);
    this.frames.push(nextFrame(this.frames.at(-1), event.frame, event.hands));
    view.scores.push(event.scores);
    Object.assign(view, { clocks: event.clocks, to_move: event.to_move, over: event.over, ply: event.ply });
    return true;
  }
}

/**
 * The board and the controls that step through a game.
 *
 * owner, every field optional: {look(step) -> marks, stepped(step), chosen(choice), base() -> number of the frame to
 *   draw, bar: an element next to the board, keys: {key: act}, marked() -> whether to mark legal cells of a game with rectangles, quiet -> true to mark first parts only under the pointer}.
 * `position` offers choices; if `overlay` is true, the board shows it, too (a variation).
 */
export class BoardPanel {
  constructor(owner) {
    Object.assign(this, { owner, game: null, step: 0, drawn: 0, position: null, overlay: false });
    this.svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [key, value] of Object.entries({
      class: owner.quiet ? "board" : "board drags",
      id: "board",
      tabindex: 0,
      role: "application",
      "aria-label": t("board"),
    })) {
      this.svg.setAttribute(key, value);
    }
    this.cursorLine = h("span", { class: "hidden-text", "aria-live": "polite", id: "cursor-line" });
    this.chooser = new Chooser(
      this.svg,
      () => this.draw(),
      choice => owner.chosen(choice),
      name => this.tell(name),
      () => owner.marked?.() ?? true,
    );
    const button = (id, text, label, act) =>
      h("button", { id, type: "button", title: label, "aria-label": label, onclick: act }, text);
    this.slider = h("input", {
      type: "range",
      id: "slider",
      min: 0,
      max: 0,
      value: 0,
      "aria-label": t("turn_shown"),
      oninput: () => this.go(+this.slider.value),
    });
    this.playing = h("button", { id: "autoplay", type: "button", onclick: () => this.autoplay() });
    this.autoplay(false);
    this.controls = h(
      "div",
      { class: "controls" },
      button("first", "|◀", t("first"), () => this.go(0)),
      button("back", "◀", t("back"), () => this.go(this.step - 1)),
      this.slider,
      button("on", "▶", t("on"), () => this.go(this.step + 1)),
      button("last", "▶|", t("last"), () => this.go(Infinity)),
      this.playing,
      button("turn", "⟳", t("turn_board"), () => this.turn()),
    );
    this.element = h(
      "section",
      { class: "card board-card" },
      h("div", { class: "board-box" }, owner.bar, this.svg),
      this.controls,
      this.cursorLine,
    );
    this.listen = event => this.key(event);
    document.addEventListener("keydown", this.listen);
  }

  close() {
    document.removeEventListener("keydown", this.listen);
    clearInterval(this.timer);
  }

  /** Start or stop to show one turn after the other, at the speed that the user has set. */
  autoplay(on = !this.timer) {
    clearInterval(this.timer);
    this.timer = null;
    if (on) {
      if (this.atEnd) this.go(0);
      this.timer = setInterval(
        () => {
          this.go(this.step + 1);
          if (this.atEnd) this.autoplay(false);
        },
        Math.max(50, speed()),
      );
    }
    const icon = svg(null, "svg", { viewBox: "0 0 20 20", class: "icon", "aria-hidden": "true" });
    svg(icon, "circle", { cx: 10, cy: 10, r: 9 });
    svg(icon, "path", { d: on ? "M7.5 6v8M12.5 6v8" : "M8 5.5v9l6.5-4.5z" });
    this.playing.replaceChildren(icon);
    this.playing.title = this.playing.ariaLabel = t(on ? "autoplay_stop" : "autoplay");
  }

  get quarters() {
    return quartersOf(this.game.view.game, this.game.view.board);
  }

  turn() {
    settings.set("quarters." + this.game.view.game, (this.quarters + 1) % 4);
    this.draw();
  }

  setGame(game) {
    this.game = game;
    this.slider.max = game.steps;
  }

  /** True if the last step that has been drawn is shown; the game may have grown since. */
  get atEnd() {
    return this.step >= this.drawn;
  }

  go(step) {
    const before = this.step;
    this.drawn = this.game.steps;
    this.step = Math.max(0, Math.min(this.game.steps, step));
    this.slider.max = this.game.steps;
    this.slider.value = this.step;
    this.slider.setAttribute("aria-valuetext", t("step_of", { step: this.step, steps: this.game.steps }));
    if (this.step !== before) this.motion = this.motionFrom(before);
    if (this.owner.stepped) this.owner.stepped(this.step);
    this.draw();
  }

  /** The motion to the next or previous step; null for a leap. */
  motionFrom(before) {
    const { frames, view } = this.game,
      parts = view.turns[Math.max(before, this.step) - 1]?.parts || [];
    if (Math.abs(this.step - before) !== 1 || !frames[before]) return null;
    return {
      from: frames[before],
      to: frames[this.step],
      parts: before < this.step ? parts : [...parts].reverse(),
      started: performance.now(),
    };
  }

  /** Offer the choices of a position; with `overlay` the board shows the position. */
  offer(position, overlay = false) {
    this.position = position;
    this.overlay = overlay && position !== null;
    this.chooser.offer(position);
    this.draw();
  }

  /** Show another position until null is given; meanwhile no move can be chosen. */
  preview(position) {
    this.seen = position;
    this.svg.classList.toggle("previewed", !!position);
    this.draw();
  }

  draw() {
    if (!this.game) return null;
    const position = this.seen ?? this.position,
      last = this.seen?.last;
    const own = this.seen
      ? { moves: last ? [{ parts: last.parts, seat: last.seat, kind: "played" }] : [] }
      : (this.owner.look?.(this.step) ?? {});
    this.passes ||= position?.choices.some(c => c.parts[0] === "pass"); // the field stays, so that the board does not jump
    const look = {
      quarters: this.quarters,
      labels: this.game.view.labels,
      held: position?.hands,
      pass: this.passes ? t("pass") : null,
      ...own,
      ...(this.seen ? {} : this.chooser.look(this.owner.quiet)),
    };
    const isOther = this.overlay || !!this.seen,
      board = isOther ? position.board : this.game.view.board;
    const frame = isOther ? framesOf(board)[0] : this.game.frames[this.owner.base?.() ?? this.step];
    this.geometry = draw(this.svg, board, frame, look);
    if (this.motion?.to === frame) animate(this.svg, board, this.geometry, this.motion);
    this.chooser.geometry = this.geometry;
    return this.geometry;
  }

  /** Announce the cell under the cursor to screen readers. */
  tell(name) {
    const board = this.overlay ? this.position.board : this.game.view.board;
    const frame = this.overlay ? framesOf(board)[0] : this.game.frames[this.step];
    const cell = board.cells.findIndex(c => c[0] === name),
      piece = board.pieces[frame.shown.get(cell)];
    const taken = this.chooser.selection?.taken.map(word).join(" ") || "";
    this.cursorLine.textContent = [taken && taken + ",", name === "pass" ? t("pass") : word(name), piece ? piece[1] : ""]
      .filter(Boolean)
      .join(" ");
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !this.game) return;
    if (/^(input|select|textarea)$/i.test(event.target.tagName) && event.target !== this.slider) return;
    const act = {
      ArrowLeft: () => this.go(this.step - 1),
      ArrowRight: () => this.go(this.step + 1),
      "[": () => this.go(this.step - 1),
      "]": () => this.go(this.step + 1),
      Home: () => this.go(0),
      End: () => this.go(Infinity),
      r: () => this.turn(),
      a: () => this.autoplay(),
      ...this.owner.keys,
    }[keyOf(event)];
    if (!act || (event.target === this.slider && event.key.startsWith("Arrow"))) return;
    event.preventDefault();
    act();
  }
}

/** The name of a key in the lists of shortcuts: the same in all layouts, and with Caps Lock. */
function keyOf({ key, code }) {
  if (/^[!-~]$/.test(key)) return key.toLowerCase();
  // Other alphabets have no such letters. There the place of the key counts.
  const letter = /^Key([A-Z])$/.exec(code)?.[1].toLowerCase();
  return letter ?? { BracketLeft: "[", BracketRight: "]" }[code] ?? key;
}

/** The mark of a turn's move, in the colour of its seat. */
export function playedMoves(turn) {
  return turn && turn.parts && turn.parts.length && turn.parts[0] !== "pass"
    ? [{ parts: turn.parts, seat: turn.seat, kind: "played" }]
    : [];
}

/** The list of moves. `notes(turn, i)` returns what is shown next to a move, `below(i)` what is shown below it. */
export class MoveList {
  constructor(go, notes = () => [], below = () => []) {
    Object.assign(this, { go, notes, below, rows: [] });
    this.element = h("ol", {
      class: "moves",
      id: "moves",
      tabindex: 0,
      "aria-label": t("moves"),
      "data-empty": t("no_moves"),
    });
    new ResizeObserver(() => this.reveal()).observe(this.element);
  }

  row(turn, i) {
    const isLost = isForfeit(turn);
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", onclick: () => this.go(i + 1), class: isLost ? "foul" : "" },
        h("span", { class: "ply" }, turn.ply + 1),
        seatTag(turn.seat, h("span", { class: "what" }, moveText(turn))),
        h("span", { class: "notes" }, this.notes(turn, i)),
        isLost || turn.verdict === "resigned"
          ? h("span", { class: "reason" }, t("verdict_" + turn.verdict) + (isLost && turn.reason ? ": " + turn.reason : ""))
          : null,
      ),
      this.below(i),
    );
  }

  /** Add the new turns; with `all` make the whole list again. */
  update(turns, all = false) {
    if (all || turns.length < this.rows.length) {
      this.element.replaceChildren();
      this.rows = [];
    }
    for (let i = this.rows.length; i < turns.length; i++) {
      this.rows.push(this.row(turns[i], i));
      this.element.append(this.rows[i]);
    }
  }

  refresh(turns, i) {
    if (!this.rows[i]) return;
    const made = this.row(turns[i], i);
    if (this.rows[i].firstChild.hasAttribute("aria-current")) made.firstChild.setAttribute("aria-current", "step");
    this.rows[i].replaceWith(made);
    this.rows[i] = made;
  }

  mark(step) {
    this.element.querySelector(":scope > li > [aria-current]")?.removeAttribute("aria-current");
    const row = this.rows[step - 1],
      box = this.element;
    if (!row) {
      box.scrollTop = 0;
      return;
    }
    row.firstChild.setAttribute("aria-current", "step");
    this.reveal();
  }

  /** Scroll to the marked row if it is out of sight. */
  reveal() {
    const box = this.element,
      row = box.querySelector("[aria-current]")?.parentElement;
    if (!row) return;
    if (row.offsetTop < box.scrollTop || row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight) {
      box.scrollTop = row.offsetTop - box.clientHeight / 2;
    }
  }
}

/** A player's report of its search as one line. */
export function infoText(info) {
  if (!info) return "";
  const value = info.share != null ? percent(info.share) : info.score != null ? number(info.score) : null;
  return [
    value,
    info.depth != null ? t("depth", { depth: info.depth }) : null,
    info.nps ? t("speed", { speed: many(info.nps) }) : null,
    lineText((info.line || []).slice(0, 4), info.parts),
  ]
    .filter(Boolean)
    .join(", ");
}

/** Win probabilities or scores that players reported, as curves for the graph. */
export function toldCurves(view) {
  const seats = view.players.map((p, seat) => seat).filter(seat => view.players[seat] !== null);
  const infos = view.turns.map(turn => turn.info);
  const byShare = infos.some(info => info && info.share != null);
  const most = Math.max(1e-9, ...infos.map(info => Math.abs(info?.score ?? 0)));
  const curves = seats.map(seat => {
    let last = null;
    const points = [
      null,
      ...view.turns.map((turn, i) => {
        if (turn.seat === seat && infos[i])
          last = byShare ? infos[i].share : infos[i].score == null ? null : 0.5 + (0.5 * infos[i].score) / most;
        return last;
      }),
    ];
    return { seat, points };
  });
  const ticks = byShare
    ? [0, 0.25, 0.5, 0.75, 1].map(p => [p, `${100 * p} %`])
    : [
        [0, "–"],
        [0.5, "0"],
        [1, "+"],
      ];
  return { curves: infos.some(Boolean) ? curves : [], ticks };
}

/** The scores of the seats as curves. */
export function scoreCurves(view) {
  const all = view.scores.flat().filter(s => s != null),
    least = Math.min(0, ...all),
    most = Math.max(1, ...all);
  const curves = view.players
    .map((p, seat) => ({
      seat,
      points: view.scores.map(s => (s[seat] == null ? null : (s[seat] - least) / (most - least))),
    }))
    .filter(c => view.players[c.seat] !== null);
  return {
    curves,
    ticks: [
      [0, String(least)],
      [1, String(most)],
    ],
  };
}

export function timeBars(turns) {
  const most = Math.max(1e-9, ...turns.map(turn => turn.seconds || 0));
  return turns.map((turn, i) => ({ step: i + 1, seat: turn.seat, share: (turn.seconds || 0) / most }));
}

/** A graph with its title. A click goes to a step. */
export class GraphPanel {
  constructor(go, title) {
    this.title = h("h2", {}, title);
    this.svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.svg.setAttribute("class", "graph");
    this.svg.setAttribute("id", "graph");
    this.svg.setAttribute("role", "img");
    this.svg.addEventListener("click", event => go(stepAt(this.svg, event, this.data?.steps ?? 0)));
    this.legend = h("p", { class: "legend" });
    this.element = h("section", { class: "card graph-card" }, this.title, this.svg, this.legend);
  }

  draw(data, view, title) {
    this.data = data = { ...data, height: innerWidth > 860 ? 160 : 110 };
    if (title) this.title.textContent = title;
    this.svg.setAttribute("aria-label", this.title.textContent);
    drawGraph(this.svg, data);
    this.legend.replaceChildren(
      ...data.curves.map(({ seat, points }) => {
        const share = data.at == null ? points.findLast(p => p != null) : points[data.at];
        return seatTag(seat, who(view, seat) + (data.percent && share != null ? ` ${percent(share)}` : ""));
      }),
      data.times?.length ? h("span", { class: "dim" }, t("time_bars")) : "",
    );
  }
}

/** The players with their scores, clocks and searches. */
export class PlayersPanel {
  constructor() {
    this.element = h("section", { class: "card players", "aria-label": t("players") });
    this.clocks = [];
    this.left = []; // milliseconds on each clock at the shown step
    this.thoughts = [];
  }

  update(view, step, active, thoughts = true) {
    const scores = view.scores[step] || [],
      result = step === view.turns.length ? view.result : null;
    this.element.replaceChildren(
      ...view.players.map((player, seat) => {
        if (player === null)
          return h("div", { class: "player empty" }, seatTag(seat, `${view.labels[seat]}: ${t("nobody")}`));
        const clock = (this.clocks[seat] = h("span", { class: "clock", title: t("time_left") }));
        const thought = (this.thoughts[seat] = h("div", { class: "thought" }));
        const place = result?.places?.[seat];
        const own = view.turns.slice(0, step).filter(turn => turn.seat === seat);
        this.left[seat] =
          step === view.turns.length ? view.clocks?.[seat] : (own.at(-1)?.clock ?? view.clock?.ms?.[seat]);
        return h(
          "div",
          { class: "player" + (active === seat ? " active" : "") },
          seatTag(seat, h("b", {}, who(view, seat))),
          place != null ? h("span", { class: "place" }, t("place", { place })) : null,
          h("span", { class: "score", title: view.score_name }, scores[seat] == null ? "" : String(scores[seat])),
          clock,
          thought,
        );
      }),
    );
    view.players.forEach((player, seat) => {
      if (player === null) return;
      this.setClock(view, seat, 0);
      const turn = view.turns.slice(0, step).findLast(turn => turn.seat === seat);
      if (turn && thoughts) this.think(seat, turn.info);
    });
  }

  setClock(view, seat, elapsed) {
    const clock = this.clocks[seat],
      left = this.left[seat];
    if (!clock || left == null || !view.clock?.runs?.[seat]) return;
    const now = left - elapsed;
    clock.textContent = duration(now);
    clock.classList.toggle("short", now < 0.1 * (view.clock.ms?.[seat] || 1e9));
  }

  think(seat, info) {
    if (this.thoughts[seat] && info) this.thoughts[seat].textContent = infoText(info);
  }
}
