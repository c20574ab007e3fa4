// What goes beside a prompt while a person types it; choosing a project or an agent shows their index page at once.
import { loaded, replaceRegions, showRefusal } from "./regions.mjs";

const WAIT = 300; // milliseconds after the last key; a prompt is longer than a question

export function answerPromptWhileTyping() {
  const form = document.querySelector("#whose");
  if (!form) return;
  let timer = 0;
  let shown = location.search;

  async function show() {
    const address = `?${new URLSearchParams([...new FormData(form)].filter(([, value]) => value))}`;
    if (address === shown) return;
    shown = address;
    try {
      const fresh = await loaded(`${location.pathname}${address}`);
      if (!fresh) return;
      if (!showRefusal(fresh, "#prompt-answer")) replaceRegions(fresh, ["#prompt-answer", "#index"]);
      history.replaceState(null, "", `${location.pathname}${address}`);
    } catch {
      document.querySelector("#progress").hidden = true; // the form itself still works
    }
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(show, WAIT);
  }

  for (const field of form.elements) field.addEventListener("input", later); // the prompt stands outside of its form
}
