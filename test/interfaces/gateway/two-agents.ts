import { aDelivery, aTarget } from "../../helpers/fake-alerts.ts";
import { fakeOperations } from "../../helpers/fake-operations.ts";
import { aQuestionView } from "../../helpers/fake-questions.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { aRunView } from "../../helpers/run-view.ts";
import { aReceipt, at } from "./routes/api-samples.ts";

const receipt = (n: number): string => `0198c0de-7a11-4000-8000-5ec0ffee000${n}`;
export const ofBoth = receipt(0);

/** A project of two agents with everything about both. */
export function twoAgents() {
  const operations = fakeOperations([{ name: "dev" }, { name: "zebra" }]);
  const entries = ["dev", "zebra"].map((name) =>
    historyEntry({
      id: `t-${name}`,
      agent: name,
      instanceId: `${name}-abcdefgh`,
      at,
      kind: "agent-call",
      source: "zebra",
      caller: "zebra-abcdefgh",
      reason: "after zebra-abcdefgh",
    }),
  );
  operations.entries.push(...entries);
  const matches = { [ofBoth]: ["dev", "zebra"], [receipt(1)]: ["dev"], [receipt(2)]: ["zebra"] };
  for (const [id, matched] of Object.entries(matches)) {
    operations.receipts.set(id, aReceipt(id, matched));
  }
  operations.trees.set("t-dev", { context: null, value: null, entries });
  const received = { callId: "c1", caller: "zebra", callerInstance: "zebra-abcdefgh", context: "" };
  operations.runs.set(
    "dev-abcdefgh",
    aRunView("dev-abcdefgh", {
      kind: "agent-call",
      source: "zebra",
      calls: { received, made: entries },
    }),
  );
  for (const name of ["dev", "zebra"]) {
    const instanceId = `${name}-abcdefgh`;
    operations.artifacts.set(instanceId, { "a.md": "A file." });
    operations.asked.push(aQuestionView({ id: `q-${name}`, agent: name, instanceId }));
    // A gate of `zebra` holds the run of `dev` that it called.
    const gates = [name, "zebra"];
    operations.asked.push(aQuestionView({ id: `q-gate-${name}`, agent: name, instanceId, gates }));
    operations.addLog({ agent: name, msg: `log of ${name}`, instanceId });
    const lock = { resource: `file:///${name}`, agent: name, instanceId };
    operations.setClaim({ ...lock, held: true, since: at, expiresAt: at });
    operations.context.audit.recordAct({ act: "kill", agent: name, instanceId });
  }
  for (const name of ["dev", "zebra", "shared/team"]) {
    operations.memory.add(name, [operations.memory.file("facts.md", `Of ${name}.\n`)]);
  }
  operations.setScheduler({
    warnings: ["agents/zebra is no agent yet"],
    webhookSources: ["zebra"],
  });
  const open = ["dev", "zebra"].map((name) => ({
    agent: name,
    topic: "runs" as const,
    since: at,
    count: 1,
    reason: null,
    ack: null,
  }));
  Object.assign(operations.alerting, {
    targets: [aTarget("dev")],
    open,
    deliveries: [aDelivery(1), aDelivery(2, { agent: "zebra", title: "zebra failed" })],
  });
  const limits = ["project", "agent:dev"].map((scope) => ({
    scope,
    window: "2026-11",
    endsAt: null,
    usd: 1,
    limit: 2,
    reserved: 0,
  }));
  operations.spending.set("day", { rows: [], limits, forecast: null });
  return operations;
}
