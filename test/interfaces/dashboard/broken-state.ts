import { emptyWhyNot } from "../../helpers/empty-why-not.ts";
import { aDelivery, aTarget } from "../../helpers/fake-alerts.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import type { AgentHosts } from "../../../src/foundation/contracts/run-hosts.ts";
import { Problem } from "../../../src/foundation/errors.ts";
import { testDeps, type TestDeps } from "../gateway/start-gateway.ts";
import { withBrokenMemory } from "./memory-states.ts";
import { ago, attack, busyState, instance, notStarted } from "./page-states.ts";

/** Everything that can be wrong at once. */
export function brokenState(): TestDeps {
  const find = () => Promise.reject(new Problem("bad_search", "the search has no word"));
  const deps = busyState({ find });
  const { operations } = deps;
  const error = "agents/dev/config.toml:4:12  \u001b[31mno cron expression\u001b[0m";
  const warning = "credential anthropic_key is missing";
  operations.setAgent({
    name: "dev",
    state: "error",
    error,
    warning,
    lastOutcome: "failed",
    nextRunAt: null,
  });
  operations.setAgent({ name: "agent-1", warning: "no price is known" });
  operations.setAgent({ name: "agent-2", lastOutcome: "killed" });
  operations.details.set("dev", { config: null, nextTicks: [] });
  const problem = { severity: "error", line: 2, column: 12, message: "no cron expr." } as const;
  const [config, skill] = operations.shownFiles.files;
  if (config === undefined || skill === undefined) throw new Error("dev has two files");
  operations.shownFiles = {
    isEditable: false,
    files: [
      { ...config, text: 'models = ["main"]\nschedule = "every day"\n', problems: [problem] },
      { ...skill, text: null, problems: [{ ...problem, line: null, column: null }] },
    ],
  };
  operations.deniedHosts = [
    aDeniedHost("api.evil.test"),
    aDeniedHost("db.lan", { port: 5432, denied: "private_address" }),
    aDeniedHost("late.test", { entry: null, attempts: 1 }),
    aDeniedHost("down.test", { denied: "unreachable", entry: null }),
    aDeniedHost(attack, { port: 0, denied: "malformed", entry: null }),
  ];
  operations.failing = () => ({
    instanceId: "dev-bbbbbbbb",
    count: 1078,
    newest: true,
    since: ago(259_200),
    lastSuccess: { instanceId: "dev-aaaaaaaa", at: ago(259_800) },
    changed: ["config"],
  });
  const { alerting } = withAlerts(deps).operations;
  const [first = aDelivery(1)] = alerting.deliveries;
  const twin = { id: aDelivery(7).id, target: "chat", state: "dead", attempts: 8 } as const;
  alerting.deliveries = [first, { ...first, ...twin }, ...alerting.deliveries.slice(1)];
  withWhyNot(deps);
  withBrokenMemory(deps, attack);
  const row = { type: "github", firstAt: ago(540) } as const;
  const times = { count: 1_200, lastAt: ago(60), reason: attack };
  operations.refusedNow.push(
    { ...row, ...times, source: "hub", result: "unverified" },
    { ...row, ...times, source: null, result: "duplicate", count: 1 },
  );
  operations.setScheduler({
    paused: true,
    error: "config.toml:1:1: this is no TOML",
    warnings: ["agents/a is not an agent", "agents/b is not an agent"],
  });
  return deps;
}

/** A host that dev was denied three times, and that an entry of its name would allow. */
export function aDeniedHost(host: string, denial: Partial<AgentHosts["denied"][number]> = {}) {
  const denied = { denied: "not_allowed", attempts: 3, lastAt: ago(62), entry: host } as const;
  return { host, port: 443, ...denied, ...denial };
}

/** Two things are wrong, one target fails, one is off, and of four deliveries one arrived. */
export function withAlerts(deps = testDeps()): TestDeps {
  const { alerting } = deps.operations;
  const since = ago(5_400);
  alerting.targets = [
    aTarget("ops", { state: "failing", waiting: 2, dead: 1, lastError: "HTTP 503" }),
    aTarget("chat", { type: "telegram", state: "off", lastError: "HTTP 410", offSince: since }),
  ];
  alerting.open = [
    { agent: "dev", topic: "runs", since, count: 3, reason: "exited with code 1", ack: null },
    { agent: null, topic: "config", since, count: 1, reason: null, ack: null },
  ];
  const due = { state: "waiting", endedAt: null, nextAt: ago(-1_750) } as const;
  const question = { agent: "dev", topic: "question", reason: "Deploy?", at: ago(120) } as const;
  alerting.deliveries = [
    aDelivery(1, { attempts: 0, instanceId: instance, ...due }),
    aDelivery(2, { attempts: 3, lastError: "HTTP 503", ...due }),
    aDelivery(3, { state: "dead", attempts: 8, lastError: "HTTP 404", title: "cat failed" }),
    aDelivery(4, {
      target: "chat",
      agent: null,
      instanceId: null,
      topic: "digest",
      title: "2 alerts: dev, cat",
      alerts: ["dev failed: exited with code 1", "cat still fails: exited with code 2"],
    }),
    aDelivery(5, { title: "dev had no success for 36 h and still has none, in spite of retries" }),
    ...["ops", "chat"].flatMap((target, index) => [
      aDelivery(20 + index, { ...question, phase: "reminder", target, attempts: 0, ...due }),
      aDelivery(22 + index, { ...question, target, title: "dev waits for an answer" }),
    ]),
  ];
  deps.operations.setScheduler({ alerts: { open: 2, dead: 1 } });
  return deps;
}

/** Texts without a place to break, and more of them than a list shows. */
export function longState(): TestDeps {
  const deps = testDeps();
  const { operations, context } = deps;
  const long = "a-name-without-a-place-to-break".repeat(4);
  const since = ago(0);
  operations.deniedHosts = Array.from({ length: 30 }, (_, n) => aDeniedHost(`${long}.h${n}.test`));
  const target = { state: "off", lastError: long, dead: 12_345, offSince: since } as const;
  operations.alerting.targets = [aTarget(long, target)];
  operations.alerting.open = [
    { agent: long, topic: "credentials", since, count: 99, reason: long, ack: null },
  ];
  const delivery = { target: long, title: long, reason: long, state: "dead" } as const;
  operations.alerting.deliveries = [aDelivery(1, { ...delivery, lastError: long })];
  const agents = Array.from({ length: 20 }, (_, n) => `agent-with-a-name-${n}`);
  for (const name of ["claude", "x".repeat(40)]) {
    void context.tokens.create({ name, scopes: ["read", "trigger", "control"], agents, days: 90 });
  }
  return deps;
}

/** A tick that found no free runner. */
export function aSkippedTick(id: string, minutes: number) {
  const end = { outcome: "skipped", reason: "all runners are busy" } as const;
  return historyEntry({ id, at: ago(minutes * 60), ...end, ...notStarted });
}

function withWhyNot({ operations }: TestDeps): void {
  const event = { source: "hub", event: "issues", action: "opened" };
  const stoppedBy = [[{ condition: "repos", wanted: "acme/x", got: attack }]];
  const refused = { type: "github", source: "hub", result: "unverified", count: 4 } as const;
  const turnedAway = [5, 6, 7].map((minutes) => ({
    receiptId: `r${minutes}`,
    at: ago(minutes * 60),
    stoppedBy,
    ...event,
  }));
  const times = { firstAt: ago(4_200), lastAt: ago(3_660) };
  operations.whyNots.set("dev", {
    ...emptyWhyNot,
    now: ["Disabled. Enable it with al resume dev."],
    refused: [aSkippedTick("b", 20), aSkippedTick("a", 90)],
    turnedAway,
    refusedDeliveries: [{ reason: "wrong signature", ...refused, ...times }],
    lookedBackTo: "2026-01-05T12:00:00.000Z",
  });
}
