// The review of a game: losses, variations, engine analysis, and the exercise.
import { ValueBar, reviewedValue, scoreValue } from "./bar.js";
import { Comparison } from "./compare.js";
import { Analysis } from "./engine.js";
import { Exercise } from "./exercise.js";
import { BoardPanel, Game, GraphPanel, MoveList, PlayersPanel, playedMoves, timeBars } from "./game.js";
import { FLAWS, SIGNS, shareCurves, tellDeeper, tellSeats, tellTurn } from "./judged.js";
import { focused, lensKey, lensOptions } from "./lens.js";
import { Lines } from "./lines.js";
import { openLogs } from "./logs.js";
import { Openings } from "./openings.js";
import {
  copyLink,
  entitle,
  fill,
  follow,
  get,
  guarded,
  h,
  logName,
  many,
  percent,
  post,
  readdress,
  resultText,
  say,
  sourceFrom,
  sourceQuery,
  speed,
  speedBox,
  t,
} from "./page.js";
import { counting, howToPlay } from "./rules.js";
import { Variations } from "./tree.js";

const STEP = 4; // times the nodes in a deeper review

export async function review(main, context) {
  const source = sourceFrom(context.parameters);
  return source.log || source.match || source.run ? reviewGame(main, context, source) : openLogs(main, context);
}

async function reviewGame(main, { parameters, games, kept }, asked) {
  const source = Object.fromEntries(
    Object.entries(asked).filter(([key]) => ["log", "match", "run", "number"].includes(key)),
  );
  const view = await get("view?" + sourceQuery(source)),
    game = new Game(view);
  const about = games.games.find(g => g.name === view.game);
  let moves = asked.moves || [],
    found = { turns: {}, document: null, state: "waiting", done: 0, total: 0, error: "" };
  const effort = parameters.has("nodes") ? "&nodes=" + parameters.get("nodes") : "";
  let before = false,
    lensAt = "",
    lenses = [],
    shownPosition = null,
    fetching = 0,
    marked = null; // the step whose tree shows the current move

  // The review so far.
  const turnAt = i => found.document?.turns[i] ?? found.turns[i];
  const doc = () => found.document;
  const base = () =>
    exercise.task ? exercise.task.number : before && panel.step > 0 && !moves.length ? panel.step - 1 : panel.step;
  const here = () => ({ ...source, step: base(), ...(moves.length ? { moves } : {}) });

  // The panels.
  const list = new MoveList(
    step => leaveLine(step),
    (turn, i) => {
      const r = turnAt(i);
      if (!r) return [];
      return [
        SIGNS[r.label] && r.label !== "forced"
          ? h("span", { class: "label " + r.label, title: t("label_" + r.label) }, SIGNS[r.label])
          : null,
        r.loss >= 0.005 ? h("span", {}, "−" + percent(r.loss, 0)) : null,
        doc()?.turning_point === i ? h("span", { class: "dim", title: t("turning_point") }, "⚑") : null,
      ];
    },
    i =>
      [i, ...(i === game.steps - 1 ? [game.steps] : [])].map(step =>
        tree.draw(step, moves.length && panel.step === step ? moves : null),
      ),
  );
  const drawTree = step => list.refresh(view.turns, Math.min(step, game.steps - 1));
  const tree = new Variations(sourceQuery(source), (step, line) => enter(step, line), drawTree);
  const players = new PlayersPanel(),
    graph = new GraphPanel(step => leaveLine(step), t("win_probability")),
    bar = new ValueBar();
  const progress = h("progress", { max: 1, value: 0, "aria-label": t("reviewing") });
  const progressLine = h("p", { class: "progress", id: "progress" }, progress, h("span", { class: "dim" }));
  const now = h("section", { class: "card", id: "now", "aria-live": "polite" });
  const line = h("section", { class: "card", id: "variation", hidden: true });
  const sums = h("section", {
    class: "card scroll",
    id: "sums",
    tabindex: 0,
    "aria-label": t("seats_table"),
    hidden: true,
  });
  const beforeBox = h("input", {
    type: "checkbox",
    id: "before",
    onchange: () => {
      before = beforeBox.checked;
      panel.go(panel.step);
    },
  });
  const lensBox = h("select", {
    id: "lens",
    "aria-label": t("lens"),
    onchange: () => {
      lensAt = lensBox.value;
      panel.chooser.watched = lensAt !== "";
      showLens();
    },
  });
  const onward = h("a", { class: "button", id: "play-on" }, t("play_from_here"));

  const panel = new BoardPanel({
    base,
    bar: bar.element,
    quiet: true,
    look: () => {
      const turn = view.turns[panel.step - 1],
        r = turnAt(panel.step - 1),
        arrows = [];
      if (moves.length) {
        const last = shownPosition?.last;
        if (last) arrows.push({ parts: last.parts, seat: last.seat, kind: "played" });
      } else if (exercise.task) arrows.push(...playedMoves(view.turns[exercise.task.number]));
      else {
        if (r?.best && !r.is_best && r.label !== "forced") arrows.push({ parts: r.best.parts || [], kind: "best" });
        arrows.push(...playedMoves(turn));
        if (before)
          (r?.candidates || [])
            .slice(0, 4)
            .forEach((c, i) => arrows.push({ parts: c.parts || [], kind: "best", width: 0.6, rank: i + 1 }));
      }
      if (exercise.task?.shown) arrows.push({ parts: exercise.task.shown, kind: "best" });
      if (!exercise.task) arrows.push(...engine.arrows());
      return {
        moves: arrows,
        changed: moves.length || exercise.task || before || !turn ? null : turn.seat,
        lens: focused(
          lenses.find(l => lensKey(l, lenses) === lensAt),
          panel.chooser.pointed ?? panel.chooser.selection?.taken[0] ?? panel.chooser.selection?.cursor,
        ),
      };
    },
    stepped: () => {
      if (moves.length && !panel.quiet) moves = [];
      if (exercise.task && panel.step !== exercise.task.number) exercise.stop(); // its board is that of one step
      refresh();
    },
    chosen: guarded(async choice => {
      if (exercise.task) return exercise.attempt(choice);
      return choose(choice.move);
    }),
    keys: {
      n: () => mistake(1),
      p: () => mistake(-1),
      b: () => beforeBox.click(),
      e: () => engine.toggle(),
      Backspace: () => moves.length && shorten(moves.length - 1),
    },
  });

  const exercise = new Exercise(view, {
    turnAt,
    threshold: () => doc()?.thresholds?.[1] ?? 0.1,
    judge: (number, parts) => post(`reviews/${found.id}/try`, { number, parts }),
    posed: number => {
      engine.stop();
      moves = [];
      before = beforeBox.checked = false;
      panel.go(number);
      panel.svg.scrollIntoView({ block: "nearest" });
    },
    ended: () => panel.go(panel.step),
    draw: () => panel.draw(),
  });
  const lines = new Lines(
    position => panel.preview(position),
    (from, line) => enter(from.step, [...(from.moves || []), ...line]),
  );
  const engine = new Analysis((about?.built_in || []).map(p => p.name), {
    lines,
    from: here,
    paused: () => exercise.task !== null || !shownPosition || shownPosition.over,
    draw: () => {
      showValue();
      panel.draw();
    },
  });

  const openings = new Openings({
    from: () => (exercise.task ? null : here()),
    labels: () => view.labels,
    enter: move => choose(move),
  });
  const comparison = new Comparison(view, panel, lines),
    deeper = new Map(); // further reviews by number of the turn

  function leaveLine(step) {
    moves = [];
    exercise.stop();
    panel.go(step);
  }
  /** Show the position after a move: of the game or of a variation. */
  function choose(move) {
    if (!moves.length && view.turns[base()]?.move === move) return panel.go(base() + 1);
    return enter(base(), [...moves, move]);
  }
  /** Show the variation of some moves after a step. */
  function enter(step, line) {
    panel.step = step;
    before = beforeBox.checked = false;
    moves = line;
    refresh();
  }
  function shorten(length) {
    moves = moves.slice(0, length);
    refresh();
  }
  function mistake(step) {
    for (let i = panel.step + step; i > 0 && i <= game.steps; i += step) {
      if (FLAWS.includes(turnAt(i - 1)?.label)) return leaveLine(i);
    }
    return undefined;
  }

  /** The shown position has changed. */
  function refresh() {
    readdress(main, "#/review?" + sourceQuery({ ...source, step: panel.step, moves }) + effort);
    onward.href = "#/play?" + sourceQuery({ ...source, step: base(), moves });
    shownPosition = null;
    panel.position = null;
    panel.overlay = false;
    panel.chooser.offer(null);
    for (const step of new Set([marked ?? panel.step, panel.step])) drawTree(step);
    marked = moves.length ? panel.step : null;
    list.mark(panel.step);
    players.update(view, Math.min(base(), game.steps), null);
    showNow();
    showLine();
    drawGraph();
    lenses = lensAt ? lenses : [];
    panel.draw();
    const turn = ++fetching;
    setTimeout(
      () => turn === fetching && fetchPosition(turn).catch(error => say(error.message, true)),
      moves.length || exercise.task ? 0 : 60,
    );
    engine.moved();
    openings.moved();
  }
  async function fetchPosition(turn) {
    const { positions } = await post("position", { ...here(), trail: true });
    if (turn !== fetching) return;
    const position = (shownPosition = positions.at(-1));
    if (moves.length) tree.add(base(), moves, positions);
    engine.moved();
    panel.offer(position.over ? null : position, moves.length > 0);
    if (moves.length > 0) {
      panel.position = position;
      panel.overlay = true;
      panel.draw();
      showLine();
    }
    if (lensAt) await showLens();
  }
  async function showLens() {
    if (lensAt) {
      const turn = fetching,
        got = await post("lenses", here());
      if (turn !== fetching) return;
      lenses = got.lenses;
    } else lenses = [];
    panel.draw();
  }

  function showLine() {
    line.hidden = !moves.length;
    const chip = (text, i) =>
      h(
        "button",
        {
          type: "button",
          class: "chip",
          onclick: () => shorten(i + 1),
          "aria-current": i === moves.length - 1 ? "step" : null,
        },
        text,
      );
    fill(
      line,
      h("h2", {}, t("variation", { step: panel.step })),
      h("p", { class: "actions" }, moves.map(chip)),
      h(
        "p",
        { class: "actions" },
        h("button", { type: "button", id: "to-game", onclick: () => shorten(0) }, t("back_to_game")),
        shownPosition?.over ? h("span", {}, t("game_over")) : null,
      ),
    );
  }

  function showNow() {
    const i = panel.step - 1;
    now.hidden = exercise.task !== null;
    const buttons = lines.buttons.bind(lines, { ...source, step: i });
    tellTurn(now, view, i, turnAt(i), doc(), buttons);
    const found = deeper.get(i) || [];
    for (const { turn, nodes } of found) now.append(tellDeeper(view.turns[i], turn, doc(), nodes, buttons));
    const nodes = STEP * (found.at(-1)?.nodes ?? doc()?.engines[0].nodes);
    if (nodes && i >= 0 && turnAt(i).label !== "forced") {
      const act = guarded(event => deepen(i, nodes, event.target));
      now.append(h("button", { type: "button", id: "deeper", onclick: act }, t("deeper", { n: many(nodes) })));
    }
    comparison.show(source, i, exercise.task || moves.length ? null : turnAt(i)).catch(() => {});
    showValue();
  }
  /** Review a turn again with more nodes; the result is shown below the first one. */
  async function deepen(i, nodes, button) {
    Object.assign(button, { disabled: true, textContent: t("looking") });
    try {
      const turn = await post(`reviews/${found.id}/deeper`, { number: i, nodes });
      deeper.set(i, [...(deeper.get(i) || []), { turn, nodes }]);
    } finally {
      showNow();
    }
  }
  /** The bar shows what the running analysis finds, else the review. */
  function showValue() {
    const seen = exercise.task ? null : engine.best,
      seat = shownPosition?.to_move;
    if (seen?.shares) bar.show(view, seen.shares);
    else if (seen && seen.score != null && seat != null && view.players.length === 2) {
      const reach = Math.max(1, Math.abs(seen.score), ...view.turns.map((_, i) => Math.abs(turnAt(i)?.score ?? 0)));
      bar.show(view, ...scoreValue(seat, seen.score, reach));
    } else if (moves.length) bar.show(view, bar.element.hidden ? null : []);
    else bar.show(view, ...reviewedValue(view, turnAt, doc(), base()));
  }

  function drawGraph() {
    const data = exercise.task ? { ...shareCurves(view, turnAt, doc()), flaws: [] } : shareCurves(view, turnAt, doc());
    graph.draw(
      { ...data, times: timeBars(view.turns), steps: view.turns.length, at: panel.step },
      view,
      data.percent ? t("win_probability") : view.score_name,
    );
  }

  function showProgress() {
    const running = ["waiting", "running"].includes(found.state);
    progressLine.hidden = !running && !found.error;
    progress.hidden = !running;
    progress.max = found.total || 1;
    progress.value = found.done;
    progressLine.lastChild.textContent =
      found.error || t("reviewing_of", { n: found.done, of: found.total || game.steps });
    progressLine.classList.toggle("bad", !!found.error);
  }

  main.append(
    h("h1", { class: "title" }, view.title),
    h(
      "div",
      { class: "game reviewing" },
      h(
        "div",
        { class: "left" },
        panel.element,
        h(
          "section",
          { class: "card extras" },
          h("p", { class: "status" }, view.complaint || (view.result ? resultText(view) : t("unfinished"))),
          view.notes?.length ? h("p", { class: "dim" }, view.notes.join("; ")) : null,
          h(
            "div",
            { class: "actions" },
            h("label", { class: "check" }, beforeBox, " ", t("board_before")),
            about?.lenses.length ? h("label", {}, t("lens"), " ", lensBox) : null,
            speedBox(speed()),
            copyLink(),
            onward,
            h("a", { class: "button", href: "api/text?" + sourceQuery(source), download: logName(view) }, t("save")),
          ),
          h("p", { class: "dim keys" }, t("keys_review")),
        ),
        line,
        comparison.element,
      ),
      h(
        "div",
        { class: "right" },
        h(
          "div",
          { class: "side" },
          players.element,
          graph.element,
          progressLine,
          h("div", { class: "pair" }, h("section", { class: "card list" }, h("h2", {}, t("moves")), list.element), now),
        ),
        exercise.element,
        engine.element,
        openings.element,
        sums,
        counting(view) ?? "",
        about ? howToPlay(about) : "",
      ),
    ),
  );
  entitle(main, view.title);
  if (about?.lenses.length) {
    lensBox.append(h("option", { value: "" }, t("no_lens")));
    post("lenses", { ...source, step: 0 }).then(
      got => lensBox.append(...lensOptions(got.lenses)),
      () => {},
    );
  }
  list.update(view.turns, true);
  panel.setGame(game);
  exercise.resume(kept.task);
  panel.quiet = true;
  panel.go(asked.step ?? 0);
  panel.quiet = false;
  exercise.show();

  let unfollow = () => {};
  let late = null;
  const showReview = () => {
    clearTimeout(late);
    late = null;
    drawGraph();
    showProgress();
    showNow();
    if (!exercise.task) exercise.show();
    panel.draw();
  };
  const changed = () => {
    late ??= setTimeout(showReview, 50); // once for many turns
  };
  /** Ask for the review, and follow it; once more when a server that could not be reached is back. */
  const begin = async () => {
    Object.assign(found, { state: "waiting", error: "" });
    showProgress();
    try {
      const made = await post("reviews", {
        from: source,
        nodes: parameters.has("nodes") ? +parameters.get("nodes") : null,
        engine: about?.built_in[0]?.name || "bot",
        candidates: 3,
      });
      found.id = made.id;
      const whole = document => {
        Object.assign(found, { document, state: "done", done: found.total });
        list.update(view.turns, true);
        list.mark(panel.step);
        const nodes = STEP * document.engines[0].nodes;
        tellSeats(sums, view, document);
        sums.append(
          h("a", { class: "button", id: "deeper-all", href: `#/review?${sourceQuery(source)}&nodes=${nodes}` }, t("deeper_all", { n: many(nodes) })),
        );
        showReview();
        sums.hidden = false;
      };
      unfollow = follow("review/" + made.id, {
        state: event => {
          found = { ...found, ...event.review };
          if (found.document) whole(found.document);
          else {
            list.update(view.turns, true);
            list.mark(panel.step);
          }
          changed();
          if (exercise.task) exercise.show(); // an exercise that was resumed has no loss yet
        },
        turn: event => {
          found.turns[event.number] = event.turn;
          Object.assign(found, { state: "running", done: Object.keys(found.turns).length });
          list.refresh(view.turns, event.number);
          changed();
        },
        end: event => whole(event.document),
        failed: event => {
          Object.assign(found, { state: "failed", error: event.error });
          changed();
        },
        gone: event => {
          Object.assign(found, { state: "failed", error: event.error });
          changed();
        },
      });
    } catch (error) {
      Object.assign(found, { state: "failed", error: error.message });
      showProgress();
      if (error.status === 0) document.addEventListener("reconnected", begin, { once: true });
    }
  };
  await begin();
  return () => {
    document.removeEventListener("reconnected", begin);
    unfollow();
    engine.close();
    openings.close();
    lines.end();
    clearTimeout(late);
    fetching += 1;
    panel.close();
    return { task: exercise.task };
  };
}
