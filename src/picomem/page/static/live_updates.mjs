// Two windows see each other's changes: the server says that memory changed, and the regions of the page that are marked
// `data-live` and the pane are loaded again, unless something in them is being edited.
import { refreshPane } from "./detail_pane.mjs";
import { chooseAgain, chosen, keepFocus, keepView, place } from "./kept_place.mjs";
import { formsSent, isAnswered } from "./quick_forms.mjs";
import { loaded, replaceRegions } from "./regions.mjs";

const LONGEST_WAIT = 30_000;
const SIGNED_OUT = 4401; // why the server closes a socket

async function refresh() {
  const regions = [...document.querySelectorAll("#content [data-live][id]")];
  const free = regions.filter((region) => !region.querySelector("form[data-editing]"));
  try {
    if (free.length) {
      const sent = formsSent();
      const fresh = await loaded(location.href, "live update");
      // The answer to a form that was sent meanwhile is newer, and shows what changed.
      if (!isAnswered() || sent !== formsSent()) return;
      const before = place();
      const choices = chosen();
      if (fresh) replaceRegions(fresh, ["#rail", ...free.map((region) => `#${CSS.escape(region.id)}`)]);
      chooseAgain(choices);
      keepView(before);
      keepFocus(before, false);
    }
    await refreshPane();
  } catch {
    // the next change, or a reload, tries again
  }
}

export function followChanges() {
  const note = document.querySelector(".offline-note");
  let wait = 1_000;
  let isLeaving = false;
  let wasClosed = false;
  function connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws`, ["picomem.v1"]);
    socket.addEventListener("open", () => {
      note.hidden = true;
      document.body.dataset.live = "on";
      wait = 1_000;
      if (wasClosed) refresh(); // something may have changed meanwhile
      wasClosed = false;
    });
    socket.addEventListener("message", (event) => {
      if (JSON.parse(event.data).method === "memory.changed") refresh();
    });
    socket.addEventListener("close", (event) => {
      // The next page is the one to sign in, or that of another session. What is being typed can still be copied.
      if (event.code === SIGNED_OUT && !document.querySelector("form.edit, main textarea:focus")) location.reload();
      wasClosed = true;
      delete document.body.dataset.live;
      note.hidden = isLeaving;
      setTimeout(connect, wait);
      wait = Math.min(LONGEST_WAIT, wait * 2);
    });
  }
  addEventListener("pagehide", () => (isLeaving = true));
  addEventListener("pageshow", () => (isLeaving = false));
  connect();
}
