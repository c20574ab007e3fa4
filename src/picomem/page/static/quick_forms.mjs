// Forms that change something in a moment: sent without leaving the page, whose regions are then as the server has them.
import { fillPane, refreshPane } from "./detail_pane.mjs";
import { chooseAgain, chosen, keepFocus, place } from "./kept_place.mjs";
import { loaded, replaceRegions } from "./regions.mjs";
import { hideToastInTime } from "./toast.mjs";
import { mayLeave } from "./unsaved_text.mjs";

// What was chosen stays so, unless the form was for it.
function replaceContent(fresh, keepsChoice) {
  const before = place();
  const choices = chosen();
  replaceRegions(fresh, ["#content"]);
  if (keepsChoice) chooseAgain(choices);
  keepFocus(before, before.isByKeyboard); // a click does not take the page along to where its row has gone
}

async function send(form, submitter) {
  const pane = form.closest("#detail");
  const keepsChoice = !submitter?.closest(".bulk");
  const fields = new URLSearchParams(new FormData(form));
  const action = submitter?.getAttribute("formaction") || form.getAttribute("action");
  const response = await fetch(action, { method: "POST", body: fields, headers: { Accept: "text/html" } });
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  if (response.status === 401) return location.reload();
  replaceRegions(fresh, ["#toast"]);
  hideToastInTime();
  const said = fresh.querySelector("#content .warning");
  if (!response.ok && !fresh.querySelector("#content form[data-editing]")) {
    if (said) {
      const note = document.createElement("div");
      note.className = "toast";
      note.setAttribute("role", "alert");
      note.textContent = said.textContent;
      document.querySelector("#toast").replaceChildren(note);
      hideToastInTime();
    }
    return;
  }
  if (pane) {
    if (response.redirected) pane.dataset.address = new URL(response.url).pathname;
    fillPane(fresh);
    const whole = await loaded(location.href);
    if (whole) replaceContent(whole, keepsChoice);
  } else if (new URL(response.url).pathname === location.pathname || !response.redirected) {
    replaceContent(fresh, keepsChoice);
    if (response.redirected) history.replaceState(null, "", response.url);
  } else {
    const whole = await loaded(location.href);
    if (whole) replaceContent(whole, keepsChoice);
  }
  await refreshPane();
}

export function sendQuickly() {
  document.addEventListener("submit", async (event) => {
    const form = event.target.closest("form[data-quick]");
    if (!form) return;
    event.preventDefault();
    if (![document.querySelector("#content"), form.closest("#detail")].every((root) => !root || mayLeave(root, form))) return;
    try {
      await send(form, event.submitter);
    } catch {
      document.querySelector(".offline-note").hidden = false;
    }
  });
  document.addEventListener("change", (event) => {
    if (!event.target.matches("[data-choose-all]")) return;
    for (const box of event.target.form.querySelectorAll('input[name="id"]')) box.checked = event.target.checked;
  });
}
