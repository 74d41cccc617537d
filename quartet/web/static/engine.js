// What an engine sees in the position that is looked at: its lines as they come.
import { fill, follow, h, many, number, percent, post, remove, say, t } from "./page.js";

const RESTART = 250; // ms after the last step

export class EnginePanel {
  /** `from` tells the position, `paused` whether nothing is to be told now, `draw` draws the board anew. */
  constructor(player, { from, paused, draw }) {
    Object.assign(this, { player, from, paused, draw, analysis: null });
    this.button = h("button", { type: "button", id: "engine", onclick: () => this.toggle() });
    this.list = h("div");
    this.element = h(
      "section",
      { class: "card", id: "analysis" },
      h("h2", {}, t("analysis")),
      h("p", { class: "actions" }, this.button),
      this.list,
    );
    this.show();
  }

  toggle() {
    if (this.analysis) this.stop();
    else {
      this.analysis = { lines: [] };
      this.start().catch(error => say(error.message, true));
    }
    this.show();
  }

  /** Another position is looked at. */
  moved() {
    clearTimeout(this.timer);
    if (this.analysis) this.timer = setTimeout(() => this.start().catch(error => say(error.message, true)), RESTART);
  }

  async start() {
    await this.end();
    if (!this.analysis || this.paused()) return;
    const mine = (this.analysis = { lines: [] }),
      started = await post("analyses", {
        from: this.from(),
        player: this.player,
        options: {},
        seconds: null,
        nodes: null,
        lines: 3,
      });
    if (this.analysis !== mine) {
      await remove("analyses/" + started.id).catch(() => {});
      return;
    }
    this.id = started.id;
    const add = l => {
      mine.lines = [...mine.lines.filter(o => o.rank !== l.rank), l].sort((a, b) => a.rank - b.rank);
    };
    const shown = () => {
      if (this.analysis !== mine) return;
      this.show();
      this.draw();
    };
    this.unfollow = follow("analysis/" + this.id, {
      state: event => {
        for (const l of event.analysis.lines) add(l);
        shown();
      },
      line: event => {
        add(event.line);
        shown();
      },
      end: event => {
        mine.error = event.error;
        if (!mine.lines.length && event.best) add({ rank: 1, line: [event.best.move], parts: [event.best.parts] });
        shown();
      },
      gone: () => {},
    });
  }

  async end() {
    const id = this.id;
    this.id = null;
    if (this.unfollow) this.unfollow();
    this.unfollow = null;
    if (id) await remove("analyses/" + id).catch(() => {});
  }

  /** Nothing is asked any more. */
  close() {
    clearTimeout(this.timer);
    this.analysis = null;
    this.end();
  }

  stop() {
    this.close();
    this.show();
    this.draw();
  }

  show() {
    this.button.textContent = t(this.analysis ? "engine_off" : "engine_on");
    this.button.setAttribute("aria-pressed", String(!!this.analysis));
    fill(
      this.list,
      ...(this.analysis?.error ? [h("p", { class: "bad" }, this.analysis.error)] : []),
      ...(this.analysis?.lines || []).map(l =>
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
}
