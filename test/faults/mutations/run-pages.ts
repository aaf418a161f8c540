import type { Mutation } from "../mutation.ts";

const page = ["test/interfaces/dashboard/run.test.ts"];

/** What the page of a run, and the view that it is made from, promise. */
export const runPages: readonly Mutation[] = [
  {
    defence: "a run's view has no secret of its delivery's payload",
    file: "src/interfaces/operations/view-run.ts",
    find: "viewReceipt(receiptId, { receipt, redactor })",
    replace:
      "viewReceipt(receiptId, { receipt, redactor: { ...redactor, redactValue: (one) => one } })",
    tests: ["test/interfaces/operations/view-run.test.ts"],
  },
  {
    defence: "the last words of an old run are found without reading younger days",
    file: "src/foundation/logs/log-reader.ts",
    find: "date >= from && date <= to",
    replace: "date >= from",
    tests: ["test/foundation/logs/log-reader.test.ts"],
  },
  {
    defence: "a run that is over is not read again at each change of its agent",
    file: "src/interfaces/dashboard/browser/run.ts",
    find: "if (run === null || isOpen(run)) read();",
    replace: "read();",
    tests: page,
    only: "follows a run",
    built: true,
  },
  {
    defence: "an edited payload that is no JSON starts nothing",
    file: "src/interfaces/dashboard/browser/asked-again.ts",
    find: "    JSON.parse(edited);\n",
    replace: "",
    tests: page,
    only: "runs a webhook's work again",
    built: true,
  },
  {
    defence: "an edited payload never runs as the delivery that it was",
    file: "src/interfaces/dashboard/browser/run-again.ts",
    find: "const isReplay = !isEdited() && asked.isStored;",
    replace: "const isReplay = asked.isStored;",
    tests: page,
    only: "runs a webhook's work again",
    built: true,
  },
];
