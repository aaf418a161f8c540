import { anAgent } from "../../helpers/agents.ts";
import { fakeOperations } from "../../helpers/fake-operations.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { aRunView } from "../../helpers/run-view.ts";
import { testDeps, type TestDeps } from "../gateway/start-gateway.ts";
import { aFoundRun, aMatch } from "./found-runs.ts";
import { withFiles } from "./file-states.ts";
import { writeStory } from "./log-support.ts";
import { withMemory } from "./memory-states.ts";
import { ada, withActs, withQuestions } from "./people-states.ts";

/** The run whose page, log and changes the busy and the broken state have. */
export const instance = "dev-cccccccc";
export const receiptId = "0190aaaa-0000-7000-8000-000000000001";
/** Markup that reports itself as an error of the page if it runs. */
export const attack = `<img src=x onerror="throw 'hacked'">`;
export const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();

export const notStarted = {
  startedAt: null,
  endedAt: null,
  durationMs: null,
  instanceId: null,
} as const;
export const ongoing = { outcome: null, endedAt: null, durationMs: null } as const;

/** A line that is all markup, and too long for a row. */
const poisoned = aMatch({
  text: `${attack} ${"x".repeat(500)}`,
  ranges: [[0, attack.length]],
  before: [attack],
  after: [attack],
});

const search: TestDeps["search"] = {
  find: () =>
    Promise.resolve({
      runs: [
        aFoundRun({ count: 4 }),
        aFoundRun({ instanceId: null, outcome: null, usd: null }),
        aFoundRun({ instanceId: "dev-bbbbbbbb", matches: [poisoned] }),
      ],
      next: "n",
      indexedUntil: ago(1),
      indexing: null,
    }),
};

/** Agents that work, wait and ended, with all that pages can show of them: so many that their table is dense. */
export function busyState(found = search): TestDeps {
  const names = ["dev", ...Array.from({ length: 9 }, (_, index) => `agent-${index}`)];
  const agents = names.map((name, index) => {
    const isRunning = index % 3 === 0;
    return {
      name,
      title: `The ${name}`,
      tags: index % 2 === 0 ? ["ops", "night"] : [],
      triggers: ["cron 0 9 * * *", "webhook github"],
      state: isRunning ? ("running" as const) : ("idle" as const),
      running: isRunning ? 1 : 0,
      statusText: isRunning ? "reading" : null,
      enabled: index !== 1,
      lastRunAt: ago(60 * index),
      lastDurationMs: 1234,
      lastOutcome: "succeeded" as const,
      nextRunAt: ago(-60 * index - 30),
      queued: index % 5,
      scale: 4,
      ...(isRunning && { runningUsd: 0.05, spentToday: { usd: 1.25, endsAt: ago(-86_400) } }),
    };
  });
  const deps = testDeps({ operations: fakeOperations(agents), search: found });
  const { operations } = deps;
  withRuns(deps);
  withFiles(deps, instance, attack);
  withQuestions(deps, instance);
  withActs(deps, instance);
  withMemory(deps, instance);
  writeStory(deps, instance);
  const line = { agent: "dev", instanceId: instance };
  const msg = "# A plan\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nmake\n```\n- then *rest*";
  deps.logs.write({ ...line, kind: "said", msg });
  const call = { ...line, tool: "bash", call: "2" };
  deps.logs.write({ ...call, kind: "tool", msg: "bash: make", input: { command: "make" } });
  deps.logs.write({ ...call, kind: "tool-output", msg: "bash still running", output: "one\n" });
  writeRequests(deps);
  const today = new Date().toISOString().slice(0, 10);
  const row = { usd: 1.25, subscriptionUsd: 0, calls: 12, tokens: 120_000, estimated: 0 };
  for (const [by, key] of [
    ["agent", "dev"],
    ["model", "haiku"],
    ["day", today],
  ] as const) {
    operations.spending.set(by, {
      rows: [{ key, unpriced: 1, ...row }],
      limits: [],
      forecast: null,
    });
  }
  const lock = { resource: `x:${attack}`, agent: "dev", instanceId: instance, since: ago(62) };
  operations.setClaim({ ...lock, held: true, expiresAt: ago(-1798) });
  const waiting = { ...lock, agent: "agent-0", instanceId: "agent-0-aaaaaaaa" };
  operations.setClaim({ ...waiting, held: false, expiresAt: null });
  operations.addLog({ agent: "dev", instanceId: instance, msg: "run started" });
  return deps;
}

/** Requests of a run and their answers, with markup. */
function writeRequests({ logs }: TestDeps): void {
  const resource = `x:${attack.replaceAll(" ", "/")}`;
  for (const [tool, input, answer] of [
    ["al_lock", { resource, waitSeconds: 120 }, { ok: true, fencingToken: 7 }],
    ["al_lock", { resource }, { ok: false, error: "held", detail: `held by ${attack}` }],
    ["al_call", { agent: "cat" }, { ok: true, callId: "c1", value: { text: attack } }],
    ["al_unlock", { resource }, { ok: true }],
  ] as const) {
    const shared = { agent: "dev", instanceId: instance, tool };
    logs.write({ ...shared, kind: "tool", msg: tool, input });
    const output = JSON.stringify(answer);
    logs.write({ ...shared, kind: "tool-result", msg: "", output, isError: !answer.ok });
  }
}

/** A webhook that no agent was for. */
export function aDeadLetter(entry: Partial<Parameters<typeof historyEntry>[0]> = {}) {
  return historyEntry({
    id: "dead",
    kind: "webhook",
    source: "hub",
    event: "issues",
    action: "opened",
    agent: null,
    receiptId,
    outcome: "rejected",
    deadLetter: true,
    reason: "agent dev: actions must have closed",
    ...notStarted,
    ...entry,
  });
}

/** The stored delivery of the dead letter. */
export function addReceipt({ operations }: TestDeps): void {
  operations.receipts.set(receiptId, {
    receiptId,
    at: ago(60),
    source: "hub",
    type: "github",
    bytes: 2048,
    deliveryId: "d-1",
    headers: { "x-github-event": "issues" },
    text: null,
    matched: ["dev"],
    reason: null,
    payload: { action: "opened", issue: { number: 3, title: attack } },
  });
}

function withRuns(deps: TestDeps): void {
  const { operations } = deps;
  const [first, second] = ["a".repeat(32), "b".repeat(32)];
  const run = (letter: string, seconds: number, version: string | null) =>
    historyEntry({ id: letter, at: ago(seconds), instanceId: `dev-${letter.repeat(8)}`, version });
  operations.entries.push(
    run("e", 12_000, null),
    {
      ...run("a", 9_000, first),
      outcome: "failed",
      reason: "exited with code 1",
      exitCode: 1,
      durationMs: 1_000,
      costUsd: 0.5,
    },
    { ...run("b", 6_000, first), durationMs: 4_000, value: `a bug\u001b[2J\n  in ${attack}` },
    {
      ...run("c", 3_000, second),
      kind: "webhook",
      source: "github",
      receiptId,
      calls: 2,
      durationMs: 8_000,
      tokens: 3_000,
    },
    { ...run("d", 30, second), kind: "manual", outcome: null, endedAt: null },
    aDeadLetter(),
  );
  addReceipt(deps);
  const call = { kind: "agent-call", source: "dev", caller: instance, callId: "x" } as const;
  const made = historyEntry({ id: "x", agent: "owl", instanceId: "owl-aaaaaaaa", ...call });
  const taken = { ...made, id: "y", callId: "y", caller: "owl-aaaaaaaa", startedAt: null };
  const [, , , entry = made] = operations.entries;
  const reason = "taken by dev-cccccccc, which waited for it";
  operations.trees.set("c", {
    context: attack,
    value: { text: attack, more: "x".repeat(400) },
    entries: [entry, made, { ...taken, reason }],
  });
  const instructions = "## Role\n\nBe brief.\n\n#### Tools\n\nNone.\n\n# Goal\n\nDo it.";
  const config = anAgent("dev", { schedule: "0 9 * * *", instructions });
  operations.details.set("dev", { config, nextTicks: [ago(-600), ago(-1200)] });
  const version = { commit: null, dirty: null };
  operations.differences.set(instance, {
    from: { instanceId: "dev-bbbbbbbb", version: { hash: first, ...version } },
    to: { instanceId: instance, version: { hash: second, commit: "c".repeat(40), dirty: true } },
    changed: true,
    text: "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,1 +1,1 @@\n-Say <b>hi</b>.\n+Say bye.\n",
  });
  const host = { port: 443, connections: 1, bytesOut: 512, bytesIn: 2048, lastAt: ago(60) };
  const lastSuccess = { instanceId: "dev-bbbbbbbb", at: ago(5_900) };
  operations.runs.set(
    "dev-aaaaaaaa",
    aRunView("dev-aaaaaaaa", {
      kind: "webhook",
      event: "issues",
      action: "opened",
      receiptId,
      outcome: "failed",
      reason: "exit code 3",
      lastSuccess: { instanceId: "dev-bbbbbbbb", changed: true },
      failing: {
        instanceId: "dev-aaaaaaaa",
        count: 1,
        since: ago(9_000),
        changed: null,
        newest: false,
        lastSuccess,
      },
    }),
  );
  const [difference] = operations.differences.values();
  if (difference) operations.differences.set("dev-aaaaaaaa", difference);
  operations.runs.set(
    "dev-bbbbbbbb",
    aRunView("dev-bbbbbbbb", {
      kind: "webhook",
      receiptId: "deleted",
      outcome: "killed",
      lastSuccess: { instanceId: "dev-aaaaaaaa", changed: false },
    }),
  );
  const received = { callId: "c1", caller: "cat", callerInstance: "cat-aaaaaaaa" };
  operations.runs.set(
    instance,
    aRunView(instance, {
      kind: "manual",
      prompt: "Look at <b>this</b>",
      value: { ok: true },
      acts: (["kill", "trigger"] as const).map((act, id) => {
        return { id, act, agent: "dev", instanceId: instance, detail: "", by: ada, at: ago(60) };
      }),
      lastWords: "# Done\n\n- **all** of it",
      hosts: [
        { host: "evil.test", denied: "not_allowed", ...host },
        { host: "good.test", denied: null, ...host },
      ],
      calls: {
        received: { context: '{"issue":7}', ...received },
        made: [historyEntry({ id: "2", agent: "owl", instanceId: "owl-aaaaaaaa" })],
      },
    }),
  );
}
