// Overlays of a position (lenses), as the review offers and shows them.
import { capital, h } from "./page.js";

/** The key of an overlay: its name, and its seat if there is one per seat. */
export const lensKey = (lens, all) =>
  all.filter(o => o.name === lens.name).length > 1 ? `${lens.name} ${lens.seat}` : lens.name;

/** The options of the list of overlays. */
export const lensOptions = lenses =>
  lenses.map(lens => h("option", { value: lensKey(lens, lenses) }, capital(lens.title)));

/** An overlay with few regions and paths: those at cell `at` if there are any, else the best. */
export function focused(lens, at) {
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
