import { createJump } from "./jump.ts";
import { focusRow } from "./row-focus.ts";
import { areLettersOn, createShortcutList } from "./shortcut-list.ts";

/** How long a `g` waits for its letter. */
const prefixMs = 1_500;

/** The pages of the header, each with the letter behind `g`. */
const pages = [...document.querySelectorAll<HTMLAnchorElement>(".pages a[data-letter]")].map(
  (link) => {
    const { letter = "", name = "" } = link.dataset;
    return { letter, name, address: link.getAttribute("href") ?? "" };
  },
);
const list = createShortcutList(pages);
const jump = createJump(
  pages.map(({ name, address }) => ({ kind: "page", name, address, note: "" })),
);
let prefixedUntil = 0;

const keys: Readonly<Record<string, () => void>> = {
  "/": focusFilter,
  "?": list.open,
  j: () => focusRow(1),
  k: () => focusRow(-1),
  g: () => (prefixedUntil = performance.now() + prefixMs),
};

/** The filter of what the page lists, else the search of the header. */
function focusFilter(): void {
  const fields = document.querySelectorAll<HTMLInputElement>(
    "main input[type=search], #site-search",
  );
  const shown = [...fields].filter((field) => field.checkVisibility());
  const field = shown.find(({ id }) => id !== "site-search") ?? shown[0];
  field?.focus();
  field?.select();
}

function onKey(event: KeyboardEvent): void {
  if (document.querySelector("dialog[open]") !== null) return;
  const { key: typed, ctrlKey, metaKey, altKey } = event;
  const isWithCtrl = ctrlKey || metaKey;
  if (isWithCtrl && !altKey && typed.toLowerCase() === "k") {
    event.preventDefault();
    jump.open();
  } else if (!isWithCtrl && !altKey && areLettersOn() && !isTyping(event.target)) {
    onLetter(typed, event);
  }
}

function onLetter(typed: string, event: KeyboardEvent): void {
  const isPrefixed = performance.now() < prefixedUntil;
  prefixedUntil = 0;
  const page = isPrefixed ? pages.find(({ letter }) => letter === typed) : undefined;
  if (page !== undefined) return location.assign(page.address);
  const act = keys[typed];
  if (act === undefined) return;
  // A browser may open its own search at a slash.
  event.preventDefault();
  act();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))
  );
}

document.addEventListener("keydown", onKey);
document.getElementById("shortcuts")?.addEventListener("click", list.open);
