// The form that sets up a game: players, strength, clock, start.
import { draw, framesOf } from "./board.js";
import {
  capital,
  gameTitle,
  get,
  guarded,
  h,
  moment,
  number,
  post,
  quartersOf,
  say,
  seatTag,
  settings,
  sourceFrom,
  speed,
  speedBox,
  t,
  word,
} from "./page.js";
import { howToPlay } from "./rules.js";

const STRENGTHS = [
  "nodes:50",
  "nodes:200",
  "nodes:1000",
  "nodes:5000",
  "nodes:20000",
  "ms:100",
  "ms:500",
  "ms:1000",
  "ms:3000",
  "",
];
const strengthText = value => {
  const [kind, n] = value.split(":");
  return value === ""
    ? t("strength_clock")
    : kind === "nodes"
      ? t("strength_nodes", { n })
      : t("strength_time", { n: number(n / 1000) });
};

export async function lobby(main, { parameters, games, kept }) {
  const source = sourceFrom(parameters),
    from = Object.keys(source).some(key => key !== "game") ? source : null;
  const start = from ? await post("position", from) : null;
  const fixed = start ? start.game : null,
    wanted = fixed || kept.game || source.game || settings.get("game", games.games[0].name);
  let game = games.games.find(g => g.name === wanted) || games.games[0];
  const preview = h("section", { class: "card board-card" }),
    rules = h("div", {}),
    form = h("form", { class: "card lobby", id: "lobby" });
  const under = h("section", { class: "card", id: "going", hidden: true });
  // a browser shows what is wrong with a field only if the field is visible
  form.addEventListener("invalid", event => event.target.closest("details")?.setAttribute("open", ""), true);
  main.append(
    h("div", { class: "game" }, h("div", { class: "left" }, preview, rules), h("div", { class: "right" }, form, under)),
  );

  async function showBoard() {
    const asked = game,
      position = start || (await post("position", { game: game.name, options: options() }));
    if (asked !== game) return;
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "board");
    svg.setAttribute("id", "board");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", t("board_of", { game: game.title }));
    preview.replaceChildren(h("div", { class: "board-box" }, svg));
    if (rules.dataset.game !== game.name) rules.replaceChildren(howToPlay(game));
    rules.dataset.game = game.name;
    draw(svg, position.board, framesOf(position.board)[0], { quarters: quartersOf(game.name, position.board) });
  }
  const again = guarded(async () => {
    if (!form.isConnected) return;
    fill();
    await showBoard();
  });
  const asked = {};
  const optionsOf = async name => {
    asked[name] ??= get("games/" + name);
    try {
      return (await asked[name]).built_in;
    } catch (error) {
      delete asked[name]; // the next call asks again
      throw error;
    }
  };
  const options = () =>
    Object.fromEntries(
      [...form.querySelectorAll("[data-option]")]
        .filter(f =>
          f.type === "checkbox"
            ? f.checked !== (f.dataset.default === "true")
            : f.value !== "" && +f.value !== +f.dataset.default,
        )
        .map(f => [f.dataset.option, f.type === "checkbox" ? f.checked : +f.value]),
    );

  function seatRow(seat, chosen) {
    const engines = game.built_in.map(p => ["engine:" + p.name, word(p.name)]);
    const player = h(
      "select",
      { "aria-label": t("seat_player", { seat: seat + 1 }), id: `seat${seat}`, onchange: guarded(() => details()) },
      h("option", { value: "person" }, t("you")),
      h("option", { value: "guest" }, t("guest")),
      h(
        "optgroup",
        { label: t("engines") },
        engines.map(([value, text]) => h("option", { value }, text)),
      ),
      games.programs.length
        ? h(
            "optgroup",
            { label: t("programs") },
            games.programs.map(name => h("option", { value: "program:" + name }, name)),
          )
        : null,
      game.empty_seats ? h("option", { value: "nobody" }, t("nobody")) : null,
    );
    player.value = [...player.options].some(o => o.value === chosen.player)
      ? chosen.player
      : seat
        ? engines[0]?.[0]
        : "person";
    const strength = h(
      "select",
      { "aria-label": t("seat_strength", { seat: seat + 1 }), id: `strength${seat}` },
      STRENGTHS.map(value => h("option", { value }, strengthText(value))),
    );
    strength.value = STRENGTHS.includes(chosen.strength) ? chosen.strength : "nodes:1000";
    const named = h("input", {
      id: `name${seat}`,
      class: "name",
      maxLength: 40,
      autocomplete: "off",
      placeholder: t("your_name"),
      "aria-label": t("seat_name", { seat: seat + 1 }),
      value: chosen.name || "",
    });
    const more = h("details", { class: "engine-options", id: `options${seat}` }, h("summary", {}, t("engine_options")));
    const details = async () => {
      const name = player.value.split(":").slice(1).join(":"),
        is = player.value.startsWith("engine:");
      strength.hidden = !is;
      const isGuest = player.value === "guest";
      named.hidden = !isGuest && player.value !== "person";
      named.placeholder = t(isGuest ? "guest_name" : "your_name");
      const names = [...form.querySelectorAll("input.name:not([hidden])")].map(field => field.value),
        own = settings.get("name", "");
      if (!named.hidden && !isGuest && !named.value && !names.includes(own)) named.value = own;
      more.hidden = true;
      const known = is ? (await optionsOf(game.name)).find(p => p.name === name)?.options || [] : [];
      more.hidden = !known.length;
      more.replaceChildren(
        more.firstChild,
        ...known.map(option =>
          h(
            "label",
            {},
            capital(option.help),
            " ",
            option.type === "switch"
              ? h("input", {
                  type: "checkbox",
                  id: `option${seat}-${option.name}`,
                  checked: !!option.default,
                  "data-engine": option.name,
                  "data-default": option.default ? 1 : 0,
                })
              : h("input", {
                  type: "number",
                  id: `option${seat}-${option.name}`,
                  step: option.type === "integer" ? 1 : "any",
                  min: option.least,
                  max: option.most,
                  value: option.default,
                  "data-engine": option.name,
                  "data-default": option.default,
                }),
          ),
        ),
      );
    };
    const ready = details().catch(() => {});
    return {
      ready,
      element: h("div", { class: "seat-row" }, seatTag(seat, t("seat", { seat: seat + 1 })), player, strength, named, more),
      get player() {
        return player.value;
      },
      get strength() {
        return strength.value;
      },
      get name() {
        return named.hidden ? "" : named.value.trim();
      },
      get seat() {
        const [kind, ...rest] = player.value.split(":"),
          name = rest.join(":");
        if (["person", "guest", "nobody"].includes(kind)) return { kind, name: this.name };
        if (kind === "program") return { kind, name };
        const [limit, n] = strength.value.split(":"),
          set = {};
        for (const field of more.querySelectorAll("[data-engine]")) {
          if (field.value === "") continue; // the default
          const value = field.type === "checkbox" ? +field.checked : +field.value;
          if (value !== +field.dataset.default)
            set[field.dataset.engine] = field.type === "checkbox" ? field.checked : value;
        }
        return { kind: "engine", name, options: set, ...(limit ? { [limit]: +n } : {}) };
      },
    };
  }

  function fill() {
    const kept = settings.get("seats." + game.name, []);
    const rows = Array.from({ length: game.players }, (_, seat) => seatRow(seat, kept[seat] || {}));
    const isWatched = () => !rows.some(row => ["person", "guest"].includes(row.player)),
      pace = speedBox(speed());
    const clock = h("input", {
      type: "number",
      id: "clock",
      min: 0.01,
      max: games.limits.clock_ms / 1000,
      step: "any",
      placeholder: number(game.clock.ms / 1000),
      "aria-describedby": "clock-note",
    });
    const personClock = h("input", { type: "checkbox", id: "person-clock" });
    const step = h("input", { type: "checkbox", id: "step" });
    const seed = h("input", { type: "number", id: "seed", min: 0, max: games.limits.seed, step: 1, placeholder: t("random") });
    const starting = h("button", { class: "main", type: "submit", id: "start" }, t("start"));
    form.replaceChildren(
      h("h1", {}, t(from ? "play_on" : "new_game")),
      h(
        "fieldset",
        { class: "games", disabled: fixed !== null },
        h("legend", {}, t("game")),
        games.games.map(g =>
          h(
            "label",
            { class: "choice" },
            h("input", {
              type: "radio",
              name: "game",
              value: g.name,
              checked: g === game,
              onchange: () => {
                game = g;
                settings.set("game", g.name);
                fill();
                showBoard().catch(error => {
                  say(error.message, true);
                  document.addEventListener("reconnected", again, { once: true });
                });
              },
            }),
            g.title,
          ),
        ),
      ),
      h(
        "fieldset",
        {},
        h("legend", {}, t("players")),
        rows.map(row => row.element),
      ),
      h(
        "details",
        { id: "more" },
        h("summary", {}, t("more_settings")),
        h("label", {}, t(game.clock.per_move ? "clock_move" : "clock_game"), " ", clock),
        h("span", { id: "clock-note", class: "dim" }, " ", t("clock_note", { s: number(game.clock.ms / 1000) })),
        h("label", {}, personClock, " ", t("person_clock")),
        h("label", {}, step, " ", t("step_mode")),
        from
          ? null
          : [
              h("label", {}, t("seed"), " ", seed),
              game.options.map(option =>
                h(
                  "label",
                  {},
                  capital(option.help),
                  " ",
                  h("input", {
                    ...(typeof option.default === "boolean"
                      ? { type: "checkbox", checked: option.default }
                      : { type: "number", min: 0, step: 1, value: option.default }),
                    id: "option-" + option.name,
                    "data-option": option.name,
                    "data-default": String(option.default),
                    onchange: guarded(() => showBoard()),
                  }),
                ),
              ),
            ],
      ),
      pace,
      starting,
    );
    const keep = () =>
      settings.set(
        "seats." + game.name,
        rows.map(row => ({ player: row.player, strength: row.strength, name: row.name })),
      );
    form.onchange = () => {
      pace.hidden = !isWatched();
      keep();
    };
    pace.hidden = !isWatched();
    form.onsubmit = guarded(async event => {
      event.preventDefault();
      keep();
      const own = rows.find(row => row.player === "person" && row.name);
      if (own) settings.set("name", own.name);
      if (!from && rows.every(row => row.player === "nobody")) return say(t("nobody_plays"), true);
      starting.disabled = true; // a second click starts no second game
      try {
        const made = await post("matches", {
          game: game.name,
          seats: rows.map(row => row.seat),
          clock: clock.value ? Math.round(clock.value * 1000) : null,
          seed: seed.value === "" ? Math.floor(Math.random() * 1e6) : +seed.value,
          options: from ? {} : options(),
          person_clock: personClock.checked,
          from,
          pace: step.checked ? "pause" : "run",
          delay: isWatched() ? speed() : 0,
        });
        location.hash = "#/match/" + made.id;
      } finally {
        starting.disabled = false;
      }
      return undefined;
    });
    return Promise.all(rows.map(row => row.ready));
  }
  await Promise.all([
    fill(),
    showBoard(),
    get("matches").then(({ matches }) => {
      const going = matches.filter(m => !m.over);
      under.hidden = !going.length;
      under.replaceChildren(
        h("h2", {}, t("going_on")),
        h(
          "ul",
          { class: "plain" },
          going.map(m => matchLine(m, games)),
        ),
      );
    }),
  ]);
  return () => ({ game: game.name });
}

export function matchLine(m, games) {
  const { labels = [] } = games.games.find(g => g.name === m.game) || {},
    isTwin = (name, seat) => m.players.some((other, s) => s !== seat && other === name);
  const won = m.players.filter((_, seat) => m.places?.[seat] === 1).length === 1 ? m.places.indexOf(1) : null;
  const winner = won === null ? "" : `${isTwin(m.players[won], won) ? `${labels[won]} ` : ""}${word(m.players[won])}`;
  const turns = t(m.over && !m.error ? "turns_over" : "turns", { n: m.turns });
  const about = m.over ? [moment(m.started), word(m.error) || (winner && t("won", { who: winner })), turns] : [turns];
  return h(
    "li",
    {},
    h("a", { href: "#/match/" + m.id }, gameTitle(games, m)),
    " ",
    h("span", { class: "dim" }, about.filter(Boolean).join(" · ")),
  );
}
