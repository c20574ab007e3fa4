// Results while a person types: the address follows, so it can be shared, and the browser's history gets one entry. Home
// becomes the search, without a load in which keys would be lost.
import { markOpen, offerPane, openFirst } from "./detail_pane.mjs";
import { keepFocus, place } from "./kept_place.mjs";
import { loaded, replaceRegions, showRefusal } from "./regions.mjs";

const WAIT = 120; // milliseconds after the last key

function becomeSearch(fresh) {
  document.body.className = fresh.body.className;
  replaceRegions(fresh, ["#content", "#rail"]);
  offerPane(fresh);
}

export function searchWhileTyping() {
  const form = document.querySelector("#search");
  if (!document.body.matches(".view-home, .view-search")) return;
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
      if (document.body.matches(".view-home")) becomeSearch(fresh);
      const before = place();
      if (!showRefusal(fresh, "#results")) replaceRegions(fresh, ["#results"]);
      markOpen();
      openFirst();
      keepFocus(before, true); // a late answer takes no focus away
      // Screen readers are told how many there are, and not every word of every result.
      const account = document.querySelector("#results .account summary, #results .empty-note, #results > .warning");
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

  document.addEventListener("input", (event) => {
    if (event.target.form === form) later();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    search();
  });
  addEventListener("popstate", () => location.reload());
}
