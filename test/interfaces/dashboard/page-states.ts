import { anAgent } from "../../helpers/agents.ts";
import { aDelivery, aTarget } from "../../helpers/fake-alerts.ts";
import { fakeOperations } from "../../helpers/fake-operations.ts";
import { aQuestionView } from "../../helpers/fake-questions.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { aRunView } from "../../helpers/run-view.ts";
import type { QuestionView } from "../../../src/foundation/contracts/question-views.ts";
import type { SearchMatch } from "../../../src/features/search/search-report.ts";
import { UserError } from "../../../src/foundation/errors.ts";
import { testDeps, type TestDeps } from "../gateway/start-gateway.ts";

/** The run whose page, log and changes every state but the empty one has. */
export const instance = "dev-cccccccc";
const before = "dev-bbbbbbbb";
const receiptId = "0190aaaa-0000-7000-8000-000000000001";
const [first, second] = ["a".repeat(32), "b".repeat(32)];
const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();
const match: SearchMatch = {
  ...{ position: "dev-2026-11-21.log:4711", at: ago(60), kind: "tool-result", isError: true },
  ...{ before: ["before"], text: "bash failed", ranges: [[0, 4]], after: ["after"] },
};
const found: TestDeps["search"] = {
  find: () =>
    Promise.resolve({
      runs: [null, instance].map((instanceId) => ({
        ...{ instanceId, agent: "dev", at: ago(60), outcome: "failed", usd: 0.01, count: 4 },
        matches: [match],
      })),
      next: "n",
      indexedUntil: ago(1),
      indexing: null,
    }),
};
const notStarted = { startedAt: null, endedAt: null, durationMs: null, instanceId: null } as const;

/** A project whose one agent has never run. */
export function emptyState(): TestDeps {
  return testDeps();
}

/** Agents that work, wait and ended, with all that pages can show of them: so many that their table is dense. */
export function busyState(search: TestDeps["search"] = found): TestDeps {
  const names = ["dev", ...Array.from({ length: 9 }, (_, index) => `agent-${index}`)];
  const agents = names.map((name, index) => {
    const isRunning = index % 3 === 0;
    return {
      name,
      tags: index % 2 === 0 ? ["ops", "night"] : [],
      triggers: ["cron 0 9 * * *", "webhook github"],
      ...(isRunning ? ({ state: "running", running: 1, statusText: "reading" } as const) : {}),
      ...{ lastRunAt: ago(60 * index), lastDurationMs: 1234, lastOutcome: "succeeded" as const },
      ...{ nextRunAt: ago(-60 * index - 30), queued: index % 5, scale: 4 },
    };
  });
  const deps = testDeps({ operations: fakeOperations(agents), search });
  withRuns(deps);
  withQuestions(deps);
  withActs(deps);
  withLines(deps);
  withSpending(deps);
  const lock = { resource: "demo:notes", agent: "dev", instanceId: instance, since: ago(60) };
  deps.operations.setClaim({ ...lock, held: true, expiresAt: ago(-60) });
  for (const name of [...names, ...names])
    deps.operations.addLog({ agent: name, msg: "run started" });
  return deps;
}

/** Everything that can be wrong at once. */
export function brokenState(): TestDeps {
  const find = () => Promise.reject(new UserError("no_index", "the index cannot be read"));
  const deps = busyState({ find });
  const { operations } = deps;
  const error = "agents/dev/config.toml:4:12: the schedule is not a cron expression";
  operations.setAgent({
    name: "dev",
    state: "error",
    error,
    lastOutcome: "failed",
    nextRunAt: null,
  });
  operations.setAgent({ name: "agent-1", warning: "no price is known", enabled: false });
  operations.setAgent({ name: "agent-2", lastOutcome: "killed" });
  operations.details.set("dev", { config: null, nextTicks: [] });
  const [file] = operations.shownFiles.files;
  const problem = {
    severity: "error",
    line: 2,
    column: 12,
    message: "not a cron expression",
  } as const;
  operations.shownFiles = {
    isEditable: false,
    files: operations.shownFiles.files.map((one) =>
      one === file
        ? { ...one, text: 'models = ["main"]\nschedule = "every day"\n', problems: [problem] }
        : { ...one, text: null, problems: [{ ...problem, line: null, column: null }] },
    ),
  };
  operations.deniedHosts = [
    {
      ...{ host: "api.evil.test", port: 443, denied: "not_allowed", attempts: 3 },
      ...{ lastAt: ago(90), entry: "api.evil.test" },
    },
  ];
  const { alerting } = operations;
  alerting.targets = [
    aTarget("ops", { state: "failing", waiting: 2, dead: 1, lastError: "HTTP 503" }),
    aTarget("chat", { type: "telegram", state: "off", lastError: "HTTP 410", offSince: ago(900) }),
  ];
  alerting.open = [
    { agent: "dev", topic: "runs", since: ago(900), count: 3, reason: "exit 1", ack: null },
  ];
  alerting.deliveries = [
    aDelivery(1, { state: "dead", attempts: 8, lastError: "HTTP 404" }),
    aDelivery(2, { agent: null, instanceId: null }),
  ];
  operations.setScheduler({
    ...{ paused: true, error: "config.toml:1:1: this is no TOML", warnings: ["one", "two"] },
    alerts: { open: 1, dead: 1 },
  });
  return deps;
}

function withRuns({ operations }: TestDeps): void {
  const run = (letter: string, seconds: number, version: string) =>
    historyEntry({ id: letter, at: ago(seconds), instanceId: `dev-${letter.repeat(8)}`, version });
  operations.entries.push(
    { ...run("a", 9_000, first), outcome: "failed", reason: "exited with code 1", exitCode: 1 },
    run("b", 6_000, first),
    { ...run("c", 3_000, second), kind: "webhook", source: "github", receiptId, calls: 2 },
    { ...run("d", 30, second), kind: "manual", outcome: null, endedAt: null },
    historyEntry({
      ...{ id: "e", kind: "webhook", source: "github", event: "issues", agent: null, receiptId },
      ...{ outcome: "rejected", deadLetter: true, reason: "no agent wants it", ...notStarted },
    }),
  );
  operations.receipts.set(receiptId, {
    ...{ receiptId, at: ago(60), source: "github", type: "github", bytes: 2048, text: null },
    ...{ deliveryId: "d-1", headers: { "x-github-event": "issues" }, matched: [], reason: null },
    payload: { action: "opened" },
  });
  const config = anAgent("dev", { schedule: "0 9 * * *" });
  operations.details.set("dev", { config, nextTicks: [ago(-600), ago(-1200)] });
  const version = { commit: null, dirty: null };
  operations.differences.set(instance, {
    from: { instanceId: before, version: { hash: first, ...version } },
    to: { instanceId: instance, version: { hash: second, ...version } },
    changed: true,
    text: "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,1 +1,1 @@\n-Say hi.\n+Say bye.\n",
  });
  const host = { port: 443, connections: 1, bytesOut: 512, bytesIn: 2048, lastAt: ago(60) };
  operations.runs.set(
    instance,
    aRunView(instance, {
      ...{ prompt: "Look at this", value: { ok: true }, lastWords: "# Done\n\n- all of it" },
      hosts: [{ ...host, host: "evil.test", denied: "not_allowed" }],
      calls: {
        received: { callId: "c1", caller: "cat", callerInstance: "cat-aaaaaaaa", context: "{}" },
        made: [historyEntry({ id: "2", agent: "owl", instanceId: "owl-aaaaaaaa" })],
      },
    }),
  );
}

/** Two pages of acts, by persons of each kind; those of a run are on its page. */
function withActs({ operations }: TestDeps): void {
  const people = [
    { via: "key", name: "", from: null },
    { via: "login", name: "", from: "2001:db8:85a3::8a2e:370:7334" },
    { via: "link", name: "ops", from: "10.0.0.7" },
    { via: "slack", name: "Ada Lovelace", from: null },
    { via: "terminal", name: "", from: null },
  ] as const;
  for (let index = 0; index < 60; index++) {
    const about = index % 4 === 0 ? {} : { agent: "dev", instanceId: index % 2 ? instance : null };
    const detail = index % 3 === 0 ? "once (host api.stripe.com) ".repeat(7) : "";
    operations.recordAct(
      { act: index % 2 ? "approve" : "raise", ...about, detail },
      people[index % 5],
    );
  }
}

/** Open questions of each form, and ended ones in each way; those of a run are on its page. */
function withQuestions({ operations }: TestDeps): void {
  const times = { at: ago(600), until: ago(-80_000) };
  const question = (id: number, values: Partial<QuestionView>) =>
    aQuestionView({
      ...times,
      id: `0193a1b2-0000-7000-8000-${String(id).padStart(12, "0")}`,
      ...values,
    });
  const choice = (...choices: readonly string[]) => ({ kind: "choice", choices }) as const;
  const approval = choice("once", "run", "always", "deny");
  const ada = { via: "slack", name: "Ada", from: null } as const;
  const link = { via: "link", name: "ops", from: "10.0.0.7" } as const;
  const long = "Which of these?\n\n".padEnd(900, "It is one of several lines. ");
  const ended = { state: "answered", answeredAt: ago(300) } as const;
  const asked = [
    question(1, {
      instanceId: instance,
      prompt: "Deploy 1.4 to production? See https://ci.test/14",
    }),
    question(2, { kind: "host", subject: "api.stripe.com", form: approval, fallback: "deny" }),
    question(3, { agent: "agent-1", form: { kind: "text", maxLength: 4000 }, prompt: long }),
    question(4, {
      form: { kind: "number", min: 1, max: 9 },
      fallback: 3,
      prompt: "How \u202Emany?",
    }),
    question(5, { form: { kind: "boolean" }, prompt: "Merge it?" }),
    question(6, { form: choice("x".repeat(120), "Neither of them, and tell the team why") }),
    question(7, { ...ended, instanceId: instance, answer: "yes", by: ada }),
    question(8, { ...ended, kind: "host", answer: "always", by: link, prompt: long }),
    question(9, { ...ended, state: "expired", answer: "no" }),
    question(10, { ...ended, state: "expired" }),
    question(11, { ...ended, state: "withdrawn" }),
  ];
  operations.asked.push(...asked);
  operations.setScheduler({ questions: 6 });
  operations.setAgent({ name: "agent-5", state: "waiting", blockedBy: "person" });
  const run = operations.runs.get(instance);
  const questions = asked.filter((one) => one.instanceId === instance);
  const message = { seq: 1, at: ago(200), kind: "steer", text: long, by: ada } as const;
  const messages = [{ ...message, receivedAt: null, continuedBy: null }];
  if (run === undefined) return;
  operations.runs.set(instance, { ...run, questions, messages, isKept: true, continues: instance });
}

function withLines({ logs }: TestDeps): void {
  const write = (kind: string, msg: string, fields: object = {}): void =>
    logs.write({ agent: "dev", instanceId: instance, kind, msg, ...fields });
  const call = { tool: "bash", call: "1" };
  write("run", "run started by github webhook issues", {
    trigger: { kind: "webhook", repo: "a/b" },
  });
  write("said", "# A plan\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nmake\n```\n- then *rest*");
  write("tool", "bash: make", { ...call, input: { command: "make" } });
  write("tool-output", "bash still running", { ...call, output: "one\ntwo\n", durationMs: 4_000 });
  write("tool-result", "bash failed", {
    ...call,
    output: "x\n".repeat(30),
    isError: true,
    level: 40,
  });
  write("usage", "1204 tokens", { tokens: 1204, model: "haiku" });
  write("tool", "bash: sleep 60", { tool: "bash", call: "2", input: { command: "sleep 60" } });
  write("run", "run failed after 3 s: it gave up", { outcome: "failed", level: 50 });
}

function withSpending({ operations }: TestDeps): void {
  operations.spending.set("agent", {
    rows: [
      {
        ...{ key: "dev", usd: 1.25, subscriptionUsd: 0, calls: 12, tokens: 120_000 },
        ...{ unpriced: 1, estimated: 0 },
      },
    ],
    limits: [],
    forecast: null,
  });
}
