// A game looked at afterwards: what every move lost, other lines, what an engine sees, and the better moves to find.
import { EnginePanel } from "./engine.js";
import { Exercise } from "./exercise.js";
import { BoardPanel, Game, GraphPanel, MoveList, PlayersPanel, playedMoves, scoreCurves, timeBars } from "./game.js";
import { FLAWS, SIGNS, tellSeats, tellTurn } from "./judged.js";
import { openLogs } from "./logs.js";
import { resultText } from "./match.js";
import { fill, follow, get, guarded, h, known, percent, post, say, sourceFrom, sourceQuery, t } from "./page.js";

/** What tells a lens from others: its name, and its seat where there is one for each. */
const lensKey = (lens, all) =>
  all.filter(o => o.name === lens.name).length > 1 ? `${lens.name} ${lens.seat}` : lens.name;

export async function review(main, context) {
  const source = sourceFrom(context.parameters);
  return source.log || source.match || source.run ? reviewGame(main, context, source) : openLogs(main, context);
}

async function reviewGame(main, { parameters, games }, asked) {
  const source = Object.fromEntries(
    Object.entries(asked).filter(([key]) => ["log", "match", "run", "number"].includes(key)),
  );
  const view = await get("view?" + sourceQuery(source)),
    game = new Game(view);
  const about = games.games.find(g => g.name === view.game);
  let moves = asked.moves || [],
    found = { turns: {}, document: null, state: "waiting", done: 0, total: 0, error: "" };
  let before = false,
    lensAt = "",
    lenses = [],
    shownPosition = null,
    fetching = 0;

  // What is known of the turns.
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
  );
  const players = new PlayersPanel(),
    graph = new GraphPanel(step => leaveLine(step), t("win_probability"));
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
  const share = h(
    "button",
    {
      type: "button",
      id: "share",
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(location.href);
          say(t("copied"));
        } catch {
          say(location.href);
        }
      },
    },
    t("share"),
  );
  const onward = h("a", { class: "button", id: "play-on" }, t("play_from_here"));

  const panel = new BoardPanel({
    base,
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
      if (engine.analysis && !exercise.task)
        for (const l of [...engine.analysis.lines].reverse())
          arrows.push({ parts: l.parts[0] || [], kind: "hint", width: 1.2 - 0.25 * l.rank, rank: l.rank });
      return {
        moves: arrows,
        changed: moves.length || exercise.task || before || !turn ? null : turn.seat,
        lens: focused(lenses.find(l => lensKey(l, lenses) === lensAt)),
      };
    },
    stepped: () => {
      if (moves.length && !panel.quiet) moves = [];
      refresh();
    },
    chosen: guarded(async choice => {
      if (exercise.task) return exercise.attempt(choice);
      const next = view.turns[base()];
      if (!moves.length && next && next.move === choice.move) return panel.go(base() + 1);
      if (!moves.length && base() !== panel.step) {
        // a line from the board before the move
        panel.step = base();
        before = beforeBox.checked = false;
      }
      moves = [...moves, choice.move];
      return refresh();
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
    },
    ended: () => panel.go(panel.step),
    draw: () => panel.draw(),
  });
  const engine = new EnginePanel(about?.built_in[0]?.name || "bot", {
    from: here,
    paused: () => exercise.task !== null,
    draw: () => panel.draw(),
  });

  /** Of many regions or paths those that begin or lie under the pointer, or the best few. */
  function focused(lens) {
    const at = panel.chooser.pointed ?? panel.chooser.selection?.taken[0] ?? panel.chooser.selection?.cursor;
    const some = (list, cells, rank) => {
      if (list.length <= 8) return list;
      const under = list.filter(r => cells(r).includes(at));
      return under.length ? under.slice(0, 12) : [...list].sort((a, b) => rank(b) - rank(a)).slice(0, 6);
    };
    return (
      lens && {
        ...lens,
        regions: some(
          lens.regions,
          r => r.cells,
          r => r.value ?? r.cells.length,
        ),
        paths: some(
          lens.paths,
          p => [p[0]],
          p => p.length,
        ),
      }
    );
  }
  function leaveLine(step) {
    moves = [];
    exercise.stop();
    panel.go(step);
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

  /** The position that is looked at has changed. */
  function refresh() {
    history.replaceState(null, "", "#/review?" + sourceQuery({ ...source, step: panel.step, moves }));
    onward.href = "#/play?" + sourceQuery({ ...source, step: base(), moves });
    shownPosition = null;
    panel.position = null;
    panel.overlay = false;
    panel.chooser.offer(null);
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
  }
  async function fetchPosition(turn) {
    const position = await post("position", here());
    if (turn !== fetching) return;
    shownPosition = position;
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
    tellTurn(now, view, i, turnAt(i), doc());
  }

  function drawGraph() {
    const seats = view.players.map((p, s) => s).filter(s => view.players[s] !== null),
      turns = view.turns;
    const shares = i => (i === 0 ? doc()?.start : turnAt(i - 1)?.shares);
    const any = turns.some((_, i) => turnAt(i)?.shares);
    const data = any
      ? {
          curves: seats.map(seat => ({
            seat,
            points: Array.from({ length: turns.length + 1 }, (_, i) => shares(i)?.[seat] ?? null),
          })),
          ticks: [0, 0.25, 0.5, 0.75, 1].map(p => [p, `${100 * p} %`]),
          percent: true,
        }
      : scoreCurves(view);
    const flaws =
      any && !exercise.task
        ? turns
            .map((turn, i) => [turn, turnAt(i), i])
            .filter(([, r]) => r?.shares && FLAWS.includes(r.label))
            .map(([turn, r, i]) => ({ step: i + 1, seat: turn.seat, value: r.shares[turn.seat], sign: SIGNS[r.label] }))
        : [];
    graph.draw(
      { ...data, flaws, times: timeBars(turns), steps: turns.length, at: panel.step },
      view,
      any ? t("win_probability") : view.score_name,
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
      { class: "game" },
      h(
        "div",
        { class: "left" },
        panel.element,
        h(
          "section",
          { class: "card" },
          h("p", { class: "status" }, view.complaint || (view.result ? resultText(view) : t("unfinished"))),
          view.notes?.length ? h("p", { class: "dim" }, view.notes.join("; ")) : null,
          h(
            "div",
            { class: "actions" },
            h("label", { class: "check" }, beforeBox, " ", t("board_before")),
            about?.lenses.length ? h("label", {}, t("lens"), " ", lensBox) : null,
            share,
            onward,
            h("a", { class: "button", href: "api/text?" + sourceQuery(source), download: "" }, t("save")),
          ),
          h("p", { class: "dim keys" }, t("keys_review")),
        ),
        line,
        now,
      ),
      h(
        "div",
        { class: "right" },
        players.element,
        graph.element,
        progressLine,
        exercise.element,
        engine.element,
        h("section", { class: "card" }, h("h2", {}, t("moves")), list.element),
        sums,
      ),
    ),
  );
  document.title = `${view.title} – quartet`;
  if (about?.lenses.length) {
    lensBox.append(h("option", { value: "" }, t("no_lens")));
    post("lenses", { ...source, step: 0 }).then(
      got =>
        lensBox.append(
          ...got.lenses.map(lens => {
            const words = known("lens_" + lens.name) ? t("lens_" + lens.name) : lens.title;
            return h(
              "option",
              { value: lensKey(lens, got.lenses) },
              lensKey(lens, got.lenses) === lens.name || !known("lens_" + lens.name)
                ? words
                : `${words} ${view.labels[lens.seat]}`,
            );
          }),
        ),
      () => {},
    );
  }
  list.update(view.turns, true);
  panel.setGame(game);
  panel.quiet = true;
  panel.go(asked.step ?? 0);
  panel.quiet = false;
  exercise.show();
  showProgress();

  let unfollow = () => {};
  let late = null;
  const changed = () => {
    // many turns may come at once
    late ??= setTimeout(() => {
      late = null;
      drawGraph();
      showProgress();
      showNow();
      if (!exercise.task) exercise.show();
      panel.draw();
    }, 50);
  };
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
      sums.hidden = false;
      tellSeats(sums, view, document);
      changed();
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
  }
  return () => {
    unfollow();
    engine.close();
    clearTimeout(late);
    fetching += 1;
    panel.close();
  };
}
