// Regions: the parts of a page that are replaced by those of the same page as the server has it now.
const LINE_AFTER = 150; // milliseconds until a load that takes long is shown
let latest = 0;
let running = null;

// The document at an address; null where a later call has taken over. Throws where the server cannot be reached.
export async function loaded(address) {
  const number = ++latest;
  running?.abort();
  running = new AbortController();
  const line = document.querySelector("#progress");
  const timer = setTimeout(() => (line.hidden = false), LINE_AFTER);
  try {
    const response = await fetch(address, { headers: { Accept: "text/html" }, signal: running.signal });
    if (response.status === 401) {
      location.reload();
      return null;
    }
    const text = await response.text();
    return number === latest ? new DOMParser().parseFromString(text, "text/html") : null;
  } catch (error) {
    if (error.name === "AbortError") return null;
    throw error;
  } finally {
    clearTimeout(timer);
    if (number === latest) line.hidden = true;
  }
}

// Replace what the elements of these selectors hold by what they hold in a document.
export function replaceRegions(fresh, selectors) {
  for (const selector of selectors) {
    const here = document.querySelector(selector);
    const there = fresh.querySelector(selector);
    if (here && there && here.innerHTML !== there.innerHTML) here.replaceChildren(...there.childNodes);
  }
}
