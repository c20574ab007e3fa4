// On a wide window a link to one memory opens beside the list; on a narrow one it is a page. `data-opens="here"` is a link
// of the memory's own page to itself.
import { loaded } from "./regions.mjs";

const wide = matchMedia("(min-width: 1100px)");

export function openInPane() {
  const pane = document.querySelector("#detail");
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-opens]");
    if (!link || !wide.matches || event.defaultPrevented) return;
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || link.closest("#detail")) return;
    if (link.dataset.opens === "here") return;
    event.preventDefault();
    try {
      const fresh = await loaded(link.href);
      if (!fresh) return;
      pane.replaceChildren(...fresh.querySelector("#content").childNodes);
      pane.dataset.address = link.getAttribute("href");
      pane.hidden = false;
      document.body.classList.add("with-detail");
      for (const other of document.querySelectorAll("[data-item].is-open")) other.classList.remove("is-open");
      link.closest("[data-item]")?.classList.add("is-open");
    } catch {
      location.assign(link.href);
    }
  });
}

export function closePane() {
  const pane = document.querySelector("#detail");
  if (!pane || pane.hidden) return false;
  pane.hidden = true;
  pane.replaceChildren();
  delete pane.dataset.address;
  document.body.classList.remove("with-detail");
  return true;
}
