/** An element of the page's own markup, of this kind. */
export function byId(id: string): HTMLElement;
export function byId<E extends Element>(id: string, kind: new () => E): E;
export function byId(id: string, kind: new () => Element = HTMLElement): Element {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return element;
}

/** The child elements of one of ours, which are HTML too. */
export function childrenOf(element: HTMLElement): readonly HTMLElement[] {
  return [...element.children].filter((child) => child instanceof HTMLElement);
}

/** A new element. Text goes in as text only, so nothing that came from a run is ever markup. */
export function create<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className = "",
  text = "",
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  if (className !== "") element.className = className;
  if (text !== "") element.textContent = text;
  return element;
}

/** Puts elements below another, or first in their list. What stands there is left: a move takes the focus. */
export function placeBelow(
  above: Element | null,
  elements: readonly Element[],
  list: HTMLElement,
): void {
  const there = above === null ? list.firstElementChild : above.nextElementSibling;
  if (there === elements[0]) return;
  if (above === null) list.prepend(...elements);
  else above.after(...elements);
}

/** Changes a text only when it differs: a selection in it survives. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Changes an attribute only when it differs; null removes it. */
export function setAttribute(element: Element, name: string, value: string | null): void {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** What this browser was asked to remember; null when nothing, or when it keeps nothing. */
export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(`almanac-${name}`);
  } catch {
    // A browser may refuse storage altogether; the page works without.
    return null;
  }
}

/** Remembers a reader's choice in this browser, if it keeps anything. */
export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`almanac-${name}`, value);
  } catch {
    // The choice holds for this page only.
  }
}
