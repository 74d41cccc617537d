// The games that can be watched: small boards of matches of this server and of running games of runs.
import { draw } from "./board.js";
import { Game } from "./game.js";
import { matchLine } from "./lobby.js";
import { fill, follow, get, h, quartersOf, seatTag, t, who } from "./page.js";
import { ACTIVE } from "./runs.js";

const MOST = 12; // boards
const EVERY = 2000; // ms between two checks of what is running

/** A small board that follows a game. */
class Preview {
  constructor({ topic, href, name }) {
    this.svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.svg.setAttribute("class", "board");
    this.svg.setAttribute("aria-hidden", "true");
    this.title = h("b", {}, name);
    this.about = h("span", { class: "dim" });
    this.seats = h("span", { class: "legend" });
    this.name = name;
    this.element = h("a", { class: "card mini", href }, this.title, this.svg, this.seats, this.about);
    this.drawn = null; // the next drawing, if one is due
    this.close = follow(topic, {
      state: event => this.show(event.view ?? event.state?.view),
      turn: event => this.game?.append(event) && this.later(),
    });
  }

  show(view) {
    if (!view) return;
    this.game = new Game(view);
    this.later();
  }

  /** Draw once for all turns that arrive before the next picture of the screen. */
  later() {
    this.drawn ??= requestAnimationFrame(() => {
      this.drawn = null;
      if (this.element.isConnected) this.draw();
    });
  }

  draw() {
    const { view, frames, steps } = this.game,
      look = { quarters: quartersOf(view.game, view.board), changed: view.turns.at(-1)?.seat };
    draw(this.svg, view.board, frames[steps], look);
    this.title.textContent = [view.title, this.name].filter(Boolean).join(" · ");
    this.about.textContent = t("turns", { n: steps });
    fill(
      this.seats,
      view.players.map((player, seat) =>
        player === null ? null : seatTag(seat, `${who(view, seat)} ${view.scores[steps][seat] ?? ""}`),
      ),
    );
  }
}

export async function watch(main, { games }) {
  const grid = h("div", { class: "minis", id: "live-games" }),
    nothing = h("p", { class: "dim", id: "none-running" }, t("none_running"), " "),
    ended = h("ul", { class: "plain long", id: "finished", tabindex: 0, "aria-label": t("finished_games") }),
    endedBox = h("section", { class: "card" }, h("h2", {}, t("finished_games")), ended);
  nothing.append(h("a", { class: "button", href: "#/" }, t("new_game")));
  main.append(h("h1", { class: "title" }, t("going_on")), nothing, grid, endedBox);
  const previews = new Map(); // by address
  let listed = null;

  /** Everything that is running now. */
  async function running() {
    const { matches } = await get("matches"),
      over = matches.filter(m => m.over).reverse();
    if (JSON.stringify(over) !== listed) {
      fill(ended, ...over.map(m => matchLine(m, games)), over.length ? null : h("li", { class: "dim" }, t("none_now")));
    }
    listed = JSON.stringify(over); // the list is not made again, so that it keeps the focus
    const here = matches
      .filter(m => !m.over)
      .map(m => ({ topic: "match/" + m.id, href: "#/match/" + m.id, name: "" }));
    if (!games.runs) return here;
    const active = (await get("runs")).runs.filter(r => r.state === ACTIVE).slice(0, 8);
    const found = await Promise.all(active.map(r => get("runs/" + encodeURIComponent(r.name))));
    const there = found.flatMap(r =>
      r.live.map(g => ({
        topic: `live/${r.name}/${g.number}`,
        href: `#/live/${encodeURIComponent(r.name)}/${g.number}`,
        name: `${r.name} #${g.number}`,
      })),
    );
    return [...here, ...there];
  }
  async function refresh() {
    const wanted = (await running()).slice(0, MOST),
      addresses = new Set(wanted.map(g => g.href));
    for (const [address, preview] of previews) {
      if (addresses.has(address)) continue;
      preview.close();
      preview.element.remove();
      previews.delete(address);
    }
    for (const one of wanted) {
      if (previews.has(one.href)) continue;
      const preview = new Preview(one);
      previews.set(one.href, preview);
      grid.append(preview.element);
    }
    nothing.hidden = previews.size > 0;
  }
  await refresh();
  const timer = setInterval(() => refresh().catch(() => {}), EVERY);
  return () => {
    clearInterval(timer);
    for (const preview of previews.values()) preview.close();
  };
}
