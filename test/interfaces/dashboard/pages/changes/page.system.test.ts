import type { RunDifference } from "../../../../../src/runtime/runs/run-view.ts";
import { historyEntry } from "../../../../helpers/history-entry.ts";
import { sharedBrowser } from "../../open-page.ts";
import { withDetail } from "../../with-detail.ts";

const open = sharedBrowser();
const [first, second] = ["a".repeat(32), "b".repeat(32)];

const difference: RunDifference = {
  from: { instanceId: "dev-bbbbbbbb", version: { hash: first, commit: null, dirty: null } },
  to: {
    instanceId: "dev-cccccccc",
    version: { hash: second, commit: null, dirty: null },
  },
  changed: true,
  text: "+Say bye.\n",
};

function withRuns() {
  const deps = withDetail();
  const at = (ago: number): string => new Date(Date.now() - ago * 1000).toISOString();
  const run = (letter: string, ago: number, version: string | null) =>
    historyEntry({ id: letter, at: at(ago), instanceId: `dev-${letter.repeat(8)}`, version });
  const queued = { startedAt: null, instanceId: null, outcome: null, version: null } as const;
  deps.operations.entries.push(
    run("e", 500, null),
    run("a", 400, first),
    run("b", 300, first),
    run("c", 200, second),
    run("d", 100, second),
    historyEntry({ id: "q", at: at(10), ...queued }),
  );
  deps.operations.differences.set("dev-cccccccc", difference);
  return deps;
}

test("two runs of one version show no change, and a deleted run responds 404", async () => {
  const deps = withRuns();
  deps.operations.differences.set("dev-dddddddd", { ...difference, changed: false, text: "" });
  const { page, url, shows } = await open("/dashboard/agents/dev/runs/dev-dddddddd/changes", deps);
  await shows({ "#same": /the same config/, ".changes": 0 });
  const gone = await page.goto(`${url}/dashboard/agents/dev/runs/dev-zzzzzzzz/changes`);
  expect(gone?.status()).toBe(404);
  await shows({ h1: "Nothing here" });
});
