// The keyboard: `/` search, `j k` move, `enter` open, `g` and a letter go to a view. A view adds keys to its elements by
// `data-key-here="e"`: of those in the item that has the focus or is the only one, or else of those on the page, the first
// is clicked.
import { closePane } from "./detail_pane.mjs";
import { isAnswered, whenAnswered } from "./quick_forms.mjs";

let isGoing = false; // `g` was pressed

function items() {
  return [...document.querySelectorAll("#content [data-item]:not([hidden])")];
}

function move(step) {
  const all = items();
  if (!all.length) return;
  const open = document.activeElement.matches("body, #detail, #detail *") && document.querySelector("body:has(#detail[data-chosen]) #content .is-open");
  const place = all.indexOf(open || document.activeElement.closest?.("[data-item]"));
  const next = all[Math.min(all.length - 1, Math.max(0, place < 0 ? 0 : place + step))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

function clickHere(key) {
  const all = items();
  const item = document.activeElement.closest?.("[data-item]") ?? (all.length === 1 ? all[0] : null);
  const selector = `[data-key-here="${CSS.escape(key)}"]`;
  const target = item?.querySelector(selector) ?? [...document.querySelectorAll(selector)].find((one) => !one.closest("[data-item]"));
  target?.click();
  return Boolean(target);
}

function isTyping(element) {
  return element.matches?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
}

function closeMenu() {
  const menu = document.querySelector(".menu[open]");
  if (!menu) return false;
  menu.open = false;
  menu.querySelector("summary").focus();
  return true;
}

// The key `u` takes back what the latest form did, and the button that does so comes with its answer.
function undo() {
  if (isAnswered()) return clickHere("u");
  whenAnswered().then(() => clickHere("u"));
  return true;
}

function answer(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const key = event.key;
  if (key === "Escape") {
    if (closeMenu()) return;
    if (isTyping(event.target)) event.target.blur();
    else closePane();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  if (isTyping(event.target)) {
    if (key === "ArrowDown" && event.target.id === "q") {
      event.preventDefault();
      move(0);
    }
    return;
  }
  let isOurs = true;
  if (isGoing) {
    isGoing = false;
    document.querySelector(`#rail [data-key="${CSS.escape(key)}"]`)?.click();
  } else if (key === "g") isGoing = true;
  else if (key === "/") {
    const box = document.querySelector("#q");
    box.focus();
    box.select();
  } else if (key === "u") isOurs = undo();
  else if (key === "j" || (key === "ArrowDown" && event.target.matches?.("[data-item]"))) move(1);
  else if (key === "ArrowUp" && event.target.matches?.("[data-item]")) move(-1);
  else if (key === "Enter" && event.target.matches?.("[data-item]")) {
    event.target.querySelector("a[data-opens], a[href]")?.click();
  } else if (key === "?") document.querySelector("#keys").showModal();
  else if (key === " " && event.target.matches?.("[data-item]")) event.target.querySelector("input[type=checkbox]")?.click();
  else if (key.length === 1 && clickHere(key)) isOurs = true;
  else if (key === "k") move(-1); // in Review it keeps
  else isOurs = false;
  if (isOurs) event.preventDefault();
}

export function listenToKeys() {
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".menu")) document.querySelector(".menu[open]")?.removeAttribute("open");
  });
  document.addEventListener("keydown", answer);
  globalThis.takeEarlyKeys().forEach(answer);
}
