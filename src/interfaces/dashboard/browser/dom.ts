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
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  if (className !== "") element.className = className;
  element.append(...children.filter((child) => child !== ""));
  return element;
}

/** A new element of a drawing. A class gives the colour, because the page's policy allows no inline style. */
export function createSvg(
  tag: string,
  attributes: Attributes = {},
  ...children: readonly (SVGElement | string)[]
): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

/** A new link. */
export function createLink(href: string, className: string, text: string): HTMLAnchorElement {
  const link = create("a", className, text);
  link.href = href;
  return link;
}

/** A new link to another site, which learns nothing of this one. */
export function createWebLink(href: string, className: string, text: string): HTMLAnchorElement {
  const link = createLink(href, className, text);
  link.rel = "noopener noreferrer";
  link.target = "_blank";
  return link;
}

/** A new button that submits nothing. */
export function createButton(className: string, text = ""): HTMLButtonElement {
  const button = create("button", className, text);
  button.type = "button";
  return button;
}

/** Changes a text only when it differs: a selection in it survives. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Shows a text of the page's own markup, or hides its element when there is none. */
export function showText(id: string, text: string | null): void {
  const element = byId(id);
  setText(element, text ?? "");
  element.hidden = text === null || text === "";
}

/** Changes an attribute only when it differs; null removes it. */
export function setAttribute(element: Element, name: string, value: string | null): void {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

export type Attributes = Readonly<Record<string, string | number | null>>;

/** Changes those attributes that differ; null removes one. */
export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes))
    setAttribute(element, name, value === null ? null : String(value));
}

/** A choice that this browser remembers; null when there is none, or when it stores nothing. */
export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(`almanac-${name}`);
  } catch {
    // A browser may refuse storage altogether; the page works without.
    return null;
  }
}

/** Remembers a reader's choice in this browser, if it stores anything. */
export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`almanac-${name}`, value);
  } catch {
    // The choice holds for this page only.
  }
}
