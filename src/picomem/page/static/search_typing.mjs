// Results while a person types: the address follows, so it can be shared, and the browser's history gets one entry.
import { markOpen } from "./detail_pane.mjs";
import { keepFocus, place } from "./kept_place.mjs";
import { loaded, replaceRegions, showRefusal } from "./regions.mjs";

const WAIT = 120; // milliseconds after the last key

export function searchWhileTyping() {
  const form = document.querySelector("#search");
  const filters = document.querySelector(".view-search .filters");
  if (!filters) return;
  const box = form.elements.q;
  if (document.activeElement === box) box.setSelectionRange(box.value.length, box.value.length);
  let timer = 0;
  let shown = location.search;

  async function search() {
    const fields = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    const address = `/search?${fields}`;
    if (`?${fields}` === shown) return;
    const isFirst = !new URLSearchParams(shown).get("q");
    shown = `?${fields}`;
    try {
      const fresh = await loaded(address);
      if (!fresh) return;
      const before = place();
      if (!showRefusal(fresh, "#results")) replaceRegions(fresh, ["#results"]);
      markOpen();
      keepFocus(before, true); // a late answer takes no focus away
      // Screen readers are told how many there are, and not every word of every result.
      const account = document.querySelector("#results .account p, #results .empty-note, #results > .warning");
      document.querySelector("#search-said").textContent = account?.textContent.replace(/\s+/g, " ").trim() ?? "";
      document.title = fresh.title;
      history[isFirst ? "pushState" : "replaceState"](null, "", address);
    } catch {
      document.querySelector("#progress").hidden = true; // the form itself still works
    }
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(search, WAIT);
  }

  form.addEventListener("input", later);
  filters.addEventListener("input", later);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    search();
  });
  addEventListener("popstate", () => location.reload());
}
