import type { HistoryEntry } from "../../../../src/foundation/contracts/history.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";
import { testDeps } from "../../gateway/start-gateway.ts";
import { sharedBrowser } from "../open-page.ts";
import { ago, attack, ongoing } from "../page-states.ts";

const open = sharedBrowser();

/** A run by hand that called dev, which called back, and that waited for just this. */
function teamwork(dev: Partial<HistoryEntry> = {}): readonly HistoryEntry[] {
  const writer = { agent: "writer", instanceId: "writer-abcdefgh" };
  const call = { kind: "agent-call", startedAt: ago(59) } as const;
  return [
    historyEntry({ id: "a", at: ago(60), kind: "manual", calls: 1, durationMs: 9_000, ...writer }),
    historyEntry({
      id: "b",
      at: ago(59),
      instanceId: "dev-abcdefgh",
      callId: "call-b",
      calls: 1,
      source: "writer",
      caller: "writer-abcdefgh",
      durationMs: 4_200,
      ...call,
      ...dev,
    }),
    historyEntry({
      ...call,
      id: "c",
      at: ago(58),
      callId: "call-c",
      startedAt: null,
      source: "dev",
      caller: "dev-abcdefgh",
      durationMs: null,
      reason: "taken by writer-abcdefgh, which waited for it",
      ...writer,
    }),
  ];
}

function withCalls(dev: Partial<HistoryEntry> = {}) {
  const deps = testDeps();
  const { operations } = deps;
  const entries = teamwork(dev);
  operations.setAgent({ name: "writer" });
  operations.entries.push(...entries);
  const value = { words: 5, text: attack, more: "x".repeat(400) };
  operations.trees.set("b", { context: attack, value, entries: [...entries] });
  return deps;
}

test("an unfolded tree shows the current state of its calls", async () => {
  const deps = withCalls(ongoing);
  const { page, shows } = await open("/dashboard/triggers", deps);
  await page.locator("tr[data-entry=b]").getByRole("button").click();
  await shows({ ".call-line[aria-current]": /running/ });
  const entries = teamwork({ outcome: "failed", reason: "it broke" });
  deps.operations.entries.splice(0, 3, ...entries);
  deps.operations.trees.set("b", { context: null, value: null, entries: [...entries] });
  deps.operations.emit({ changed: ["triggers"] });
  await shows({ ".call-line[aria-current]": /failed\s*4\.2 s · it broke/ });
});

test("an agent's last runs show the calls that they made and that started them", async () => {
  const { page, shows } = await open("/dashboard/agents/dev", withCalls());
  await shows({ "#run-rows tr >> nth=0": /call from writer-abcdefgh/ });
  await page.getByRole("button", { name: "1 call of the run dev-abcdefgh" }).focus();
  await page.keyboard.press("Enter");
  await shows({ ".call-line": 3, ":focus@aria-expanded": "true" });
  await page.keyboard.press("Enter");
  await shows({ ".call-line": 0, ":focus@aria-expanded": "false" });
});
