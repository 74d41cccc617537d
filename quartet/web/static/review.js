// A game looked at afterwards: what every move lost, other lines, what an engine sees, and the better moves to find.
import { BoardPanel, Game, GraphPanel, MoveList, PlayersPanel, playedMoves, scoreCurves, timeBars } from "./game.js";
import { openLogs } from "./logs.js";
import { resultText } from "./match.js";
import {
  fill,
  follow,
  get,
  guarded,
  h,
  known,
  many,
  moveText,
  number,
  percent,
  post,
  remove,
  say,
  seatTag,
  sourceFrom,
  sourceQuery,
  t,
  who,
} from "./page.js";

const SIGNS = { inaccuracy: "?!", mistake: "?", blunder: "??", foul: "✗", best: "", good: "", forced: "□" };
const FLAWS = ["inaccuracy", "mistake", "blunder", "foul"];
const TO_FIND = ["inaccuracy", "mistake", "blunder"];
const labelTag = label =>
  label ? h("span", { class: "label " + label }, (SIGNS[label] ? SIGNS[label] + " " : "") + t("label_" + label)) : null;

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
    exercise = null,
    analysis = null,
    lensAt = "",
    lenses = [],
    shownPosition = null,
    fetching = 0;

  // What is known of the turns.
  const turnAt = i => found.document?.turns[i] ?? found.turns[i];
  const doc = () => found.document;
  const base = () =>
    exercise ? exercise.number : before && panel.step > 0 && !moves.length ? panel.step - 1 : panel.step;
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
  const task = h("section", { class: "card", id: "exercise" });
  const engine = h("section", { class: "card", id: "analysis" });
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
      } else if (exercise) arrows.push(...playedMoves(view.turns[exercise.number]));
      else {
        if (r?.best && !r.is_best && r.label !== "forced") arrows.push({ parts: r.best.parts || [], kind: "best" });
        arrows.push(...playedMoves(turn));
        if (before)
          (r?.candidates || [])
            .slice(0, 4)
            .forEach((c, i) => arrows.push({ parts: c.parts || [], kind: "best", width: 0.6, rank: i + 1 }));
      }
      if (exercise?.shown) arrows.push({ parts: exercise.shown, kind: "best" });
      if (analysis && !exercise)
        for (const l of [...analysis.lines].reverse())
          arrows.push({ parts: l.parts[0] || [], kind: "hint", width: 1.2 - 0.25 * l.rank, rank: l.rank });
      return {
        moves: arrows,
        changed: moves.length || exercise || before || !turn ? null : turn.seat,
        lens: focused(lenses.find(l => lensKey(l, lenses) === lensAt)),
      };
    },
    stepped: () => {
      if (moves.length && !panel.quiet) moves = [];
      refresh();
    },
    chosen: guarded(async choice => {
      if (exercise) return attempt(choice);
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
      e: () => toggleEngine(),
      Backspace: () => moves.length && shorten(moves.length - 1),
    },
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
    stopExercise();
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
      moves.length || exercise ? 0 : 60,
    );
    clearTimeout(engineTimer);
    if (analysis) engineTimer = setTimeout(() => startEngine().catch(error => say(error.message, true)), 250);
  }
  let engineTimer = null;
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

  /** What is said of the turn that is shown. */
  function showNow() {
    const i = panel.step - 1,
      turn = view.turns[i],
      r = turnAt(i);
    now.hidden = exercise !== null;
    fill(now);
    if (!turn) {
      now.append(h("p", {}, t("at_start")), doc()?.start ? h("p", { class: "dim" }, sharesText(doc().start)) : "");
      return;
    }
    const facts = [];
    if (r) {
      if (r.loss >= 0.0005) facts.push(t("lost", { x: percent(r.loss) }) + (r.proven ? ` (${t("proven")})` : ""));
      else if (r.loss == null && r.score_loss) facts.push(t("lost", { x: number(r.score_loss) }));
      if (r.missed_win) facts.push(t("missed_win"));
      if (r.luck) facts.push(t("luck", { x: (r.luck > 0 ? "+" : "") + percent(r.luck) }));
      if (r.gain) facts.push(t("swung", { name: doc()?.score_name || view.score_name, x: number(r.gain) }));
      if (doc()?.turning_point === i) facts.push(t("turning_point"));
    }
    facts.push(
      `${turn.seconds.toFixed(2)} s` +
        (turn.clock != null ? `, ${t("left", { s: (turn.clock / 1000).toFixed(1) })}` : "") +
        (r?.idle ? `, ${t("idle")}` : ""),
    );
    if (turn.drawn != null) facts.push(t("drew", { x: turn.drawn }));
    now.append(
      h(
        "p",
        {},
        h("span", { class: "dim" }, `${turn.ply}. `),
        seatTag(turn.seat, h("b", {}, `${who(view, turn.seat)}: ${moveText(turn)} `)),
        labelTag(r?.label),
      ),
      turn.reason ? h("p", { class: "bad" }, turn.reason) : "",
      h("p", {}, facts.join("; ")),
    );
    if (r?.shares) now.append(h("p", { class: "dim" }, sharesText(r.shares)));
    if (r?.best && !r.is_best) {
      now.append(
        h(
          "p",
          {},
          t(r.loss == null || r.loss >= (doc()?.thresholds?.[0] ?? 0.05) ? "better" : "engines_move"),
          " ",
          h("b", { class: "best-move" }, r.best.move),
          r.best.share != null ? ` ${percent(r.best.share)}` : "",
          (r.line || []).length > 1
            ? h("span", { class: "dim" }, "  " + t("then", { line: r.line.slice(1).join(" · ") }))
            : "",
        ),
      );
    }
    if (r?.candidates?.length) {
      now.append(
        h(
          "div",
          { class: "scroll", tabindex: 0, "aria-label": t("candidates") },
          h(
            "table",
            {},
            h(
              "thead",
              {},
              h(
                "tr",
                {},
                h("th", {}, "#"),
                h("th", {}, t("candidates")),
                h("th", { class: "n" }, t("win")),
                h("th", { class: "n" }, t("score")),
              ),
            ),
            h(
              "tbody",
              {},
              r.candidates.map((c, k) =>
                h(
                  "tr",
                  {},
                  h("td", {}, k + 1),
                  h("td", {}, c.move + (c.move === turn.move ? ` (${t("played")})` : "")),
                  h("td", { class: "n" }, percent(c.share) + (c.proven ? " ✓" : "")),
                  h("td", { class: "n" }, number(c.score)),
                ),
              ),
            ),
          ),
        ),
      );
    }
    if (r?.overlooked?.length)
      now.append(
        h(
          "p",
          { class: "dim" },
          t("overlooked", { n: r.overlooked_count }) +
            " " +
            r.overlooked.map(([move, gain]) => `${move} +${number(gain)}`).join(", "),
        ),
      );
    if (r?.harm?.length)
      now.append(
        h(
          "p",
          { class: "dim" },
          t("took") +
            " " +
            r.harm.map((x, s) => `${view.labels[s]} ${x > 0 ? "−" : "+"}${percent(Math.abs(x))}`).join(", "),
        ),
      );
    for (const o of r?.second_opinions || [])
      now.append(
        h("p", { class: "dim" }, `${o.engine}: ${o.label ? t("label_" + o.label) : number(o.score_loss)}, ${o.best}`),
      );
    const said = [...(turn.said || []).map(([seat, text]) => `${view.labels[seat] ?? "?"}: ${text}`)];
    if (said.length)
      now.append(h("pre", { class: "remarks", tabindex: 0, "aria-label": t("remarks") }, said.join("\n")));
  }
  const sharesText = shares =>
    view.players
      .map((p, s) => (p == null ? null : `${view.labels[s]} ${percent(shares[s])}`))
      .filter(Boolean)
      .join(", ");

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
      any && !exercise
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

  // Find the better move.
  const tasks = seat =>
    view.turns
      .map((turn, i) => i)
      .filter(i => TO_FIND.includes(turnAt(i)?.label) && (seat === "" || view.turns[i].seat === +seat));
  function showTask() {
    if (!exercise) {
      const all = tasks("");
      task.hidden = !all.length;
      const choice = h(
        "select",
        { id: "exercise-seat", "aria-label": t("whose_mistakes") },
        h("option", { value: "" }, t("everybody")),
        view.players.map((p, s) => (p == null ? null : h("option", { value: s }, who(view, s)))),
      );
      fill(
        task,
        h("h2", {}, t("exercise")),
        h(
          "p",
          { class: "actions" },
          choice,
          h(
            "button",
            {
              type: "button",
              class: "main",
              id: "exercise-start",
              onclick: () => {
                const left = tasks(choice.value);
                if (!left.length) return say(t("no_mistakes"));
                exercise = { left, at: 0, solved: 0 };
                return pose();
              },
            },
            t("exercise_start", { n: all.length }),
          ),
        ),
      );
      return;
    }
    const { number: i, at, left, said, done } = exercise,
      turn = view.turns[i];
    fill(
      task,
      h("h2", {}, t("exercise_of", { at: at + 1, n: left.length })),
      h(
        "p",
        { id: "exercise-text", role: "status" },
        seatTag(turn.seat, h("b", {}, who(view, turn.seat))),
        " ",
        t("exercise_text", { move: moveText(turn), x: percent(turnAt(i)?.loss) }),
      ),
      said ? h("p", { class: done ? "good" : "bad", id: "exercise-said", role: "status" }, said) : null,
      h(
        "p",
        { class: "actions" },
        done
          ? null
          : h(
              "button",
              {
                type: "button",
                id: "exercise-show",
                onclick: () => {
                  const best = turnAt(i)?.best;
                  Object.assign(exercise, {
                    done: true,
                    shown: best?.parts || [],
                    said: t("solution", { move: best?.move ?? "–" }),
                  });
                  showTask();
                  panel.draw();
                },
              },
              t("show_solution"),
            ),
        h(
          "button",
          {
            type: "button",
            id: "exercise-next",
            class: done ? "main" : "",
            onclick: () => {
              if (at + 1 < left.length) {
                exercise = { left, at: at + 1, solved: exercise.solved };
                return pose();
              }
              say(t("exercise_done", { n: exercise.solved, of: left.length }));
              stopExercise();
              return panel.go(panel.step);
            },
          },
          t("next"),
        ),
        h(
          "button",
          {
            type: "button",
            id: "exercise-stop",
            onclick: () => {
              stopExercise();
              panel.go(panel.step);
            },
          },
          t("stop"),
        ),
      ),
    );
  }
  function pose() {
    exercise.number = exercise.left[exercise.at];
    stopEngine();
    moves = [];
    before = beforeBox.checked = false;
    panel.go(exercise.number);
    showTask();
  }
  async function attempt(choice) {
    const mine = exercise,
      i = mine.number;
    if (mine.done) return;
    mine.said = t("looking");
    showTask();
    const got = await post(`reviews/${found.id}/try`, { number: i, parts: choice.parts });
    if (exercise !== mine) return;
    const threshold = doc()?.thresholds?.[1] ?? 0.1,
      loss = got.loss ?? null,
      was = turnAt(i)?.loss ?? 0;
    const good = got.is_best || (loss != null && loss < threshold),
      text = { move: got.move, x: percent(Math.max(0, loss ?? 0)) };
    mine.shown = choice.parts;
    mine.said = got.is_best
      ? t("try_best", text)
      : good
        ? t("try_good", text)
        : got.move === view.turns[i].move
          ? t("try_same")
          : loss != null && loss < was
            ? t("try_less", text)
            : t("try_bad", text);
    if (good) Object.assign(mine, { done: true, solved: mine.solved + 1 });
    showTask();
    panel.draw();
  }
  function stopExercise() {
    if (!exercise) return;
    exercise = null;
    showTask();
  }

  // What an engine sees.
  let engineId = null,
    unfollowEngine = null;
  function toggleEngine() {
    if (analysis) stopEngine();
    else {
      analysis = { lines: [] };
      startEngine().catch(error => say(error.message, true));
    }
    showEngine();
  }
  async function startEngine() {
    await endEngine();
    if (!analysis || exercise) return;
    const mine = (analysis = { lines: [] }),
      started = await post("analyses", {
        from: here(),
        player: about?.built_in[0]?.name || "bot",
        options: {},
        seconds: null,
        nodes: null,
        lines: 3,
      });
    if (analysis !== mine) {
      await remove("analyses/" + started.id).catch(() => {});
      return;
    }
    engineId = started.id;
    const add = l => {
      mine.lines = [...mine.lines.filter(o => o.rank !== l.rank), l].sort((a, b) => a.rank - b.rank);
    };
    const shown = () => {
      if (analysis !== mine) return;
      showEngine();
      panel.draw();
    };
    unfollowEngine = follow("analysis/" + engineId, {
      state: event => {
        for (const l of event.analysis.lines) add(l);
        shown();
      },
      line: event => {
        add(event.line);
        shown();
      },
      end: event => {
        mine.over = true;
        mine.error = event.error;
        mine.candidates = event.candidates;
        if (!mine.lines.length && event.best) add({ rank: 1, line: [event.best.move], parts: [event.best.parts] });
        shown();
      },
      gone: () => {},
    });
  }
  async function endEngine() {
    const id = engineId;
    engineId = null;
    if (unfollowEngine) unfollowEngine();
    unfollowEngine = null;
    if (id) await remove("analyses/" + id).catch(() => {});
  }
  function stopEngine() {
    clearTimeout(engineTimer);
    analysis = null;
    endEngine();
    showEngine();
    panel.draw();
  }
  const engineButton = h("button", { type: "button", id: "engine", onclick: () => toggleEngine() }),
    engineLines = h("div");
  engine.append(h("h2", {}, t("analysis")), h("p", { class: "actions" }, engineButton), engineLines);
  function showEngine() {
    engineButton.textContent = t(analysis ? "engine_off" : "engine_on");
    engineButton.setAttribute("aria-pressed", String(!!analysis));
    fill(
      engineLines,
      ...(analysis?.error ? [h("p", { class: "bad" }, analysis.error)] : []),
      ...(analysis?.lines || []).map(l =>
        h(
          "p",
          { class: "engine-line" },
          h("span", { class: "rank-tag" }, l.rank),
          " ",
          h("b", {}, l.share != null ? percent(l.share) : number(l.score)),
          " ",
          h(
            "span",
            { class: "dim" },
            [
              l.depth != null ? t("depth", { depth: l.depth }) : "",
              l.nodes ? t("nodes", { n: many(l.nodes) }) : "",
              l.nps ? t("speed", { speed: many(l.nps) }) : "",
            ]
              .filter(Boolean)
              .join(", "),
          ),
          h("span", { class: "line" }, " " + (l.line || []).join(" · ")),
        ),
      ),
    );
  }
  showEngine();

  // The tables.
  function showSums() {
    const d = doc();
    sums.hidden = !d;
    if (!d) return;
    const columns = [
      [t("player"), s => seatTag(s.seat, who(view, s.seat)), ""],
      [t("accuracy"), s => number(s.accuracy, 1), "n"],
      [t("lost_all"), s => (s.loss != null ? number(s.loss) : number(s.score_loss)), "n"],
      ...TO_FIND.map(label => [`${SIGNS[label]} ${t("label_" + label)}`, s => s.labels[label] ?? 0, "n"]),
      [t("missed_wins"), s => s.missed_wins, "n"],
      ...(d.seats.some(s => s.luck != null) ? [[t("luck_all"), s => number(s.luck), "n"]] : []),
      [t("time"), s => `${s.seconds.toFixed(1)} s`, "n"],
      [t("time_idle"), s => `${s.idle_seconds.toFixed(1)} s`, "n"],
    ];
    fill(
      sums,
      h("h2", {}, t("seats_table")),
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            columns.map(([title, , kind]) => h("th", { class: kind }, title)),
          ),
        ),
        h(
          "tbody",
          {},
          d.seats
            .filter(s => s.player != null)
            .map(s =>
              h(
                "tr",
                {},
                columns.map(([, value, kind]) => h("td", { class: kind }, value(s))),
              ),
            ),
        ),
      ),
    );
    if (d.harm?.length) {
      sums.append(
        h("h2", {}, t("harm")),
        h(
          "table",
          {},
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", {}, ""),
              view.labels.map(l => h("th", { class: "n" }, l)),
            ),
          ),
          h(
            "tbody",
            {},
            d.harm.map((row, s) =>
              h(
                "tr",
                {},
                h("td", {}, seatTag(s, who(view, s))),
                row.map(x => h("td", { class: "n" }, number(x, 2))),
              ),
            ),
          ),
        ),
      );
    }
    sums.append(
      h("p", { class: "dim" }, d.engines.map(e => t("judged_by", { name: e.name, n: many(e.nodes) })).join("; ")),
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
        task,
        engine,
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
  showTask();
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
      if (!exercise) showTask();
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
      showSums();
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
    analysis = null;
    endEngine();
    clearTimeout(engineTimer);
    clearTimeout(late);
    fetching += 1;
    panel.close();
  };
}
