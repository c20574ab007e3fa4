// What was done is said for ten seconds, with a button that takes it back.
const SECONDS = 10;

export function hideToastInTime() {
  const toast = document.querySelector("#toast .toast");
  if (toast) setTimeout(() => toast.remove(), SECONDS * 1000);
}
