// Regions: the parts of a page that are replaced by those of the same page as the server has it now.
const LINE_AFTER = 150; // milliseconds until a load that takes long is shown
const running = new Map(); // by who asks: the latest call

// The document at an address; null where a later call of the same asker has taken over, a person or a live update.
// Throws where the server cannot be reached. By the header the server knows that nobody will read the notice of such a
// document, and keeps it for the page that is shown.
export async function loaded(address, asker = "person") {
  running.get(asker)?.abort();
  const mine = new AbortController();
  running.set(asker, mine);
  const line = document.querySelector("#progress");
  const timer = setTimeout(() => (line.hidden = false), LINE_AFTER);
  try {
    const response = await fetch(address, { headers: { Accept: "text/html", "Picomem-Regions": "1" }, signal: mine.signal });
    if (response.status === 401) {
      location.reload();
      return null;
    }
    const text = await response.text();
    return running.get(asker) === mine ? new DOMParser().parseFromString(text, "text/html") : null;
  } catch (error) {
    if (error.name === "AbortError") return null;
    throw error;
  } finally {
    clearTimeout(timer);
    if (running.get(asker) === mine) line.hidden = true;
  }
}

// Put the refusal of a document in the place of what it would have answered. False where the document is no refusal.
export function showRefusal(fresh, selector) {
  const refusal = !fresh.querySelector(selector) && fresh.querySelector("#content .warning");
  if (refusal) document.querySelector(selector).replaceChildren(refusal);
  return Boolean(refusal);
}

// Replace what the elements of these selectors hold by what they hold in a document.
export function replaceRegions(fresh, selectors) {
  for (const selector of selectors) {
    const here = document.querySelector(selector);
    const there = fresh.querySelector(selector);
    if (here && there && here.innerHTML !== there.innerHTML) here.replaceChildren(...there.childNodes);
  }
}
