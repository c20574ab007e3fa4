// Chat: what is said goes over the socket, and the answer comes in pieces. When it is whole, the page as the server has it
// replaces what was put together here.
import { loaded, replaceRegions } from "./regions.mjs";

// Changes of direction and control characters, which the server shows as escapes.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
let socket = null;
let number = 0;

function connected() {
  if (socket?.readyState === WebSocket.OPEN) return Promise.resolve(socket);
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/ws`, ["picomem.v1"]);
  return new Promise((resolve, reject) => {
    socket.addEventListener("open", () => resolve(socket), { once: true });
    socket.addEventListener("close", () => reject(new Error("closed")), { once: true });
  });
}

// Call a method; `tell` gets its events. Rejects with what the server says, or with "closed".
async function call(id, method, params, tell) {
  const open = await connected();
  return new Promise((resolve, reject) => {
    function finish(act, value) {
      open.removeEventListener("message", listen);
      open.removeEventListener("close", lose);
      act(value);
    }
    function lose() {
      finish(reject, new Error("closed"));
    }
    function listen(event) {
      const message = JSON.parse(event.data);
      if (message.method === "event" && message.params.id === id) tell?.(message.params);
      else if (message.id !== id) return;
      else if (message.error) finish(reject, Object.assign(new Error(message.error.message), message.error.data));
      else finish(resolve, message.result);
    }
    open.addEventListener("message", listen);
    open.addEventListener("close", lose);
    open.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  });
}

function element(name, className, text = "") {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  made.dir = "auto";
  return made;
}

// The answer that is on its way, as a message at the end of the list.
function answerIn(list) {
  const item = element("li", "said said-assistant is-coming");
  const text = element("div", "said-text");
  item.append(text);
  list.append(item);
  const calls = new Map();
  return {
    item,
    tell(event) {
      if (event.type === "text_delta") text.textContent += event.text.replace(HIDDEN, "");
      else if (event.type === "tool_call") {
        const tool = element("p", "tool mono", `${event.name} ${event.arguments}`.slice(0, 160).replace(HIDDEN, ""));
        calls.set(event.call, tool);
        item.insertBefore(tool, text);
      } else if (event.type === "tool_result") calls.get(event.call)?.classList.add(event.failed ? "has-failed" : "is-done");
      else if (event.type === "notice") item.append(element("p", "remark", event.text.replace(HIDDEN, "")));
    },
  };
}

function pendingOf(session) {
  const key = `picomem.said.${session}`;
  const text = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  return text;
}

export function chatOverSocket() {
  const form = document.querySelector("form[data-chat]");
  if (!form) return;
  const box = form.elements.message;
  const send = form.querySelector("[type=submit]");
  const cancel = form.querySelector("[data-cancel]");
  const state = form.querySelector("[data-state]");
  const problem = form.querySelector("[data-problem]");
  const meanings = JSON.parse(problem.dataset.meanings); // of errors, by code: in English, and in the reader's language
  const session = form.dataset.chat;
  const end = document.querySelector("#end") ?? form;
  let running = 0;

  function setBusy(isBusy, text = "") {
    send.disabled = isBusy;
    cancel.hidden = !isBusy;
    state.textContent = text;
  }

  function tellProblem(...said) {
    problem.replaceChildren(...said);
    problem.hidden = !said.length;
  }

  // Tell an error in the reader's language, and in English what exactly went wrong, as the server's own pages do.
  function tellError(error) {
    if (error.message === "closed") return tellProblem(state.dataset.lost);
    const [english, meaning] = meanings[error.code] ?? [];
    const detail = element("span", "", error.message.replace(HIDDEN, ""));
    detail.lang = "en";
    if (!meaning) tellProblem(detail);
    else if (error.message === english) tellProblem(meaning);
    else tellProblem(meaning, " ", detail);
  }

  async function refresh() {
    const fresh = await loaded(location.pathname);
    if (fresh) replaceRegions(fresh, ["#messages", "#chat-head"]);
  }

  // Say something in this conversation, and show the answer as it comes.
  async function say(text) {
    const list = document.querySelector("#messages");
    document.querySelector(".empty-note")?.remove();
    const own = element("li", "said said-user");
    own.append(element("div", "said-text", text));
    list.append(own);
    const answer = answerIn(list);
    const id = (running = ++number);
    setBusy(true, state.dataset.waiting);
    end.scrollIntoView({ block: "end" });
    let said = "";
    try {
      await call(id, "chat", { message: text, session, channel: "websocket" }, (event) => {
        state.textContent = event.type === "thinking" ? state.dataset.thinking : "";
        answer.tell(event);
        end.scrollIntoView({ block: "end" });
      });
    } catch (error) {
      said = error.code === "cancelled" ? state.dataset.cancelled : "";
      if (!said) {
        tellError(error);
        if (!box.value) box.value = text;
      }
    }
    running = 0;
    setBusy(false, said);
    try {
      await refresh();
    } catch {
      // what was put together here stays
    }
    box.focus();
  }

  async function begin(text) {
    setBusy(true, state.dataset.waiting);
    try {
      const begun = await call(++number, "begin-session", { channel: "websocket" });
      sessionStorage.setItem(`picomem.said.${begun.session.id}`, text);
      location.assign(`/chat/${begun.session.id}`);
    } catch (error) {
      setBusy(false);
      tellError(error);
      box.value = text;
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = box.value.trim();
    if (!text || running) return;
    box.value = "";
    tellProblem();
    if (session) say(text);
    else begin(text);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  cancel.addEventListener("click", () => call(++number, "cancel", { id: running }).catch(() => {}));

  const pending = session && pendingOf(session);
  if (pending) say(pending);
  else if (session && !location.search) end.scrollIntoView({ block: "end" });
}
