// Humans on other computers: the links to their seats, and their start page.
import { matchLine } from "./lobby.js";
import { copyText, fill, get, h, seatTag, t, who } from "./page.js";

/** A card with a link for every guest of a match. */
export async function invite(base, view) {
  const { links, local } = await get(base + "/links");
  return h(
    "section",
    { class: "card", id: "invite" },
    h("h2", {}, t("invite")),
    links.map(({ seat, link }) =>
      h(
        "p",
        { class: "invite" },
        seatTag(seat, who(view, seat)),
        h("input", {
          readOnly: true,
          value: link,
          "data-link": seat,
          "aria-label": t("link_of", { who: who(view, seat) }),
          onfocus: event => event.target.select(),
        }),
        h("button", { type: "button", onclick: () => copyText(link) }, t("share")),
      ),
    ),
    h("p", { class: "dim" }, t(local ? "invite_local" : "invite_note")),
  );
}

/** The start page of a human with links to seats: the games of these seats. */
export async function guestHome(main, { games }) {
  const list = h("ul", { class: "plain", id: "matches" }),
    { matches } = await get("matches");
  main.append(h("section", { class: "card" }, h("h1", {}, t("your_games")), list));
  fill(list, ...(matches.length ? matches.map(m => matchLine(m, games)) : [h("li", { class: "dim" }, t("none_now"))]));
}
