import type { Mutation } from "../mutation.ts";

const operations = ["test/interfaces/operations/why-not.test.ts"];
const keys = ["test/interfaces/cli/tui/live-view.test.ts"];

/** What the list of what did not run promises, and what keeps a slip of a finger from running anything. */
export const refusals: readonly Mutation[] = [
  {
    defence: "refused deliveries are deleted with the history",
    file: "src/foundation/store/prune.ts",
    find: "    deleteRefused.run(cutoff);\n",
    replace: "",
    tests: ["test/foundation/store/refused-deliveries.test.ts"],
  },
  {
    defence: "an answer to why an agent did not run reads few bytes of deliveries again",
    file: "src/interfaces/operations/turned-away.ts",
    find: "if (bytes > mostBytes)",
    replace: "if (bytes > mostBytes * 100)",
    tests: operations,
  },
  {
    defence: "what was compared with a filter is shown without secrets",
    file: "src/interfaces/operations/why-not.ts",
    find: "return redactor.redactValue(answer) as WhyNot;",
    replace: "return answer;",
    tests: operations,
  },
  {
    defence: "the letters of a search in the live view do nothing to agents",
    file: "src/interfaces/cli/tui/on-key.ts",
    find: "if (isSearching && onSearchKey(name, view)) return;",
    replace: "if (isSearching) onSearchKey(name, view);",
    tests: keys,
    only: "searches",
    built: true,
  },
];
