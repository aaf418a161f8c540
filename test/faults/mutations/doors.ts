import type { Mutation } from "../mutation.ts";

/** What keeps out who comes by a door: the port, a config file, a skill's repository, a run. */
export const doors: readonly Mutation[] = [
  {
    defence: "a page of another origin can't act with an operator's session",
    file: "src/gateway/auth.ts",
    find: "  if (isRefused) {",
    replace: "  if (isRefused && !isStream && isSafe) {",
    tests: ["test/gateway/app.test.ts"],
  },
];
