import { createMetrics, type Metrics } from "../../../src/interfaces/gateway/metrics.ts";
import type { MeteredCall } from "../../../src/foundation/contracts/spend.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RunEnd, RunEvent, WorkItem } from "../../../streams/vocabulary.ts";

function item(agent: string, at = 1_000): WorkItem {
  return { id: "w", agent, at, attempt: 1, trigger: { kind: "manual", prompt: null } };
}

const end: RunEnd = {
  outcome: "succeeded",
  exitCode: 0,
  reason: null,
  usage: { model: "m", tokens: 120, costUsd: 0.25, turns: 2 },
};

/** The events of one agent, in short. */
function eventsOf(agent: string) {
  const at = 1_000;
  const run = { item: item(agent), instanceId: `${agent}-abcdefgh` };
  return {
    set: { type: "agent-set", agent, at, config: {} as AgentConfig, warnings: [], summary: "" },
    removed: { type: "agent-removed", agent, at },
    depth: (depth: number) => ({ type: "queue-depth", agent, at, depth }),
    started: (afterMs: number) => ({ type: "started", agent, at: at + afterMs, ...run }),
    finished: (change: Partial<RunEnd> = {}) => {
      return { type: "finished", agent, at, startedAt: at, ...run, end: { ...end, ...change } };
    },
    refused: (outcome: "dropped" | "skipped") => {
      return { type: "refused", agent, at, item: run.item, outcome, reason: "r" };
    },
  } satisfies Record<string, RunEvent | ((...args: never[]) => RunEvent)>;
}

/** The samples whose name and labels match, as `name{labels} value`. */
async function samples(metrics: Metrics, pattern: RegExp): Promise<string[]> {
  const lines = (await metrics.text()).split("\n");
  return lines.filter((line) => !line.startsWith("#") && pattern.test(line));
}

function after(...events: readonly RunEvent[]): Metrics {
  const metrics = createMetrics("1");
  for (const event of events) metrics.onEvent(event);
  return metrics;
}

const dev = eventsOf("dev");

const call: MeteredCall = {
  agent: "dev",
  model: "claude",
  instanceId: "dev-1",
  provider: "anthropic",
  providerModel: "claude-opus",
  seq: 1,
  endedAt: 0,
  totalMs: 1,
  firstByteMs: 1,
  isCut: false,
  status: 200,
  usage: { input: 3, cacheRead: 20, cacheWrite: 100, cacheWrite1h: 10, output: 4 },
  usd: 0.25,
};

test("metrics count runs, queues, deliveries and calls to models as in the fixture, from zero for a new agent", async () => {
  const metrics = after(
    eventsOf("new").set,
    dev.set,
    // Also when the clock was set back.
    ...[40, 4_000, -500].map((ms) => dev.started(ms)),
    dev.finished(),
    dev.finished({ outcome: "timed_out", usage: null }),
    dev.depth(3),
    dev.refused("dropped"),
    dev.refused("skipped"),
  );
  metrics.delivery({ type: "github", source: "gh", result: "accepted" });
  metrics.delivery({ type: "github", source: null, result: "unverified" });
  metrics.delivery({ type: "github", source: null, result: "unverified" });
  for (const one of [call, call]) metrics.onCall(one);
  metrics.onCall({ ...call, model: "gpt", status: 429, usage: null, usd: 0 });
  metrics.onCall({ ...call, model: "gpt", status: null, usage: null, usd: 0 });
  const own = (await metrics.text()).match(/^.*almanac_.*$/gm)?.join("\n") ?? "";
  await expect(`${own}\n`).toMatchFileSnapshot("metrics.txt");
});

test("the usage that a run claims can't break the counters", async () => {
  const odd = [-5, Number.NaN, Number.POSITIVE_INFINITY].map((tokens) =>
    dev.finished({ usage: { model: null, tokens, costUsd: tokens, turns: null } }),
  );
  const metrics = after(dev.set, ...odd);
  expect(await samples(metrics, /tokens|cost/)).toEqual([
    'almanac_tokens_total{agent="dev"} 0',
    'almanac_cost_usd_total{agent="dev"} 0',
  ]);
});

test("the series of a removed agent end, at once or with its last run", async () => {
  const ops = eventsOf("ops");
  const metrics = after(dev.set, ops.set, dev.finished(), dev.refused("dropped"));
  for (const one of [call, { ...call, agent: "ops" }]) metrics.onCall(one);
  metrics.onEvent(dev.removed);
  expect(await samples(metrics, /dev/)).toEqual([]);
  for (const event of [ops.started(1), ops.removed]) metrics.onEvent(event);
  expect(await samples(metrics, /running.*ops/)).toEqual(['almanac_running_runs{agent="ops"} 1']);
  expect(await samples(metrics, /^almanac_spend.*ops/)).toHaveLength(1);
  metrics.onEvent(ops.finished());
  expect(await samples(metrics, /ops/)).toEqual([]);
  metrics.onEvent(ops.refused("dropped"));
  expect(await samples(metrics, /ops/)).toEqual([]);
});
