import type { Mutation } from "../mutation.ts";

const table = { tests: ["test/interfaces/dashboard/agents-table.test.ts"], built: true } as const;

/** What keeps an operator of many agents from acting on the wrong ones, and from overlooking a failed one. */
export const overviews: readonly Mutation[] = [
  {
    defence: "nothing is done with an agent that the filter hides",
    file: "src/interfaces/dashboard/browser/bulk.ts",
    find: "for (const name of selected) if (!names.has(name)) selected.delete(name);",
    replace: "",
    ...table,
    only: "takes hidden agents out",
  },
  {
    defence: "what is done with many agents is asked first",
    file: "src/interfaces/dashboard/browser/bulk.ts",
    find: "dialog.showModal();",
    replace: "void act();",
    ...table,
    only: "is asked once",
  },
  {
    defence: "rows stay where they are under the pointer",
    file: "src/interfaces/dashboard/browser/agent-table.ts",
    find: 'rows.matches(":hover")',
    replace: "rows.hidden",
    ...table,
    only: "under the pointer",
  },
  {
    defence: "the timeline leaves out no agent with a failed run",
    file: "src/interfaces/dashboard/browser/timeline-layout.ts",
    find: "const chosen = new Set(failed.map(({ agent }) => agent));",
    replace: "const chosen = new Set(failed.slice(0, 0).map(({ agent }) => agent));",
    tests: ["test/interfaces/dashboard/browser/timeline-layout.test.ts"],
  },
  {
    defence: "what runs say does not push events out of Recent Activity",
    file: "streams/status/reduce-status.ts",
    find: 'instanceId === undefined || kind === "run" || level >= 50',
    replace: 'kind !== "tool-output" || instanceId === undefined || level >= 50',
    tests: ["test/streams/status/reduce-status.test.ts"],
  },
];
