// A board without a game: set up a position, play moves on it, analyse it, look it up.
import { ValueBar, scoreValue } from "./bar.js";
import { draw, framesOf } from "./board.js";
import { Chooser } from "./choose.js";
import { Analysis } from "./engine.js";
import { Lines } from "./lines.js";
import { Openings } from "./openings.js";
import { copyLink, fill, get, guarded, h, post, quartersOf, readdress, say, seatTag, settings, sourceFrom, sourceQuery, t } from "./page.js";

export async function board(main, { parameters, games, kept }) {
  const asked = sourceFrom(parameters),
    first = games.games.find(g => g.name === (asked.game ?? settings.get("game", ""))) || games.games[0];
  let source = Object.keys(asked).some(key => key !== "game") ? asked : { game: first.name },
    about = first,
    position = null, // as the server shows it
    moves = source.moves || [],
    seen = null, // a position that a line previews
    draft = null; // {cells: Map(cell number -> piece number), palette, brush, toMove, text} while the position is edited
  const root = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [key, value] of Object.entries({
    class: "board",
    id: "board",
    tabindex: 0,
    role: "application",
    "aria-label": t("board"),
  }))
    root.setAttribute(key, value);
  const cursorLine = h("span", { class: "hidden-text", "aria-live": "polite" });
  const chooser = new Chooser(
    root,
    () => show(),
    choice => (draft ? put(choice.parts[0]) : play(choice.move)),
    name => (cursorLine.textContent = name ?? ""),
    () => true,
  );
  const here = () => ({ ...source, moves });
  const lines = new Lines(
    next => {
      seen = next;
      show();
    },
    guarded((from, line) => load({ ...from, moves: [...(from.moves || []), ...line] })),
  );
  const bar = new ValueBar();
  let engine = makeEngine();
  function makeEngine() {
    return new Analysis(
      about.built_in.map(p => p.name),
      { lines, from: here, paused: () => draft !== null || position.over, draw: () => show() },
    );
  }
  /** The bar shows the value of the running analysis. */
  function showValue() {
    const { labels } = about,
      view = { labels, players: labels },
      found = draft || position.over ? null : engine.best;
    if (found?.shares) bar.show(view, found.shares);
    else if (found?.score != null && labels.length === 2)
      bar.show(view, ...scoreValue(position.to_move, found.score, position.board.cells.length));
    else bar.show(view, engine.running && !draft ? [] : null);
  }

  const openings = new Openings({
    from: () => (draft ? null : here()),
    labels: () => about.labels,
    enter: move => play(move),
  });

  function show() {
    const quarters = quartersOf(about.name, position.board);
    showValue();
    if (draft)
      return draw(
        root,
        { ...position.board, pieces: draft.palette },
        { shown: draft.cells, changed: [], hands: [] },
        { quarters, ...chooser.look(true) },
      );
    const { board, last, hands } = seen ?? position,
      arrows = seen ? [] : engine.arrows();
    if (last) arrows.unshift({ parts: last.parts, seat: last.seat, kind: "played" });
    root.classList.toggle("previewed", !!seen);
    return draw(root, board, framesOf(board)[0], {
      quarters,
      labels: about.labels,
      held: hands,
      pass: position.choices.some(c => c.parts[0] === "pass") ? t("pass") : null,
      moves: arrows,
      ...(seen ? {} : chooser.look(true)),
    });
  }

  /** Show a position. If the server refuses it, all stays as it was. */
  async function load(next) {
    const found = await post("position", next);
    [source, moves, position] = [next, next.moves || [], found];
    seen = draft = null;
    if (about.name !== position.game) {
      about = games.games.find(g => g.name === position.game);
      const old = engine;
      engine = makeEngine();
      old.close();
      old.element.replaceWith(engine.element);
    }
    chooser.offer(position.over ? null : position);
    chooser.draw();
    readdress(main, "#/board?" + sourceQuery(here()));
    text.value = position.text;
    complaint.textContent = "";
    onward.href = "#/play?" + sourceQuery(here());
    showState();
    engine.moved();
    openings.moved();
  }
  const play = guarded(move => load({ ...source, moves: [...moves, move] }));
  const open = async next => {
    if (draft) draft.asked = null; // no earlier answer may replace this one's complaint
    try {
      await load(next);
    } catch (error) {
      complaint.textContent = error.message;
    }
  };

  // Editing.
  const edit = guarded(async (earlier = {}) => {
    const found = await post("compose", here());
    const frame = framesOf(position.board)[0],
      cells = new Map();
    for (const [cell, piece] of frame.shown) {
      const [owner, mark] = position.board.pieces[piece];
      cells.set(
        cell,
        found.palette.findIndex(p => p[0] === owner && p[1] === mark),
      );
    }
    draft = { cells, palette: found.palette, brush: 0, toMove: position.to_move, ...earlier, text: null, implied: found.implied };
    engine.stop();
    openings.moved();
    offerBrushes();
    offerCells();
    await compose();
  });
  /** Make the brushes, once per draft: a new element would lose a click that has begun, and the focus. */
  function offerBrushes() {
    const brush = (number, content, label) =>
      h(
        "button",
        {
          type: "button",
          "data-brush": number ?? "none",
          "aria-label": label,
          onclick: () => {
            draft.brush = number;
            showState();
          },
        },
        content,
      );
    const name = ([owner, mark]) => (owner == null ? mark : `${about.labels[owner]} ${mark}`);
    fill(
      palette,
      draft.palette.map((piece, i) => brush(i, sample(piece), name(piece))),
      brush(null, "✕", t("empty_cell")),
    );
  }
  function offerCells() {
    const free = position.board.cells.filter(c => c[3] !== "wall").map(c => ({ parts: [c[0]] }));
    chooser.offer(null);
    chooser.offer({ ...position, choices: free, board: { ...position.board, corners: false }, text: "edited" });
    showState();
    chooser.draw();
  }
  const compose = guarded(async () => {
    const names = position.board.cells,
      cells = Object.fromEntries([...draft.cells].map(([cell, piece]) => [names[cell][0], piece]));
    draft.text = null; // until the server answers
    const before = text.value,
      mine = (draft.asked = { ...here(), board: cells, to_move: draft.toMove }),
      found = await post("compose", mine);
    if (draft?.asked !== mine) return;
    Object.assign(draft, { text: found.text, error: found.error, implied: found.implied });
    if (text.value === before) text.value = found.text; // what the user typed meanwhile stays
    complaint.textContent = found.error;
    showState();
  });
  /** Show the edited position, as it is now. */
  async function use() {
    if (draft.text === null) await compose();
    if (draft && draft.text !== null && !draft.error) await open({ game: about.name, position: draft.text });
  }
  function put(name) {
    const cell = position.board.cells.findIndex(c => c[0] === name);
    if (draft.brush === null || draft.cells.get(cell) === draft.brush) draft.cells.delete(cell);
    else draft.cells.set(cell, draft.brush);
    compose();
  }
  const sample = ([owner, mark, colour]) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "board sample");
    const cell = { cells: [["", 0, 0, ""]], pieces: [[owner, mark, colour]], columns: [], rows: [] };
    draw(svg, cell, { shown: new Map([[0, 0]]), changed: [], hands: [] });
    return svg;
  };

  const text = h("textarea", { id: "position", rows: 4, spellcheck: false, "aria-label": t("position_text") });
  const complaint = h("p", { class: "bad", id: "complaint", role: "alert" });
  const state = h("p", { class: "status", id: "status", role: "status" });
  const onward = h("a", { class: "button", id: "play-on" }, t("play_from_here"));
  const palette = h("div", { class: "palette", role: "group", "aria-label": t("pieces") });
  const line = h("p", { class: "actions", id: "line" });
  const button = (id, key, act) => h("button", { type: "button", id, onclick: act }, t(key));
  const editing = button("edit", "edit_board", () => (draft ? use() : edit()));
  const clear = button("clear", "clear_board", () => {
    draft.cells.clear();
    chooser.draw();
    compose();
  });
  const reset = button("reset", "start_position", () => open({ game: about.name }));
  const cancel = button("cancel", "cancel", () => open(here()));
  const sides = h("select", {
    id: "to-move",
    onchange: () => {
      draft.toMove = +sides.value;
      compose();
    },
  });
  const sideRow = h("label", {}, t("side_to_move"), " ", sides);

  function showState() {
    fill(
      state,
      draft
        ? t("edit_note")
        : position.over
          ? t("game_over")
          : seatTag(position.to_move, t("to_move", { who: about.labels[position.to_move] })),
    );
    editing.textContent = t(draft ? "use_position" : "edit_board");
    editing.disabled = !!draft?.error;
    clear.hidden = cancel.hidden = palette.hidden = !draft;
    sideRow.hidden = !draft || draft.implied;
    onward.hidden = !!draft || position.over;
    engine.element.hidden = openings.element.hidden = !!draft;
    fill(
      sides,
      about.labels.map((label, seat) => h("option", { value: seat, selected: seat === draft?.toMove }, label)),
    );
    if (draft) for (const brush of palette.children) brush.setAttribute("aria-pressed", String(brush.dataset.brush === String(draft.brush ?? "none")));
    const cut = guarded(length => load({ ...source, moves: moves.slice(0, length) }));
    line.hidden = !!draft || !moves.length;
    fill(
      line,
      moves.map((move, i) => h("button", { type: "button", class: "chip", onclick: () => cut(i + 1) }, move)),
      h("button", { type: "button", id: "shorten", onclick: () => cut(moves.length - 1) }, t("undo")),
    );
  }

  const chosen = h(
    "select",
    { id: "game", "aria-label": t("game"), onchange: () => open({ game: chosen.value }) },
    games.games.map(g => h("option", { value: g.name, selected: g === first }, g.title)),
  );
  await load(here());
  chosen.value = about.name;
  main.append(
    h("h1", { class: "title" }, t("analysis_board")),
    h(
      "div",
      { class: "game" },
      h("div", { class: "left" }, h("section", { class: "card board-card" }, h("div", { class: "board-box" }, bar.element, root), cursorLine)),
      h(
        "div",
        { class: "right" },
        h(
          "section",
          { class: "card editor" },
          h("label", {}, t("game"), " ", chosen),
          state,
          line,
          palette,
          sideRow,
          h("div", { class: "actions" }, editing, clear, cancel, reset, onward, copyLink()),
          h(
            "details",
            { id: "as-text" },
            h("summary", {}, t("position_text")),
            text,
            h(
              "p",
              { class: "actions" },
              button("set-text", "set_up", () => open({ game: about.name, position: text.value })),
            ),
          ),
          complaint,
        ),
        engine.element,
        openings.element,
      ),
    ),
  );
  chooser.draw();
  if (kept.draft) await edit(kept.draft);
  return () => {
    engine.close();
    openings.close();
    lines.end();
    return { draft: draft && { cells: draft.cells, brush: draft.brush, toMove: draft.toMove } };
  };
}
