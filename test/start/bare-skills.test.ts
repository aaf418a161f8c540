import { map, of, tap } from "rxjs";
import { test } from "vitest";
import { bareSkills } from "../../src/start/bare-skills.ts";
import { marbles } from "../helpers/marbles.ts";

/**
 * A capital letter takes the config.toml of the directory away, a small one brings it; what is told is the small
 * letter of its directory.
 */
test.each([
  ["what lacks it is told once, when all is quiet", "A 2s A", "1s a"],
  ["what has it again in time is not told", "A 499ms a", ""],
  ["each touch begins the wait anew", "A 799ms A", "1800ms a"],
  ["what was cured and came back is told again", "A 2s a 2s A", "1s a 4001ms a"],
  ["one does not wait for the other", "A 499ms B", "1s a 499ms b"],
])("%s", (_name, saves, told) =>
  marbles(({ hot, expectObservable, scheduler }) => {
    const lacking = new Set<string>();
    const name$ = hot(saves).pipe(
      tap((letter) => {
        const name = letter.toLowerCase();
        if (letter === name) lacking.delete(name);
        else lacking.add(name);
      }),
      map((letter) => letter.toLowerCase()),
    );
    const isBare = (name: string) => of(lacking.has(name));
    const told$ = bareSkills(name$, { isBare, scheduler });
    expectObservable(told$.pipe(map((text) => text.slice("agents/".length, 8)))).toBe(told);
  }),
);
