import { useLayoutEffect } from "preact/hooks";
import { remember, remembered } from "../live/store.ts";
import { Dialog, type useDialog } from "./dialog.tsx";
import type { IconName } from "./icon.tsx";
import { publicPath } from "../text/base-path.ts";

/** Page of the navigation: its name in the code, address, label, and the letter that leads to it after `g`. */
export type SitePage = readonly [name: IconName, address: string, words: string, letter: string];

const shortcuts: readonly (readonly [keys: string, text: string])[] = [
  ["Ctrl K", "Jump to an agent, a run or a page, or run an action"],
  ["/", "Go to the page’s filter, or jump"],
  ["j", "Next row"],
  ["k", "Previous row"],
  ["Enter", "Open the row"],
  ["← →", "Older or newer run of a row’s strip"],
  ["n", "Next match in a log"],
  ["N", "Previous match"],
  ["?", "Show this list"],
];
const setting = "shortcuts";
/** How long a `g` waits for its letter. */
const prefixMs = 1_500;

interface ShortcutsProps extends ReturnType<typeof useDialog> {
  readonly pages: readonly SitePage[];
  /** Opens the list of places. */
  readonly jump: () => void;
}

/** The keys of all pages, and the dialog that lists them. */
export function Shortcuts({ pages, jump, ...dialog }: ShortcutsProps) {
  // Keys work as soon as the page has loaded, before it is painted.
  useLayoutEffect(() => {
    const onKey = createKeys(pages, dialog.open, jump);
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  const rows = [
    ...shortcuts,
    ...pages.map(([, , words, letter]) => [`g ${letter}`, `Go to ${words}`] as const),
  ];
  return (
    <>
      <Dialog id="shortcuts" class="keys" title="Keyboard shortcuts" cancel="Close" {...dialog}>
        {/* Single letters get in the way of voice control: a reader can switch them off. */}
        {dialog.isOpen && (
          <>
            <dl>
              {rows.map(([keys, text]) => (
                <div key={keys}>
                  <dt>
                    {keys.split(" ").map((key) => (
                      <>
                        <kbd>{key}</kbd>{" "}
                      </>
                    ))}
                  </dt>
                  <dd>{text}</dd>
                </div>
              ))}
            </dl>
            <label>
              <input
                type="checkbox"
                defaultChecked={areLettersOn()}
                onChange={({ currentTarget }) =>
                  remember(setting, currentTarget.checked ? "on" : "off")
                }
              />{" "}
              Keys without Ctrl are on
            </label>
          </>
        )}
      </Dialog>
    </>
  );
}

function areLettersOn(): boolean {
  return remembered(setting) !== "off";
}

function createKeys(pages: readonly SitePage[], showList: () => void, jump: () => void) {
  let prefixedUntil = 0;
  const keys: Readonly<Record<string, () => void>> = {
    "/": () => focusFilter(jump),
    "?": showList,
    j: () => focusRow(1),
    k: () => focusRow(-1),
    n: () => press("#next-match"),
    N: () => press("#previous-match"),
    g: () => (prefixedUntil = performance.now() + prefixMs),
  };
  return (event: KeyboardEvent): void => {
    const isWithModifier = event.ctrlKey || event.metaKey || event.altKey;
    if (isWithModifier || isTyping(event.target) || !areLettersOn()) return;
    if (document.querySelector("dialog[open]") !== null) return;
    const isPrefixed = performance.now() < prefixedUntil;
    prefixedUntil = 0;
    const page = isPrefixed ? pages.find(([, , , letter]) => letter === event.key) : undefined;
    if (page !== undefined) return location.assign(publicPath(page[1]));
    const act = keys[event.key];
    if (act === undefined) return;
    // A browser may open its own search at a slash.
    event.preventDefault();
    act();
  };
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))
  );
}

/** Focuses the filter of the page's list; a page without one has the list of places. */
function focusFilter(jump: () => void): void {
  const fields = document.querySelectorAll<HTMLInputElement>("main input[type=search]");
  const field = [...fields].find((each) => each.checkVisibility());
  if (field === undefined) return jump();
  field.focus();
  field.select();
}

function press(button: string): void {
  document.querySelector<HTMLElement>(button)?.click();
}

/** Rows of tables, items of lists, lines of a log. */
const rowSelector = "main :is(tbody tr:not(.group), li, .line)";
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

/** The first link of each visible row, else its first button. */
function rowTargets(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(rowSelector)].flatMap((row) => {
    const targets = [...row.querySelectorAll<HTMLElement>(targetSelector)].filter(
      (target) => target.closest(rowSelector) === row && target.checkVisibility(),
    );
    const target = targets.find((one) => one instanceof HTMLAnchorElement) ?? targets[0];
    return target === undefined ? [] : [target];
  });
}

/** From outside of the rows: the first one after the focus, or the last one before it. */
function nearest(targets: readonly HTMLElement[], from: Element | null, step: 1 | -1): number {
  if (from === null || from === document.body) return step === 1 ? 0 : targets.length - 1;
  const behind = targets.findIndex(
    (target) => (from.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
  );
  const first = behind === -1 ? targets.length : behind;
  return step === 1 ? first : first - 1;
}
