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

test("a new agent's counters begin at zero, so that the first increase is visible", async () =>
  expect(await samples(after(dev.set), /dev/)).toEqual([
    'almanac_runs_total{agent="dev",outcome="succeeded"} 0',
    'almanac_runs_total{agent="dev",outcome="failed"} 0',
    'almanac_not_run_total{agent="dev",outcome="skipped"} 0',
    'almanac_queue_dropped_total{agent="dev"} 0',
    'almanac_running_runs{agent="dev"} 0',
    'almanac_queue_depth{agent="dev"} 0',
    'almanac_tokens_total{agent="dev"} 0',
    'almanac_cost_usd_total{agent="dev"} 0',
  ]));

test("runs count by agent and outcome, with their usage", async () => {
  const metrics = after(
    dev.set,
    dev.started(5),
    dev.started(5),
    dev.finished(),
    dev.finished({ outcome: "timed_out", usage: null }),
    dev.started(5),
  );
  expect(await samples(metrics, /runs_total.* [^0]|tokens|cost|running/)).toEqual([
    'almanac_runs_total{agent="dev",outcome="succeeded"} 1',
    'almanac_runs_total{agent="dev",outcome="timed_out"} 1',
    'almanac_running_runs{agent="dev"} 1',
    'almanac_tokens_total{agent="dev"} 120',
    'almanac_cost_usd_total{agent="dev"} 0.25',
  ]);
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

test("the queue's depth, its drops and other work that never ran are counted", async () => {
  const metrics = after(dev.set, dev.depth(3), dev.refused("dropped"), dev.refused("skipped"));
  expect(await samples(metrics, /queue|not_run/)).toEqual([
    'almanac_not_run_total{agent="dev",outcome="dropped"} 1',
    'almanac_not_run_total{agent="dev",outcome="skipped"} 1',
    'almanac_queue_dropped_total{agent="dev"} 1',
    'almanac_queue_depth{agent="dev"} 3',
  ]);
});

test("the time from trigger to start is a histogram by kind, also when the clock was set back", async () => {
  const metrics = after(dev.set, dev.started(40), dev.started(4_000), dev.started(-500));
  const manual = await samples(metrics, /trigger_to_start.*kind="manual"/);
  expect(manual).toContain('almanac_trigger_to_start_seconds_bucket{le="0.05",kind="manual"} 2');
  expect(manual).toContain('almanac_trigger_to_start_seconds_bucket{le="5",kind="manual"} 3');
  expect(manual).toContain('almanac_trigger_to_start_seconds_sum{kind="manual"} 4.04');
  const none = await samples(metrics, /count.*cron/);
  expect(none).toEqual(['almanac_trigger_to_start_seconds_count{kind="cron"} 0']);
});

test("deliveries count by type, source and result", async () => {
  const metrics = createMetrics("1");
  metrics.delivery({ type: "github", source: "gh", result: "accepted" });
  metrics.delivery({ type: "github", source: null, result: "unverified" });
  metrics.delivery({ type: "github", source: null, result: "unverified" });
  expect(await samples(metrics, /deliveries/)).toEqual([
    'almanac_webhook_deliveries_total{type="github",source="gh",result="accepted"} 1',
    'almanac_webhook_deliveries_total{type="github",source="",result="unverified"} 2',
  ]);
});

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

test("calls to models count by status, with tokens by kind and cost", async () => {
  const metrics = after(dev.set);
  for (const one of [call, call]) metrics.onCall(one);
  metrics.onCall({ ...call, model: "gpt", status: 429, usage: null, usd: 0 });
  metrics.onCall({ ...call, model: "gpt", status: null, usage: null, usd: 0 });
  expect(await samples(metrics, /^almanac_(model|spend)_/)).toEqual([
    'almanac_model_calls_total{agent="dev",model="claude",status="200"} 2',
    'almanac_model_calls_total{agent="dev",model="gpt",status="429"} 1',
    'almanac_model_calls_total{agent="dev",model="gpt",status="none"} 1',
    'almanac_model_tokens_total{agent="dev",model="claude",kind="input"} 6',
    'almanac_model_tokens_total{agent="dev",model="claude",kind="cache_read"} 40',
    'almanac_model_tokens_total{agent="dev",model="claude",kind="cache_write"} 200',
    'almanac_model_tokens_total{agent="dev",model="claude",kind="output"} 8',
    'almanac_spend_usd_total{agent="dev",model="claude"} 0.5',
    'almanac_spend_usd_total{agent="dev",model="gpt"} 0',
  ]);
  metrics.onCall({ ...call, agent: "ops" });
  metrics.onEvent(dev.removed);
  expect(await samples(metrics, /^almanac_(model|spend).*dev/)).toEqual([]);
  expect(await samples(metrics, /^almanac_spend.*ops/)).toHaveLength(1);
});

test("the series of a removed agent end, at once or with its last run", async () => {
  const ops = eventsOf("ops");
  const metrics = after(dev.set, ops.set, dev.finished(), dev.refused("dropped"), dev.removed);
  expect(await samples(metrics, /dev/)).toEqual([]);
  for (const event of [ops.started(1), ops.removed]) metrics.onEvent(event);
  expect(await samples(metrics, /running.*ops/)).toEqual(['almanac_running_runs{agent="ops"} 1']);
  metrics.onEvent(ops.finished());
  expect(await samples(metrics, /ops/)).toEqual([]);
  metrics.onEvent(ops.refused("dropped"));
  expect(await samples(metrics, /ops/)).toEqual([]);
});
