// The one-time code stands in the fragment of the link, which the browser keeps to itself: post it, and forget it.
export function signInByLink() {
  const form = document.querySelector("[data-sign-in]");
  const code = location.hash.slice(1);
  if (!form || !code) return;
  history.replaceState(null, "", location.pathname);
  form.elements.code.value = decodeURIComponent(code);
  form.requestSubmit();
}
