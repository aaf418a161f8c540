import { create, createButton, remember, remembered } from "./dom.ts";

/** What the keys do, as the list shows it. The pages' own letters are in the header's links. */
const shortcuts: readonly (readonly [keys: string, text: string])[] = [
  ["/", "Go to the page’s filter, or to the search"],
  ["j", "Next row"],
  ["k", "Previous row"],
  ["Enter", "Open the row"],
  ["Ctrl K", "Jump to an agent, a page or a run"],
  ["?", "Show this list"],
];
const setting = "shortcuts";

/** Single letters get in the way of voice control: a reader can switch them off. */
export function areLettersOn(): boolean {
  return remembered(setting) !== "off";
}

export interface PageLetter {
  readonly letter: string;
  readonly name: string;
}

/** The dialog that lists the keys. */
export function createShortcutList(pages: readonly PageLetter[]): { readonly open: () => void } {
  const title = create("h2", "", "Keyboard shortcuts");
  title.id = "shortcuts-title";
  const rows = [
    ...shortcuts,
    ...pages.map(({ letter, name }) => [`g ${letter}`, `Go to ${name}`] as const),
  ].map(([keys, text]) =>
    create("div", "", create("dt", "", ...keysOf(keys)), create("dd", "", text)),
  );
  const letters = create("input");
  letters.type = "checkbox";
  letters.checked = areLettersOn();
  letters.addEventListener("change", () => remember(setting, letters.checked ? "on" : "off"));
  const close = createButton("button", "Close");
  const dialog = create(
    "dialog",
    "keys",
    title,
    create("dl", "", ...rows),
    create("label", "", letters, " Keys without Ctrl are on"),
    create("div", "keys-end", close),
  );
  dialog.setAttribute("aria-labelledby", title.id);
  close.addEventListener("click", () => dialog.close());
  document.body.append(dialog);
  return { open: () => dialog.showModal() };
}

function keysOf(keys: string): (HTMLElement | string)[] {
  return keys.split(" ").flatMap((key) => [create("kbd", "", key), " "]);
}
