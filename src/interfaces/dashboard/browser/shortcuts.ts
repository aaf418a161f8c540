import { createJump } from "./jump.ts";
import { areLettersOn, createShortcutList } from "./shortcut-list.ts";

/** What a page lists: rows of tables, items of lists, lines of a log. */
const rowSelector = "main :is(tbody tr, li, .line)";
const targetSelector = "a[href], summary, button:not(:disabled)";

/** Focuses the first link of the next row, or of the previous one, so that Enter opens it. */
function focusRow(step: 1 | -1): void {
  const targets = rowTargets();
  const active = document.activeElement;
  const row = active?.closest(rowSelector) ?? null;
  const current = targets.findIndex((target) => target.closest(rowSelector) === row);
  const next = row === null || current === -1 ? nearest(targets, active, step) : current + step;
  const target = targets[next];
  target?.focus();
  target?.scrollIntoView({ block: "nearest" });
}

/** The first link of each row that is shown, else its first button. */
function rowTargets(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(rowSelector)].flatMap((row) => {
    const targets = [...row.querySelectorAll<HTMLElement>(targetSelector)].filter(
      (target) => target.closest(rowSelector) === row && target.checkVisibility(),
    );
    const target = targets.find((one) => one instanceof HTMLAnchorElement) ?? targets[0];
    return target === undefined ? [] : [target];
  });
}

/** From outside of the rows: the first one behind the focus, or the last one before it. */
function nearest(targets: readonly HTMLElement[], from: Element | null, step: 1 | -1): number {
  if (from === null || from === document.body) return step === 1 ? 0 : targets.length - 1;
  const behind = targets.findIndex(
    (target) => (from.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
  );
  const first = behind === -1 ? targets.length : behind;
  return step === 1 ? first : first - 1;
}

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
