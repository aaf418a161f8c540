import { create } from "./dom.ts";

/** A text longer than this is cut where it is shown, characters. */
const maxShown = 200_000;

/** A text as it is, in a box that scrolls; `label` is its name for a screen reader. */
export function preformatted(text: string, label: string): HTMLElement {
  const isLong = text.length > maxShown;
  const shown = isLong ? `${text.slice(0, maxShown)}\n… and more` : text;
  const block = create("pre", "payload", shown);
  block.setAttribute("tabindex", "0");
  block.setAttribute("role", "region");
  block.setAttribute("aria-label", label);
  return block;
}
