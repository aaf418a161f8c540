import type { Mutation } from "../mutation.ts";

const damaged = "test/faults/store/damaged-store.test.ts";
const start = "test/start/acquire-project.test.ts";

/** What holds when files of a scheduler go or are damaged. */
export const files: readonly Mutation[] = [
  {
    defence: "a scheduler whose state.db was removed or moved ends, and saves it",
    file: "src/start/acquire-project.ts",
    find: "store.files.areInPlace() ? null",
    replace: "lock.isHeld() ? null",
    tests: [damaged],
    only: "nothing acknowledged is lost",
    built: true,
  },
  {
    defence: "what is recorded while such a scheduler ends is saved, too",
    file: "src/foundation/store/store.ts",
    find: "!files.areInPlace() && existsSync",
    replace: "!existsSync(path) && existsSync",
    tests: ["test/foundation/store/database-files.test.ts"],
  },
  {
    defence: "a damaged file of logins keeps no scheduler from starting",
    file: "src/foundation/store/sessions.ts",
    find: "isCorrupt(error) || !isUsable(path)",
    replace: "isCorrupt(error) && !isUsable(path)",
    tests: [start],
    only: "sessions.db",
  },
  {
    defence: "a start removes no socket that a process listens on",
    file: "src/start/dead-sockets.ts",
    find: "() => answer(false)",
    replace: "() => answer(true)",
    tests: [start],
    only: "no others",
  },
];
