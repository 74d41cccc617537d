// A match of this server, and a running game of a run.
import {
  BoardPanel,
  Game,
  GraphPanel,
  MoveList,
  PlayersPanel,
  playedMoves,
  scoreCurves,
  timeBars,
  toldCurves,
} from "./game.js";
import { invite } from "./guests.js";
import { Openings } from "./openings.js";
import {
  confirmed,
  duration,
  entitle,
  fill,
  follow,
  get,
  guarded,
  h,
  logName,
  moveText,
  percent,
  post,
  query,
  remove,
  resultText,
  say,
  settingBox,
  settings,
  sourceQuery,
  speed,
  speedBox,
  t,
  unsay,
  who,
  whole,
} from "./page.js";
import { counting, howToPlay } from "./rules.js";

const LOOK_AT_END = 1500; // ms on the last position before the next game of a run

export async function match(main, { name, path, games, kept }) {
  const live = name === "live",
    topic = live ? `live/${path[0]}/${path[1]}` : `match/${path[0]}`;
  const base = live ? null : `matches/${path[0]}`;
  const source = live ? { run: path[0], number: whole(path[1]) } : { match: path[0] };
  let state = live
    ? { view: await get("view?" + sourceQuery(source)), people: [], asking: null, thinking: null }
    : await get(base);
  const about = games.games.find(g => g.name === state.view.game);
  let game = new Game(state.view),
    hinted = null,
    hintText = "",
    pending = null,
    since = performance.now(),
    plans = [];
  const ask = (verb, body = {}) => post(`${base}/${verb}`, body);
  const mine = state.mine || [],
    guested = state.guests?.length > 0; // then there are no hints, and no move is taken back
  /** What a human at this browser is asked. */
  const own = () => (state.asking && mine.includes(state.asking.seat) ? state.asking : null);

  const status = h("p", { class: "status", id: "status", role: "status" });
  const list = new MoveList(
    step => panel.go(step),
    turn =>
      [turn.info?.share != null && thoughts() ? percent(turn.info.share, 0) : "", duration(1000 * turn.seconds)]
        .filter(Boolean)
        .join("  "),
  );
  const players = new PlayersPanel(),
    counted = h("div", {});
  const graph = new GraphPanel(step => panel.go(step), t("told_graph"));
  const remarks = h("pre", { class: "remarks", id: "remarks", translate: "no", tabindex: 0, "aria-label": t("remarks") });
  const remarkBox = h("details", { class: "card", id: "remarks-box" }, h("summary", {}, t("remarks")), remarks);
  const files = h("div", { class: "files" }),
    fileBox = h(
      "details",
      { class: "card", id: "files", hidden: true, ontoggle: () => showFiles() },
      h("summary", {}, t("files")),
      files,
    );
  const typed = h("input", {
    id: "typed",
    autocomplete: "off",
    placeholder: t("type_move"),
    "aria-label": t("type_move"),
  });
  const typing = h(
    "form",
    {
      class: "typing",
      hidden: true,
      onsubmit: guarded(async event => {
        event.preventDefault();
        const text = typed.value.trim();
        if (!text) return;
        typed.value = ""; // before the answer: the next move may be typed meanwhile
        try {
          await ask("move", { step: own()?.step ?? game.steps, text });
        } catch (error) {
          typed.value ||= text;
          throw error;
        }
      }),
    },
    typed,
    h("button", { type: "submit" }, t("play_it")),
  );
  const button = (id, key, act, extra = {}) =>
    h("button", { id, type: "button", onclick: guarded(act), ...extra }, t(key));
  const undo = button("undo", "undo", () => takeBack()),
    hint = button("hint", "hint", () => giveHint());
  const resign = confirmed("resign", "resign", "resign_sure", async () => {
    const later = !own();
    await ask("resign", { seat: own()?.seat ?? mine[0] });
    if (later) say(t("resign_later"));
  });
  const save = h("a", { class: "button", id: "save" }, t("save"));
  const saveLater = h("p", { class: "dim", id: "save-later" }, t(about?.chance ? "save_later" : "save_after"));
  const onward = h("a", { class: "button", id: "play-on" }, t("play_from_here"));
  const reviewed = h(
    "a",
    { class: "button", id: "to-review", href: "#/review?" + sourceQuery(source) },
    t("to_review"),
  );
  const rematch = button("rematch", "rematch", async () => enter((await ask("rematch")).id));
  const enter = id => (location.hash = "#/match/" + id);
  const fresh = h("a", { class: "button", id: "new-game", href: "#/?game=" + state.view.game }, t("new_game"));
  const end = confirmed("end", "end_match", "end_sure", async () => {
    await remove(base);
    location.hash = "#/";
  });
  const pace = h(
    "div",
    { class: "pace", role: "group", "aria-label": t("pace") },
    ["run", "pause", "step"].map(kind =>
      button("pace-" + kind, "pace_" + kind, () => ask("pace", { pace: kind, delay: state.delay })),
    ),
  );
  const following = settingBox("follow-next", "follow_next", "follow_next", settings.get("follow_next", true), () => goNext());
  const pacing = speedBox(
    live ? speed() : state.delay,
    guarded(delay => state.ended || live || games.guest || ask("pace", { pace: state.pace === "step" ? "pause" : state.pace, delay })),
  );
  pace.append(pacing, live ? following : "");
  const thoughtsKey = state.people.length ? "thoughts" : "thoughts_watched",
    marksKey = "moves." + state.view.game;
  const thoughts = () => settings.get(thoughtsKey, !state.people.length),
    marked = () => settings.get(marksKey, !state.view.board.corners); // finding rectangles is the game
  const thinkBox = settingBox("thoughts", "show_thoughts", thoughtsKey, thoughts(), () => {
    list.update(game.view.turns, true);
    panel.go(panel.step);
  });
  const marksBox = settingBox("show-moves", "show_moves", marksKey, marked(), () => panel.draw());
  marksBox.hidden = !state.people.length;

  const panel = new BoardPanel({
    look: step => {
      const turn = game.view.turns[step - 1],
        moves = playedMoves(turn);
      const last = step === game.steps;
      if (last && thoughts()) for (const plan of plans) moves.push({ parts: plan.parts, kind: "best", width: 0.8 });
      if (last && pending) moves.push(pending);
      if (last && hinted) moves.push({ parts: hinted, kind: "hint", width: 1.1 });
      return { moves, changed: turn ? turn.seat : null };
    },
    stepped: step => {
      const asked = own() && step === game.steps && state.asking.step === step;
      panel.position = asked ? state.asking.position : null;
      panel.chooser.offer(panel.position);
      list.mark(step);
      showStatus();
      players.update(game.view, step, active(), thoughts());
      drawGraph();
      if (fileBox.open) showFiles();
      onward.href = "#/play?" + sourceQuery({ ...source, step });
      if (!openings.element.hidden) openings.moved();
    },
    chosen: choice => {
      const asking = state.asking;
      state.asking = null;
      hinted = null;
      pending = { parts: choice.parts, seat: asking.seat, kind: "played" }; // shown before the server answers
      panel.offer(null);
      ask("move", { step: asking.step, parts: choice.parts }).catch(error => {
        pending = null;
        say(error.message, true);
        state.asking ??= asking;
        panel.go(panel.step);
      });
    },
    marked,
    keys: live ? {} : { u: guarded(() => takeBack()), "?": guarded(() => giveHint()) },
  });

  const openings = new Openings({
    from: () => ({ ...source, step: panel.step }),
    labels: () => game.view.labels,
    link: move => "#/board?" + sourceQuery({ ...source, step: panel.step, moves: [move] }),
  });
  const active = () =>
    game.view.over || state.ended ? null : (state.asking?.seat ?? state.thinking?.seat ?? game.view.to_move);
  const takeBack = () => own()?.can_undo && ask("undo", { step: game.steps });
  async function giveHint() {
    if (!own() || guested) return;
    say((hintText = t("looking")));
    const { step } = state.asking;
    const found = await ask("hint", { step });
    if (state.asking?.step !== step) return; // a move was played in the meantime
    hinted = found.parts;
    say((hintText = t("hint_is", { move: moveText(found) })));
    panel.draw();
  }
  async function showFiles() {
    const step = panel.step;
    fill(files);
    if (!step) return;
    const found = await get("files?" + query({ ...source, step }));
    if (step !== panel.step) return;
    const box = (name, text) => [h("h3", {}, name), h("pre", { tabindex: 0, translate: "no", "aria-label": name }, text ?? "–")];
    fill(
      files,
      ...box("input.txt", found.input),
      ...box("output.txt", found.output),
      ...(found.stderr ? box(t("remarks"), found.stderr) : []),
    );
  }
  function showStatus() {
    const view = game.view,
      isRunning = !live && !state.asking && !state.thinking;
    const waiting = isRunning && state.pace !== "run",
      starting = isRunning && !waiting && !game.steps; // no player has been asked for a move yet
    const at = panel.step < game.steps ? t("step_of", { step: panel.step, steps: game.steps }) + ". " : "";
    const text =
      state.error ||
      (view.result
        ? resultText(view)
        : state.asking
          ? t(own() ? "your_move" : "waits_for", { who: who(view, state.asking.seat) })
          : state.ended
            ? t("waiting")
            : waiting
              ? t("paused")
              : starting
                ? t("starting")
                : t("thinks", { who: who(view, active()) }));
    fill(counted, counting(view));
    if (status.textContent !== at + text) status.textContent = at + text;
    status.classList.toggle("bad", !!state.error);
    status.dataset.state =
      view.result || state.ended || state.error
        ? "over"
        : state.asking
          ? own()
            ? "asking"
            : "away"
          : waiting
            ? "paused"
            : "thinking";
    const playing = !view.result && !state.ended && !state.error,
      canSave = !playing || (!live && !about?.chance);
    if (canSave) Object.assign(save, { href: "api/text?" + sourceQuery(source), download: logName(view) });
    else save.removeAttribute("href");
    save.setAttribute("aria-disabled", String(!canSave));
    saveLater.hidden = canSave;
    reviewed.hidden = fresh.hidden = playing || games.guest;
    onward.hidden = (playing && !!about?.chance) || games.guest;
    rematch.hidden = live || playing || games.guest;
    undo.disabled = !(state.asking && state.asking.can_undo);
    hint.disabled = !own();
    resign.hidden = live || !mine.length || !playing;
    undo.hidden = hint.hidden = resign.hidden || guested;
    typing.hidden = resign.hidden; // also while others think: hidden, it would pass the focus and its keys to the board
    end.hidden = live || games.guest;
    if (invitation) invitation.hidden = !playing;
    openings.element.hidden = games.guest || (guested && playing);
    if (!playing && pacing.parentElement === pace) marksBox.before(pacing); // of autoplay
    pacing.hidden = !!games.guest && playing;
    thinkBox.hidden = state.view.players.every((player, seat) => player == null || state.people.includes(seat));
    for (const b of pace.querySelectorAll("button")) {
      b.hidden = end.hidden || !playing;
      b.setAttribute("aria-pressed", String(b.id === "pace-" + state.pace));
    }
  }
  function drawGraph() {
    const told = toldCurves(game.view),
      isTold = thoughts() && told.curves.length > 0,
      shown = isTold ? told : scoreCurves(game.view);
    graph.element.hidden = game.steps < 2;
    graph.draw(
      { ...shown, times: timeBars(game.view.turns), steps: game.steps, at: panel.step },
      game.view,
      isTold ? t("told_graph") : game.view.score_name,
    );
  }
  function showRemarks() {
    const lines = game.view.turns.flatMap(turn =>
      (turn.said || []).map(([seat, text]) => `${turn.ply + 1}  ${game.view.labels[seat] ?? "?"}: ${text}`),
    );
    for (const [seat, text] of game.view.result?.said || []) lines.push(`…  ${game.view.labels[seat] ?? "?"}: ${text}`);
    remarks.textContent = lines.slice(-2000).join("\n");
    remarkBox.hidden = !lines.length;
  }

  const invitation = guested && !games.guest ? await invite(base, state.view) : null;
  function everything() {
    main.querySelector("h1").textContent = game.view.title;
    entitle(main, game.view.title);
    list.update(game.view.turns, true);
    fileBox.hidden = games.guest || !game.view.turns.some(turn => turn.files);
    showRemarks();
    panel.setGame(game);
  }
  main.append(
    h("h1", { class: "title" }),
    h(
      "div",
      { class: "game" },
      h(
        "div",
        { class: "left" },
        panel.element,
        h(
          "section",
          { class: "card extras" },
          h("div", { class: "actions" }, save, onward, end),
          saveLater,
          typing,
          state.people.length ? pace : null,
          marksBox,
          thinkBox,
          h("p", { class: "dim keys" }, t(guested ? "keys_guests" : state.people.length ? "keys_match" : "keys_watch")),
        ),
      ),
      h(
        "div",
        { class: "right" },
        h(
          "div",
          { class: "side" },
          players.element,
          h(
            "section",
            { class: "card turn" },
            status,
            h("div", { class: "actions" }, undo, hint, resign, reviewed, rematch, fresh),
            state.people.length ? null : pace,
          ),
          invitation,
          h("section", { class: "card list" }, h("h2", {}, t("moves")), list.element),
          graph.element,
        ),
        counted,
        openings.element,
        remarkBox,
        fileBox,
        about && howToPlay(about),
      ),
    ),
  );
  everything();
  panel.go(kept.step ?? Infinity);
  if (own()) panel.svg.focus({ preventScroll: true });

  let due = null; // the next drawing of turns, if one is due
  /** Draw once for all turns that arrive before the next picture of the screen: bots may play thousands in seconds. */
  function drawTurns() {
    if (due === null) return;
    cancelAnimationFrame(due);
    due = null;
    const turns = game.view.turns.slice(list.rows.length);
    list.update(game.view.turns);
    panel.go(panel.atEnd ? Infinity : panel.step);
    if (turns.some(turn => turn.files)) fileBox.hidden = games.guest;
    if (turns.some(turn => turn.said?.length)) showRemarks();
  }
  const handlers = {
    state: event => {
      if (live && !event.view) return;
      const atEnd = panel.atEnd,
        step = panel.step;
      state = live ? { ...state, view: event.view } : event.state;
      game = new Game(state.view);
      since = performance.now() - ((state.asking ?? state.thinking)?.since_ms || 0);
      pending = null;
      plans = [];
      hinted = null;
      unsay(hintText);
      everything();
      panel.go(atEnd ? Infinity : step);
    },
    turn: event => {
      if (!game.append(event)) return;
      pending = null;
      plans = [];
      hinted = null;
      unsay(hintText);
      if (state.asking && state.asking.step < game.steps) state.asking = null;
      state.thinking = null;
      since = performance.now();
      due ??= requestAnimationFrame(drawTurns);
    },
    asking: event => {
      drawTurns();
      state.asking = event.asking;
      since = performance.now();
      if (panel.atEnd) panel.go(Infinity);
      else showStatus();
      if (event.asking && [document.body, null].includes(document.activeElement))
        panel.svg.focus({ preventScroll: true });
    },
    thinking: event => {
      if (!event.info) {
        state.thinking = { seat: event.seat };
        since = performance.now();
        plans = [];
        players.update(game.view, panel.step, active(), thoughts());
        showStatus();
        return;
      }
      if (thoughts()) players.think(event.seat, event.info);
      if (panel.atEnd && event.info.parts?.[0] && (event.info.rank ?? 1) === 1) {
        plans = [{ parts: event.info.parts[0] }];
        if (thoughts()) panel.draw();
      }
    },
    pace: event => {
      Object.assign(state, { pace: event.pace, delay: event.delay });
      pacing.lastChild.value = event.delay;
      showStatus();
    },
    end: event => {
      drawTurns();
      game.view.result = event.result;
      Object.assign(state, { asking: null, thinking: null, ended: true, error: event.error || "" });
      plans = [];
      showRemarks();
      panel.go(panel.atEnd ? Infinity : panel.step);
      goNext();
    },
    rematch: event => enter(event.id), // also for guests, who cannot start one
    gone: event => {
      say(event.error, true);
      location.hash = "#/";
    },
  };
  let others = [], // running games of the run
    leaving = null;
  /** When a game of a run has ended, go to the one that began last. */
  function goNext() {
    const [next] = others.filter(g => g.number !== source.number).sort((a, b) => b.number - a.number);
    if (!live || leaving || !next || !following.firstChild.checked || !(state.ended || game.view.result)) return;
    const address = `#/live/${encodeURIComponent(path[0])}/${next.number}`;
    leaving = setTimeout(() => location.replace(address), LOOK_AT_END);
  }
  const seen = ({ live }) => {
    others = live;
    goNext();
  };
  const unfollow = follow(topic, handlers),
    unfollowRun = live ? follow("run/" + path[0], { state: event => seen(event.run), live: seen }) : () => {};
  const ticking = setInterval(() => {
    const seat = state.asking?.seat ?? state.thinking?.seat;
    // in every pace: a match pauses between two turns, never within one
    if (seat != null && panel.atEnd && !game.view.over)
      players.setClock(game.view, seat, performance.now() - since);
  }, 200);
  return () => {
    unsay(hintText);
    unfollow();
    unfollowRun();
    cancelAnimationFrame(due);
    clearTimeout(leaving);
    clearInterval(ticking);
    openings.close();
    panel.close();
    return { step: panel.atEnd ? Infinity : panel.step };
  };
}
