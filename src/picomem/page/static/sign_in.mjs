// The one-time code stands in the fragment of the link, which the browser keeps to itself: post it, and forget it. Only
// the page of the link does so: no link to another page may sign anybody in.
function submitCode(form) {
  const code = location.hash.slice(1);
  if (!code) return;
  history.replaceState(null, "", location.pathname);
  form.elements.code.value = code;
  form.requestSubmit();
}

export function signInByLink() {
  const form = document.querySelector("[data-sign-in]");
  if (!form || location.pathname !== "/sign-in") return;
  addEventListener("hashchange", () => submitCode(form)); // a link that is pasted where this page is open already
  submitCode(form);
}
