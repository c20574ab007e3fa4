// What was done is said for ten seconds, with a button that takes it back; longer while a person is at it.
const SECONDS = 10;

function hide(toast) {
  if (toast.matches(":hover, :focus-within")) setTimeout(hide, SECONDS * 1000, toast);
  else toast.remove();
}

export function hideToastInTime() {
  const toast = document.querySelector("#toast .toast");
  if (toast) setTimeout(hide, SECONDS * 1000, toast);
}
