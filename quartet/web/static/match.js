// A match: played here, or watched; also a game of a run that goes on.
import { matchLine } from "./lobby.js";
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
import {
  duration,
  fill,
  follow,
  get,
  guarded,
  h,
  percent,
  post,
  query,
  remove,
  say,
  settings,
  sourceQuery,
  t,
  who,
} from "./page.js";

/** How a game ended, in words. */
export function resultText(view) {
  const { result } = view;
  if (!result) return "";
  const first = result.places.flatMap((place, seat) => (place === 1 ? [who(view, seat)] : []));
  const won = first.length === 1 ? t("won", { who: first[0] }) : t("shared", { who: first.join(", ") });
  return result.reason && !["score", "draw"].includes(result.termination)
    ? `${won} ${t("because", { reason: result.reason })}`
    : won;
}

export async function match(main, { name, path, games }) {
  const live = name === "live",
    topic = live ? `live/${path[0]}/${path[1]}` : `match/${path[0]}`;
  const base = live ? null : `matches/${path[0]}`;
  const source = live ? { run: path[0], number: +path[1] } : { match: path[0] };
  let state = live
    ? { view: await get("view?" + sourceQuery(source)), people: [], asking: null, thinking: null }
    : await get(base);
  let game = new Game(state.view),
    hinted = null,
    pending = null,
    since = performance.now(),
    plans = [];
  const ask = (verb, body = {}) => post(`${base}/${verb}`, body);

  const status = h("p", { class: "status", id: "status", role: "status" });
  const list = new MoveList(
    step => panel.go(step),
    turn =>
      [turn.info?.share != null && thoughts() ? percent(turn.info.share, 0) : "", duration(1000 * turn.seconds)]
        .filter(Boolean)
        .join("  "),
  );
  const players = new PlayersPanel();
  const graph = new GraphPanel(step => panel.go(step), t("told_graph"));
  const remarks = h("pre", { class: "remarks", id: "remarks", tabindex: 0, "aria-label": t("remarks") });
  const remarkBox = h("details", { class: "card" }, h("summary", {}, t("remarks")), remarks);
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
        await ask("move", { step: state.asking?.step ?? game.steps, text });
        typed.value = "";
      }),
    },
    typed,
    h("button", { type: "submit" }, t("play_it")),
  );
  const button = (id, key, act, extra = {}) =>
    h("button", { id, type: "button", onclick: guarded(act), ...extra }, t(key));
  const undo = button("undo", "undo", () => takeBack()),
    hint = button("hint", "hint", () => giveHint());
  const resign = button("resign", "resign", async () => {
    if (resign.dataset.sure) await ask("resign", state.asking ? {} : { seat: state.people[0] });
    else {
      resign.dataset.sure = "1";
      resign.textContent = t("resign_sure");
      setTimeout(() => {
        delete resign.dataset.sure;
        resign.textContent = t("resign");
      }, 3000);
    }
  });
  const save = h(
    "a",
    { class: "button", id: "save", href: "api/text?" + sourceQuery(source), download: "" },
    t("save"),
  );
  const onward = h("a", { class: "button", id: "play-on" }, t("play_from_here"));
  const reviewed = h(
    "a",
    { class: "button", id: "to-review", href: "#/review?" + sourceQuery(source) },
    t("to_review"),
  );
  const end = button("end", "end_match", () =>
    remove(base).then(() => {
      location.hash = "#/";
    }),
  );
  const pace = h(
    "div",
    { class: "pace", role: "group", "aria-label": t("pace") },
    ["run", "pause", "step"].map(kind =>
      button("pace-" + kind, "pace_" + kind, () => ask("pace", { pace: kind, delay: +delay.value })),
    ),
  );
  const delay = h("input", {
    type: "range",
    min: 0,
    max: 2000,
    step: 100,
    value: state.delay || 0,
    "aria-label": t("delay"),
    id: "delay",
    onchange: guarded(() => ask("pace", { pace: state.pace, delay: +delay.value })),
  });
  pace.append(h("label", { class: "delay" }, t("delay"), " ", delay));
  const thinkBox = h(
    "label",
    { class: "think-box" },
    h("input", {
      type: "checkbox",
      id: "thoughts",
      checked: settings.get(state.people.length ? "thoughts" : "thoughts_watched", !state.people.length),
      onchange: event => {
        settings.set(state.people.length ? "thoughts" : "thoughts_watched", event.target.checked);
        list.update(game.view.turns, true);
        panel.go(panel.step);
      },
    }),
    " ",
    t("show_thoughts"),
  );

  const thoughts = () => thinkBox.firstChild.checked;
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
      const asked = state.asking && step === game.steps && state.asking.step === step;
      panel.position = asked ? state.asking.position : null;
      panel.chooser.offer(panel.position);
      list.mark(step);
      showStatus();
      players.update(game.view, step, active(), thoughts());
      drawGraph();
      if (fileBox.open) showFiles();
      onward.href = "#/play?" + sourceQuery({ ...source, step });
    },
    chosen: choice => {
      const asking = state.asking;
      state.asking = null;
      hinted = null;
      pending = { parts: choice.parts, seat: asking.seat, kind: "played" }; // at once, before the server has heard of it
      panel.offer(null);
      ask("move", { step: asking.step, parts: choice.parts }).catch(error => {
        pending = null;
        say(error.message, true);
        state.asking ??= asking;
        panel.go(panel.step);
      });
    },
    keys: live ? {} : { u: guarded(() => takeBack()), "?": guarded(() => giveHint()) },
  });

  const active = () =>
    game.view.over || state.ended ? null : (state.asking?.seat ?? state.thinking?.seat ?? game.view.to_move);
  const takeBack = () => state.asking?.can_undo && ask("undo", { step: game.steps });
  async function giveHint() {
    if (!state.asking) return;
    say(t("looking"));
    const found = await ask("hint", { step: state.asking.step });
    hinted = found.parts;
    say(t("hint_is", { move: found.move }));
    panel.draw();
  }
  async function showFiles() {
    const step = panel.step;
    fill(files);
    if (!step) return;
    const found = await get("files?" + query({ ...source, step }));
    if (step !== panel.step) return;
    const box = (name, text) => [h("h3", {}, name), h("pre", { tabindex: 0, "aria-label": name }, text ?? "–")];
    fill(
      files,
      ...box("input.txt", found.input),
      ...box("output.txt", found.output),
      ...(found.stderr ? box("stderr", found.stderr) : []),
    );
  }
  function showStatus() {
    const view = game.view,
      at = panel.step < game.steps ? t("step_of", { step: panel.step, steps: game.steps }) + ". " : "";
    const text =
      state.error ||
      (view.result
        ? resultText(view)
        : state.asking
          ? t("your_move", { who: who(view, state.asking.seat) })
          : active() == null
            ? t("waiting")
            : state.pace === "pause"
              ? t("paused")
              : t("thinks", { who: who(view, active()) }));
    if (status.textContent !== at + text) status.textContent = at + text;
    status.classList.toggle("bad", !!state.error);
    status.dataset.state =
      view.result || state.ended || state.error
        ? "over"
        : state.asking
          ? "asking"
          : state.pace === "pause"
            ? "paused"
            : "thinking";
    const playing = !view.result && !state.ended && !state.error;
    undo.disabled = !(state.asking && state.asking.can_undo);
    hint.disabled = !state.asking;
    resign.hidden = undo.hidden = hint.hidden = live || !state.people.length || !playing;
    typing.hidden = resign.hidden || !state.asking;
    pace.hidden = live || !playing;
    end.hidden = live || !playing;
    for (const b of pace.querySelectorAll("button"))
      b.setAttribute("aria-pressed", String(b.id === "pace-" + state.pace));
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
      (turn.said || []).map(([seat, text]) => `${turn.ply}  ${game.view.labels[seat] ?? "?"}: ${text}`),
    );
    for (const [seat, text] of game.view.result?.said || []) lines.push(`…  ${game.view.labels[seat] ?? "?"}: ${text}`);
    remarks.textContent = lines.slice(-2000).join("\n");
    remarkBox.hidden = !lines.length;
  }

  function everything() {
    main.querySelector("h1").textContent = game.view.title;
    document.title = `${game.view.title} – quartet`;
    list.update(game.view.turns, true);
    fileBox.hidden = !game.view.turns.some(turn => turn.files);
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
          { class: "card" },
          status,
          typing,
          h("div", { class: "actions" }, undo, hint, resign, save, onward, reviewed, end),
          pace,
          thinkBox,
          h("p", { class: "dim keys" }, t(state.people.length ? "keys_match" : "keys_watch")),
        ),
      ),
      h(
        "div",
        { class: "right" },
        players.element,
        h("section", { class: "card" }, h("h2", {}, t("moves")), list.element),
        graph.element,
        remarkBox,
        fileBox,
      ),
    ),
  );
  everything();
  panel.go(Infinity);
  if (state.asking) panel.svg.focus({ preventScroll: true });

  const handlers = {
    state: event => {
      if (live && !event.view) return;
      const atEnd = panel.atEnd,
        step = panel.step;
      state = live ? { ...state, view: event.view } : event.state;
      game = new Game(state.view);
      since = performance.now() - (state.thinking?.since_ms || 0);
      pending = null;
      plans = [];
      hinted = null;
      everything();
      panel.go(atEnd ? Infinity : step);
    },
    turn: event => {
      const atEnd = panel.atEnd;
      if (!game.append(event)) return;
      pending = null;
      plans = [];
      hinted = null;
      if (state.asking && state.asking.step < game.steps) state.asking = null;
      state.thinking = null;
      since = performance.now();
      panel.setGame(game);
      if (atEnd) panel.go(Infinity);
      else panel.go(panel.step);
      list.update(game.view.turns);
      list.mark(panel.step);
      if (event.turn.files) fileBox.hidden = false;
      if (event.turn.said?.length) showRemarks();
    },
    asking: event => {
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
      state.pace = event.pace;
      showStatus();
    },
    end: event => {
      game.view.result = event.result;
      Object.assign(state, { asking: null, thinking: null, ended: true, error: event.error || "" });
      plans = [];
      showRemarks();
      panel.go(panel.atEnd ? Infinity : panel.step);
    },
    gone: event => say(event.error, true),
  };
  const unfollow = follow(topic, handlers);
  const ticking = setInterval(() => {
    const seat = state.asking?.seat ?? state.thinking?.seat;
    if (seat != null && panel.atEnd && !game.view.over && state.pace !== "pause")
      players.setClock(game.view, seat, performance.now() - since);
  }, 200);
  return () => {
    unfollow();
    clearInterval(ticking);
    panel.close();
  };
}

/** What can be watched now. */
export async function watch(main, { games }) {
  const here = h("ul", { class: "plain", id: "matches" }),
    there = h("ul", { class: "plain", id: "live-games" });
  main.append(
    h(
      "div",
      { class: "columns" },
      h(
        "section",
        { class: "card" },
        h("h1", {}, t("matches_here")),
        here,
        h("p", {}, h("a", { class: "button", href: "#/" }, t("new_game"))),
      ),
      h("section", { class: "card" }, h("h1", {}, t("games_of_runs")), there),
    ),
  );
  async function refresh() {
    const { matches } = await get("matches");
    fill(
      here,
      ...(matches.length ? matches.map(m => matchLine(m, games)) : [h("li", { class: "dim" }, t("none_now"))]),
    );
    if (!games.runs) return fill(there, h("li", { class: "dim" }, t("none_now")));
    const { runs } = await get("runs"),
      going = runs.filter(r => r.state === "goes on").slice(0, 8);
    const found = await Promise.all(going.map(r => get("runs/" + encodeURIComponent(r.name))));
    const lines = found.flatMap(r =>
      r.live.map(g =>
        h(
          "li",
          {},
          h("a", { href: `#/live/${encodeURIComponent(r.name)}/${g.number}` }, `${r.name} ${g.number}`),
          " ",
          h("span", { class: "dim" }, t("turns", { n: g.turns })),
        ),
      ),
    );
    return fill(there, ...(lines.length ? lines : [h("li", { class: "dim" }, t("none_now"))]));
  }
  await refresh();
  const timer = setInterval(() => refresh().catch(() => {}), 2000);
  return () => clearInterval(timer);
}
