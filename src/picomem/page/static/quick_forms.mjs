// Forms that change something in a moment: sent without leaving the page, whose regions are then as the server has them.
// They are sent one after another, so that no answer overtakes an earlier one. The item of a form with `data-leaves` goes
// at once: the next one takes keys while the server works.
import { fillPane, openFirst, refreshPane } from "./detail_pane.mjs";
import { chooseAgain, chosen, keepFocus, offerBulk, place } from "./kept_place.mjs";
import { loaded, replaceRegions } from "./regions.mjs";
import { hideToastInTime } from "./toast.mjs";
import { mayLeave } from "./unsaved_text.mjs";

const leaving = new Set(); // ids of items
let sent = 0; // forms
let waiting = 0; // those without an answer
let last = Promise.resolve();

// Resolves once the server has answered each form that was sent until now.
export function whenAnswered() {
  return last;
}

export function formsSent() {
  return sent;
}

export function isAnswered() {
  return waiting === 0;
}

// What was chosen stays so, unless the form was for it.
function replaceContent(fresh, keepsChoice) {
  const before = place();
  const choices = chosen();
  replaceRegions(fresh, ["#content", "#rail"]);
  for (const id of leaving) document.getElementById(id)?.setAttribute("hidden", "");
  if (keepsChoice) chooseAgain(choices);
  offerBulk();
  keepFocus(before, before.isByKeyboard); // a click does not take the page along to where its row has gone
  // Where all that was there is gone, the next list begins with its first item, as it does when it is loaded.
  if (document.activeElement === document.body) document.querySelector("#content [data-item][autofocus]:not([hidden])")?.focus();
}

// Say what went wrong.
function tell(text) {
  const note = document.createElement("div");
  note.className = "toast";
  note.setAttribute("role", "alert");
  note.textContent = text;
  document.querySelector("#toast").replaceChildren(note);
  hideToastInTime();
}

// Let an item go, and give the focus to the one after it, or before it at the end.
function leave(item) {
  const all = [...document.querySelectorAll("#content [data-item]:not([hidden])")];
  const number = all.indexOf(item);
  const next = all[number + 1] ?? all[number - 1];
  leaving.add(item.id);
  item.hidden = true;
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

async function send({ action, fields, pane, keepsChoice, item }) {
  const response = await fetch(action, { method: "POST", body: fields, headers: { Accept: "text/html" } });
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  if (item) leaving.delete(item.id);
  if (response.status === 401) return location.reload();
  const isForm = fresh.querySelector("#content form[data-editing]");
  if (!fresh.querySelector("#content") || (!response.ok && !isForm)) {
    if (item) document.getElementById(item.id)?.removeAttribute("hidden");
    return tell(fresh.querySelector("#content .warning")?.textContent ?? document.body.dataset.notDone);
  }
  replaceRegions(fresh, ["#toast"]);
  hideToastInTime();
  if (waiting > 1 && item) return; // the answer to the next form has the list as it is then
  const isHere = !pane && (new URL(response.url).pathname === location.pathname || !response.redirected);
  if (pane) {
    if (response.redirected) pane.dataset.address = new URL(response.url).pathname;
    fillPane(fresh);
  }
  const whole = isHere ? fresh : await loaded(location.href);
  if (whole) replaceContent(whole, keepsChoice);
  if (isHere && response.redirected) history.replaceState(null, "", response.url);
  await refreshPane();
  await openFirst();
}

async function sendInTurn(task) {
  try {
    await send(task);
  } catch {
    if (task.item) {
      leaving.delete(task.item.id);
      document.getElementById(task.item.id)?.removeAttribute("hidden");
    }
    document.querySelector(".offline-note").hidden = false;
  } finally {
    waiting -= 1;
  }
}

export function sendQuickly() {
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-quick]");
    if (!form) return;
    event.preventDefault();
    if (![document.querySelector("#content"), form.closest("#detail")].every((root) => !root || mayLeave(root, form))) return;
    const task = {
      action: event.submitter?.getAttribute("formaction") || form.getAttribute("action"),
      fields: new URLSearchParams(new FormData(form, event.submitter)),
      pane: form.closest("#detail"),
      keepsChoice: !event.submitter?.closest(".bulk"),
      item: form.matches("[data-leaves]") ? form.closest("[data-item]") : null,
    };
    if (task.item) leave(task.item);
    sent += 1;
    waiting += 1;
    last = last.then(() => sendInTurn(task));
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-choose-all]")) {
      for (const box of event.target.form.querySelectorAll('input[name="id"]')) box.checked = event.target.checked;
    }
    offerBulk();
  });
  offerBulk();
}
