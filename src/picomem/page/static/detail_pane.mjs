// On a wide window a link to one memory opens beside the list; on a narrow one it is a page. `data-opens="here"` is a link
// of the memory's own page to itself.
import { loaded } from "./regions.mjs";
import { mayLeave } from "./unsaved_text.mjs";

const wide = matchMedia("(min-width: 1100px)");
const pane = document.querySelector("#detail");

function path(address) {
  return address.split("?")[0];
}

// Mark the items of the list that the pane shows.
export function markOpen() {
  for (const item of document.querySelectorAll("[data-item].is-open")) item.classList.remove("is-open");
  if (pane.hidden) return;
  for (const link of document.querySelectorAll("#content [data-item] a[data-opens]")) {
    if (path(link.getAttribute("href")) === path(pane.dataset.address)) link.closest("[data-item]").classList.add("is-open");
  }
}

// Bring the passage of an episode into view, below some of what was said before it.
export function showPassage(root) {
  root.querySelector("#passage")?.scrollIntoView({ block: "start" });
}

function takeFocus() {
  (pane.querySelector("[data-takes-focus]") ?? pane.querySelector("[data-item]") ?? pane).focus({ preventScroll: true });
}

// Show a document in the pane. What had the focus there has it again.
export function fillPane(fresh) {
  const active = pane.contains(document.activeElement) ? document.activeElement : null;
  const key = active?.dataset.keyHere;
  const content = fresh.querySelector("#content");
  // The browser gives `autofocus` the focus in its next frame, once more, although a person may have left it by then.
  for (const element of content.querySelectorAll("[autofocus]")) {
    element.removeAttribute("autofocus");
    element.dataset.takesFocus = "";
  }
  pane.replaceChildren(...content.childNodes);
  const same = key && pane.querySelector(`[data-key-here="${CSS.escape(key)}"]`);
  if (same) same.focus({ preventScroll: true });
  else if (active) takeFocus();
}

// Load again what the pane shows, because it may have changed, unless it is being edited.
export async function refreshPane() {
  markOpen();
  if (pane.hidden || pane.querySelector("form[data-editing]")) return;
  const address = pane.dataset.address;
  const fresh = await loaded(address, "pane");
  const isStill = !pane.hidden && pane.dataset.address === address && !pane.querySelector("form[data-editing]");
  if (fresh && isStill && fresh.querySelector("#content").innerHTML !== pane.innerHTML) fillPane(fresh);
}

export function openInPane() {
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-opens]");
    if (!link || !wide.matches || event.defaultPrevented) return;
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (pane.contains(link) !== (link.dataset.opens === "here")) return;
    event.preventDefault();
    if (!mayLeave(pane)) return;
    try {
      const fresh = await loaded(link.href);
      if (!fresh) return;
      pane.dataset.address = link.getAttribute("href");
      pane.hidden = false;
      document.body.classList.add("with-detail");
      fillPane(fresh);
      pane.scrollTop = 0;
      markOpen();
      takeFocus();
      showPassage(pane);
    } catch {
      location.assign(link.href);
    }
  });
}

export function closePane() {
  if (pane.hidden || !mayLeave(pane)) return false;
  pane.hidden = true;
  pane.replaceChildren();
  delete pane.dataset.address;
  document.body.classList.remove("with-detail");
  document.querySelector("#content [data-item].is-open")?.focus();
  markOpen();
  return true;
}
