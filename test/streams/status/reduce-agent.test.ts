import { newRecord, stateOf, toAgentStatus } from "../../../streams/status/agent-record.ts";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import { reduceAgent } from "../../../streams/status/reduce-agent.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { aProblem, eventsOf } from "./events.ts";

const at0 = eventsOf("dev", 0);
const at5 = eventsOf("dev", 5000);

const after = (...events: readonly RunEvent[]): AgentRecord =>
  events.reduce(reduceAgent, newRecord("dev"));

test("the record of an agent follows a run from start to end", () => {
  const running = after(at0.set(), at0.started());
  expect(running).toMatchObject({ running: 1, lastRunAt: 0, lastOutcome: null });
  const over = reduceAgent(running, at5.finished());
  expect(over).toMatchObject({ running: 0, lastDurationMs: 5000, lastOutcome: "succeeded" });
  expect(stateOf(over).state).toBe("idle");
});

test("the record of an agent has the start of a run that an earlier scheduler started", () => {
  const started = at5.started();
  if (started.type !== "started") throw new Error("not a start");
  const running = after(at0.set(), { ...started, startedAt: 3000 });
  expect(running).toMatchObject({ running: 1, lastRunAt: 3000 });
});

test("the record of an agent counts concurrent runs", () => {
  const two = after(at0.set({ scale: 2 }), at0.started("dev-1"), at0.started("dev-2"));
  expect(two.running).toBe(2);
  expect(stateOf(reduceAgent(two, at5.finished())).state).toBe("running");
});

test("the record of an agent adds up the spending of running runs, and the agent's spending today", () => {
  const busy = after(at0.set({ scale: 2 }), at0.started("dev-1"), at0.started("dev-2"));
  expect(toAgentStatus(busy)).toMatchObject({ runningUsd: null, spentToday: null });
  const spent = [at0.spent(0.1, 1.1), at0.spent(0.2, 1.3, "dev-2"), at0.spent(0.15, 1.35)];
  const paid = spent.reduce(reduceAgent, busy);
  expect(toAgentStatus(paid)).toMatchObject({
    runningUsd: 0.35,
    spentToday: { usd: 1.35, endsAt: "1970-01-02T00:00:00.000Z" },
  });
  const over = reduceAgent(paid, at5.finished());
  expect(toAgentStatus(over)).toMatchObject({ runningUsd: 0.2, spentToday: { usd: 1.35 } });
  expect(reduceAgent(paid, at5.spent(0.15, 1.35))).toBe(paid);
});

test("the record of an agent counts a call settled after its run for the day only", () => {
  const over = after(at0.set(), at0.started(), at5.finished(), at5.spent(0.1));
  expect(toAgentStatus(over)).toMatchObject({ runningUsd: null, spentToday: { usd: 0.1 } });
  expect(reduceAgent(over, at5.spent(0.1))).toBe(over);
});

test("the record of an agent has the used-up budget, with when its window turns", () => {
  const day = { scope: "agent:dev", window: "1970-01-01", usd: 5, limit: 5 };
  const budget = { ...day, endsAt: 86_400_000, onLimit: "pause" } as const;
  const event = { type: "used-budget", agent: "dev", at: 0, text: "" } as const;
  const used = reduceAgent(after(at0.set()), { ...event, budget });
  const usedBudget = { ...day, endsAt: "1970-01-02T00:00:00.000Z", onLimit: "pause" };
  expect(toAgentStatus(used)).toMatchObject({ state: "waiting", usedBudget });
  const raised = reduceAgent(used, { ...event, budget: null });
  expect(toAgentStatus(raised).usedBudget).toBeNull();
});

test("the record of an agent shows the status text of a run until the next one starts", () => {
  const busy = after(at0.set(), at0.started(), at0.statusText("reading"));
  expect(busy.statusText).toBe("reading");
  expect(reduceAgent(busy, at5.finished()).statusText).toBe("reading");
  expect(reduceAgent(busy, at5.started("dev-2")).statusText).toBeNull();
});

test("the record of an agent waits while its run waits for money", () => {
  const text = { type: "status-text", agent: "dev", at: 0, instanceId: "dev-1", text: "" } as const;
  const waiting = after(at0.set(), at0.started(), { ...text, needsMoney: true });
  expect(stateOf(waiting)).toEqual({ state: "waiting", blockedBy: "budget" });
  expect(stateOf(reduceAgent(waiting, text)).state).toBe("running");
  expect(stateOf([at5.finished(), at5.started()].reduce(reduceAgent, waiting)).state).toBe(
    "running",
  );
});

test("the record of an agent keeps a run's failure until one succeeds", () => {
  const failed = after(at0.set(), at0.started(), at5.finished("failed", "no key"));
  expect(failed).toMatchObject({ runError: "failed: no key", lastOutcome: "failed" });
  expect(reduceAgent(failed, at5.started()).runError).toBe("failed: no key");
  expect(after(at0.set(), at0.started(), at5.finished("out_of_memory")).runError).toBe(
    "out of memory",
  );
  expect([at5.started(), at5.finished()].reduce(reduceAgent, failed).runError).toBeNull();
});

test("the record of an agent keeps an earlier error after a kill, which is neither a failure nor a success", () => {
  const failed = after(at0.set(), at0.started(), at5.finished("failed", "no key"));
  const killed = [at5.started(), at5.finished("killed")];
  expect(killed.reduce(reduceAgent, failed).runError).toBe("failed: no key");
  expect(after(at0.set(), ...killed)).toMatchObject({ runError: null, lastOutcome: "killed" });
});

test("the record of an agent keeps the last good config while the files are invalid", () => {
  const broken = after(at0.set({ title: "good" }), at5.invalid(aProblem()));
  expect(broken.config?.title).toBe("good");
  expect(broken.configError).toBe("agents/dev/config.toml:4:12  scale is not a number");
  expect(reduceAgent(broken, at5.set()).configError).toBeNull();
});

test("the record of an agent has the number of further errors, without warnings", () => {
  const warning = aProblem({ severity: "warning", message: "unknown key" });
  const one = after(at0.invalid(warning, aProblem()));
  const three = after(at0.invalid(aProblem(), warning, aProblem(), aProblem()));
  expect(one.configError).not.toContain("more");
  expect(three.configError).toContain("(and 2 more)");
  expect(after(at0.invalid()).configError).toBe("invalid config");
});

test("the record of an agent is blocked while its runs lack a requirement, and drops the rejections for that once they don't", () => {
  const warning = aProblem({ severity: "warning", message: "no key of the fallback" });
  const lacking = after(at0.set(), at0.requirements(aProblem(), warning));
  expect(stateOf(lacking)).toEqual({ state: "blocked", blockedBy: "requirement" });
  expect(toAgentStatus(lacking)).toMatchObject({
    error: "agents/dev/config.toml:4:12  scale is not a number",
    warning: "agents/dev/config.toml:4:12  no key of the fallback",
  });
  const rejected = [at0.started(), at5.finished("rejected", "no key")];
  const recovered = [...rejected, at5.requirements(warning)].reduce(reduceAgent, lacking);
  expect(toAgentStatus(recovered)).toMatchObject({ state: "idle", error: null });
  expect(toAgentStatus(recovered).warning).toContain("no key of the fallback");
  const failed = [at0.started(), at5.finished("failed", "no luck"), at5.requirements()];
  expect(toAgentStatus(failed.reduce(reduceAgent, lacking))).toMatchObject({
    state: "error",
    error: "failed: no luck",
    warning: null,
  });
});

test("the record of an agent follows a build", () => {
  const container = { runtime: { type: "container", runAs: "al-agent" } } as const;
  const building = after(at0.set(container), at0.buildStarted("step 1"));
  expect(building).toMatchObject({ building: true, statusText: "step 1" });
  expect(reduceAgent(building, at5.buildProgress("step 2")).statusText).toBe("step 2");
  expect(reduceAgent(building, at5.set())).toMatchObject({ building: false, statusText: null });
  const failed = reduceAgent(building, at5.buildFinished("no base"));
  expect(failed).toMatchObject({ building: false, statusText: null, buildError: "no base" });
  expect(reduceAgent(failed, at5.set(container)).buildError).toBe("no base");
  expect(reduceAgent(failed, at5.buildFinished()).buildError).toBeNull();
});

test("the record of an agent has neither a build nor its error once it runs outside a container", () => {
  const container = { runtime: { type: "container", runAs: "al-agent" } } as const;
  const failed = after(at0.set(container), at0.buildFinished("no base"), at0.buildStarted());
  expect(reduceAgent(failed, at5.set())).toMatchObject({ building: false, buildError: null });
});

test("the record of an agent has whether it is enabled, due, waiting and existing", () => {
  expect(after(at0.enabled(false)).enabled).toBe(false);
  expect(after(at0.enabled(false), at0.enabled(true)).enabled).toBe(true);
  expect(after(at0.nextRun(9)).nextRunAt).toBe(9);
  expect(after(at0.nextRun(9), at0.nextRun(null)).nextRunAt).toBeNull();
  expect(after(at0.depth(3)).queued).toBe(3);
  expect(after(at0.removed()).removed).toBe(true);
  expect(after(at0.removed(), at0.set()).removed).toBe(false);
  expect(after(at0.removed(), at0.invalid()).removed).toBe(false);
});

test("the record of an agent is the same object when an event changes nothing of it", () => {
  const record = after(at0.set());
  for (const event of [at0.queued(), at0.refused(), at0.output("hello")]) {
    expect(reduceAgent(record, event)).toBe(record);
  }
});
