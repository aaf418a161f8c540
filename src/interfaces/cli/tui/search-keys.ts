import type { View } from "./use-view.ts";

/** More than a name may have. */
const longest = 64;

/** Takes a key for the search; false for one that moves among what is found. */
export function onSearchKey(name: string, view: View): boolean {
  const { search } = view.current();
  const text = search ?? "";
  const show = (next: string | null, isSearching: boolean): void =>
    view.dispatch({ type: "search", text: next, isSearching });
  if (name === "escape") show(null, false);
  else if (name === "enter") show(text === "" ? null : text, false);
  else if (name === "backspace") show(text.slice(0, -1), true);
  else if (Array.from(name).length === 1) show(`${text}${name}`.slice(0, longest), true);
  else return false;
  return true;
}
