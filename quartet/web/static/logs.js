// Uploads logs that the user drops or chooses, and lists them.
import { confirmed, fill, gameTitle, get, h, many, moment, query, remove, send, sourceQuery, t } from "./page.js";

/** The dropped files, also those in folders; at most 500. */
export async function droppedFiles(entries) {
  const found = [];
  const walk = async entry => {
    if (found.length >= 500) return;
    if (entry instanceof File) found.push(entry);
    else if (entry.isFile) found.push(await new Promise((done, failed) => entry.file(done, failed)));
    else {
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((done, failed) => reader.readEntries(done, failed));
        if (!some.length) return;
        for (const one of some) await walk(one);
      }
    }
  };
  for (const entry of entries) await walk(entry);
  return found;
}

let waiting = [];
/** Keep files until #/review is shown. */
export function takeFiles(files) {
  waiting = files;
}

export async function openLogs(main, { games }) {
  const list = h("ul", { class: "plain", id: "logs" }),
    done = h("ul", { class: "plain", id: "reviews" });
  const address = id => "#/review?log=" + id;
  const title = entry => gameTitle(games, entry);
  const line = ({ id, name, complaint, ...log }) =>
    h(
      "li",
      {},
      id ? h("a", { href: address(id) }, name) : h("span", {}, name),
      " ",
      h("span", { class: complaint ? "bad" : "dim" }, complaint || title(log)),
      " ",
      id &&
        confirmed("delete-" + id, "delete", "end_sure", async () => {
          await remove("logs/" + id);
          await show();
        }),
    );
  async function show() {
    const [{ logs }, { reviews }] = await Promise.all([get("logs"), get("reviews")]);
    const none = h("li", { class: "dim" }, t("none_now"));
    fill(list, ...(logs.length ? logs.map(line) : [none]));
    fill(
      done,
      reviews.reverse().map(r =>
        h(
          "li",
          {},
          h("a", { href: `#/review?${sourceQuery(r.from)}${r.nodes ? `&nodes=${r.nodes}` : ""}` }, title(r)),
          " ",
          h(
            "span",
            { class: "dim" },
            [
              r.from.run ? `${r.from.run} #${r.from.number}` : logs.find(log => log.id === r.from.log)?.name,
              moment(r.started),
              r.nodes ? t("strength_nodes", { n: r.nodes }) : "",
              ["waiting", "running"].includes(r.state) ? t("run_goes_on") : "",
            ]
              .filter(Boolean)
              .join(" · "),
          ),
        ),
      ),
    );
    done.parentElement.hidden = !reviews.length;
  }
  async function open(files) {
    if (!files.length) return;
    await listed; // it would replace the new rows
    if (!list.querySelector("a, .bad")) fill(list);
    let only = null;
    for (const file of files) {
      const row = h("li", { class: "dim" }, `${file.name} …`);
      list.prepend(row);
      try {
        if (file.size > games.limits.log_bytes) throw new Error(t("too_large", { n: many(games.limits.log_bytes) }));
        const made = await send("logs?" + query({ name: file.name }), file),
          { game, players } = made.view;
        only = made.id;
        list.querySelector(`[href="${address(made.id)}"]`)?.parentElement.remove(); // the same log again
        row.replaceWith(line({ id: made.id, name: file.name, game, players }));
      } catch (error) {
        row.replaceWith(line({ name: file.name, complaint: error.message }));
      }
    }
    if (files.length === 1 && only && main.isConnected) location.hash = address(only);
  }
  const pick = (folder, key) => {
    const field = h("input", {
      type: "file",
      multiple: true,
      class: "hidden-text",
      id: folder ? "pick-folder" : "pick",
      "aria-label": t(key),
      onchange: event => open([...event.target.files]),
    });
    if (folder) field.webkitdirectory = true;
    return h("label", { class: "button" }, t(key), field);
  };
  main.append(
    h(
      "section",
      { class: "card drop", id: "drop" },
      h("h1", {}, t("review")),
      h("p", {}, t("drop_here")),
      h("p", { class: "actions" }, pick(false, "pick_files"), pick(true, "pick_folder")),
      h("p", { class: "dim" }, t("drop_note")),
    ),
    h("section", { class: "card" }, h("h2", {}, t("logs")), list),
    h("section", { class: "card", hidden: true }, h("h2", {}, t("reviews_here")), done),
  );
  const listed = show();
  await listed;
  const files = waiting;
  waiting = [];
  await open(files);
}
