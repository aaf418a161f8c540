import { whyText } from "../../../../src/interfaces/dashboard/runs/trigger-words.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";

test.each([
  [{ outcome: "succeeded" }, ""],
  [{ outcome: null }, ""],
  [{ outcome: "failed", reason: "exit code 3" }, "exit code 3"],
  [{ outcome: "failed", reason: "\u001b[31mno space left\u001b[0m" }, "no space left"],
  [
    { outcome: "skipped", reason: "all runners are busy" },
    "The tick was skipped: all runners are busy",
  ],
  [
    { outcome: "dropped", reason: "queue_full" },
    "The work was dropped: the agent's queue was full, and newer work took its place",
  ],
  [
    { outcome: "rejected", kind: "webhook", reason: "agent dev: actions must have closed" },
    "No agent ran: agent dev: actions must have closed",
  ],
  [
    { outcome: "killed", reason: "it was stopped before it finished" },
    "The run was killed: it was stopped before it finished",
  ],
  [{ outcome: "rejected", kind: "manual", reason: "it is gone" }, "Nothing ran: it is gone"],
  [{ outcome: "lost", reason: null }, "The run started, and nothing recorded its end"],
] as const)("the trigger %j is explained as %j", (entry, words) => {
  expect(whyText(historyEntry({ id: "1", ...entry }))).toBe(words);
});
