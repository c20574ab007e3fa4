// On a wide window what a list names opens beside it, in a place that is kept for it; on a narrow one, and from a view
// that has no such place, it is a page. `data-opens="here"` is a link of the memory's own page to itself.
import { loaded } from "./regions.mjs";
import { mayLeave } from "./unsaved_text.mjs";

const wide = matchMedia("(min-width: 1100px)");
const pane = document.querySelector("#detail");
let asked = 0; // how often something was to be opened, or the pane closed
let hint = [...pane.childNodes];

// Whether a person opened what the pane shows, or closed it.
function isChosen() {
  return pane.dataset.chosen !== undefined;
}

function isOpen() {
  return pane.dataset.address !== undefined;
}

function path(address) {
  return address.split("?")[0];
}

// Mark the items of the list that the pane shows.
export function markOpen() {
  for (const item of document.querySelectorAll("[data-item].is-open")) item.classList.remove("is-open");
  if (!isOpen()) return;
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
  if (!isOpen() || pane.querySelector("form[data-editing]")) return;
  const address = pane.dataset.address;
  const fresh = await loaded(address, "pane");
  const isStill = pane.dataset.address === address && !pane.querySelector("form[data-editing]");
  if (fresh && isStill && fresh.querySelector("#content").innerHTML !== pane.innerHTML) fillPane(fresh);
}

// Show what a link names.
async function open(link, asker) {
  const ask = ++asked;
  const fresh = await loaded(link.href, asker);
  if (!fresh || ask !== asked) return false; // something else was opened since, or the pane closed
  pane.dataset.address = link.getAttribute("href");
  fillPane(fresh);
  pane.scrollTop = 0;
  markOpen();
  showPassage(pane);
  return true;
}

// Keep the place for the pane that a document has.
export function offerPane(fresh) {
  const there = fresh.querySelector("#detail");
  pane.hidden = there.hidden;
  hint = [...there.childNodes];
  empty();
}

// Until a person opens or closes something, the pane shows the first entry of the list. The focus stays where it is.
export async function openFirst() {
  if (pane.hidden || !wide.matches || isChosen()) return;
  const link = document.querySelector("#content [data-item]:not([hidden]) a[data-opens]");
  try {
    if (!link) empty();
    else if (link.getAttribute("href") !== pane.dataset.address) await open(link, "pane");
  } catch {
    // it can still be opened
  }
}

export function openInPane() {
  openFirst();
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-opens]");
    if (!link || pane.hidden || !wide.matches || event.defaultPrevented) return;
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (pane.contains(link) !== (link.dataset.opens === "here")) return;
    event.preventDefault();
    if (!mayLeave(pane)) return;
    pane.dataset.chosen = "";
    try {
      if (await open(link)) takeFocus();
    } catch {
      location.assign(link.href);
    }
  });
}

function empty() {
  pane.replaceChildren(...hint);
  delete pane.dataset.address;
}

export function closePane() {
  asked += 1;
  if (!isOpen() || !mayLeave(pane)) return false;
  const opened = isChosen() && document.querySelector("#content [data-item].is-open"); // whoever opened it was there
  pane.dataset.chosen = "";
  empty();
  if (opened) opened.focus();
  markOpen();
  return true;
}
