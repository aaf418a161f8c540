/**
 * The part of a browser that the pages use. The program is compiled without TypeScript's DOM library, so that no
 * server file can reach for `document` by accident; what is missing here is added here.
 */
export interface PageElement {
  id: string;
  className: string;
  textContent: string;
  /** As it is seen: without what is folded. */
  readonly innerText: string;
  title: string;
  hidden: boolean;
  dateTime: string;
  href: string;
  open: boolean;
  value: string;
  checked: boolean;
  type: string;
  name: string;
  colSpan: number;
  scrollTop: number;
  readonly scrollHeight: number;
  readonly clientHeight: number;
  readonly clientWidth: number;
  readonly childElementCount: number;
  readonly firstElementChild: PageElement | null;
  readonly lastElementChild: PageElement | null;
  readonly nextElementSibling: PageElement | null;
  readonly children: Iterable<PageElement>;
  readonly dataset: Record<string, string | undefined>;
  readonly style: { setProperty(name: string, value: string): void };
  readonly classList: { toggle(name: string, force: boolean): void };
  /** Of a `<dialog>`. */
  showModal(): void;
  close(): void;
  /** Of a `<form>`. */
  requestSubmit(): void;
  append(...children: readonly (PageElement | string)[]): void;
  prepend(...children: readonly PageElement[]): void;
  before(...children: readonly PageElement[]): void;
  after(...children: readonly PageElement[]): void;
  replaceChildren(...children: readonly (PageElement | string)[]): void;
  remove(): void;
  focus(): void;
  contains(node: unknown): boolean;
  querySelector(selector: string): PageElement | null;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  addEventListener(type: string, listener: (event: PageEvent) => void): void;
}

/** What a listener is told. */
export interface PageEvent {
  readonly type: string;
  readonly persisted?: boolean;
  readonly key?: string;
  readonly ctrlKey?: boolean;
  readonly metaKey?: boolean;
  readonly clipboardData?: { setData(type: string, text: string): void };
  preventDefault(): void;
}

/** A part of the page's text; as a string, that text. */
export interface PageRange {
  readonly endContainer: unknown;
  readonly endOffset: number;
  setStart(node: unknown, offset: number): void;
  setEnd(node: unknown, offset: number): void;
  toString(): string;
}

interface PageSelection {
  readonly rangeCount: number;
  getRangeAt(index: number): PageRange;
  containsNode(node: unknown, allowPartial: boolean): boolean;
}

interface PageDocument {
  title: string;
  readonly visibilityState: "visible" | "hidden";
  readonly body: PageElement;
  getElementById(id: string): PageElement | null;
  querySelector(selector: string): PageElement | null;
  createElement(tag: string): PageElement;
  createElementNS(namespace: string, tag: string): PageElement;
  createDocumentFragment(): PageElement;
  createRange(): PageRange;
  addEventListener(type: string, listener: (event: PageEvent) => void): void;
}

/** A browser's own reader of event streams. */
export interface PageEventSource {
  /** 0 connecting, 1 open, 2 given up. */
  readonly readyState: number;
  addEventListener(
    type: string,
    listener: (event: { readonly data: string; readonly lastEventId: string }) => void,
  ): void;
  close(): void;
}

interface Browser {
  readonly document: PageDocument;
  readonly location: {
    readonly pathname: string;
    readonly search: string;
    assign(url: string): void;
  };
  readonly history: { pushState(data: null, unused: string, url: string): void };
  readonly localStorage: {
    getItem(name: string): string | null;
    setItem(name: string, value: string): void;
  };
  readonly EventSource: new (url: string) => PageEventSource;
  readonly getSelection: () => PageSelection | null;
  readonly requestAnimationFrame: (callback: () => void) => number;
  readonly addEventListener: (type: string, listener: (event: PageEvent) => void) => void;
}

const browser = globalThis as unknown as Browser;

export const { document, location, history, EventSource } = browser;
export const { addEventListener, getSelection, requestAnimationFrame } = browser;

/** An element of the page's own markup. */
export function byId(id: string): PageElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}

/** A new element. Text goes in as text only, so nothing that came from a run is ever markup. */
export function create(tag: string, className = "", text = ""): PageElement {
  const element = document.createElement(tag);
  if (className !== "") element.className = className;
  if (text !== "") element.textContent = text;
  return element;
}

/** Puts elements below another, or first in their list. What stands there is left: a move takes the focus. */
export function placeBelow(
  above: PageElement | null,
  elements: readonly PageElement[],
  list: PageElement,
): void {
  const there = above === null ? list.firstElementChild : above.nextElementSibling;
  if (there === elements[0]) return;
  if (above === null) list.prepend(...elements);
  else above.after(...elements);
}

/** Changes a text only when it differs: a selection in it survives. */
export function setText(element: PageElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Changes an attribute only when it differs; null removes it. */
export function setAttribute(element: PageElement, name: string, value: string | null): void {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** What this browser was asked to remember; null when nothing, or when it keeps nothing. */
export function remembered(name: string): string | null {
  try {
    return browser.localStorage.getItem(`almanac-${name}`);
  } catch {
    // A browser may refuse storage altogether; the page works without.
    return null;
  }
}

/** Remembers a reader's choice in this browser, if it keeps anything. */
export function remember(name: string, value: string): void {
  try {
    browser.localStorage.setItem(`almanac-${name}`, value);
  } catch {
    // The choice holds for this page only.
  }
}
