import { byId } from "./dom.ts";
import type { LogChoice } from "./log-choice.ts";

/** A pause in the typing of this length asks for the lines. */
const pauseMs = 250;

/** Fills the fields of the filter with what is chosen, and follows them. */
export function wireFilter(
  { q, level }: LogChoice,
  choose: (change: Pick<LogChoice, "q" | "level">) => void,
): void {
  const text = byId("text-filter", HTMLInputElement);
  const levels = byId("level", HTMLSelectElement);
  text.value = q;
  levels.value = level;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const follow = (): void => {
    clearTimeout(timer);
    choose({ q: text.value.trim(), level: levels.value });
  };
  levels.addEventListener("change", follow);
  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(follow, pauseMs);
  });
}
