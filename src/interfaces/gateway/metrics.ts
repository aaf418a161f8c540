import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { triggerKinds, type RunEvent } from "../../../streams/vocabulary.ts";
import type { DeliveryCount } from "../../features/webhooks/provider.ts";
import type { MeteredCall } from "../../foundation/contracts/spend.ts";

/** The event streams that are counted separately. */
export type StreamName = "status" | "logs";

export type Metrics = ReturnType<typeof createMetrics>;

/** Limit of removed agents whose series are not removed yet. */
const mostGone = 100;

/** From an idle runner, which starts in milliseconds, to work that waited for an hour. */
const startBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 900, 3600];

/**
 * The numbers of `/metrics`, from zero as Prometheus expects. Labels have few values, which no agent or sender can
 * choose freely, and the series of a removed agent are dropped. https://prometheus.io/docs/practices/naming
 */
export function createMetrics(version: string) {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: readonly string[]) =>
    new Counter({ name, help, registers, labelNames: [...labelNames] });
  const gauge = (name: string, help: string, labelName: string) =>
    new Gauge({ name, help, registers, labelNames: [labelName] });
  const models = modelMeters(counter);
  const meters = agentMeters(counter, gauge);
  const agents = trackAgents();
  let dropped = Promise.resolve();
  /** Resolves once no removed agent has a series. */
  const dropGone = (): Promise<void> => {
    const gone = agents.takeGone();
    if (gone.size > 0) dropped = dropped.then(() => dropSeriesOf(gone));
    return dropped;
  };
  const dropSeriesOf = async (gone: ReadonlySet<string>): Promise<void> => {
    for (const meter of [...Object.values(models), ...Object.values(meters)]) {
      await dropSeries(meter, (agent) => gone.has(agent) && agents.isGone(agent));
    }
  };
  gauge("almanac_info", "Always 1; shows the running version.", "version").set({ version }, 1);
  const latency = new Histogram({
    name: "almanac_trigger_to_start_seconds",
    help: "Time from a trigger's arrival to the start of its run, by kind of trigger.",
    labelNames: ["kind"],
    buckets: startBuckets,
    registers,
  });
  const deliveries = counter(
    "almanac_webhook_deliveries_total",
    "Webhook deliveries by provider type, source (empty until verified) and result.",
    "type",
    "source",
    "result",
  );
  const clients = gauge(
    "almanac_stream_clients",
    "Clients that are connected to an event stream.",
    "stream",
  );
  const spansDropped = counter(
    "almanac_telemetry_spans_dropped_total",
    "Spans that were lost: the queue was full, or the collector of [telemetry] did not accept them.",
  );
  for (const stream of ["status", "logs"]) clients.set({ stream }, 0);
  for (const kind of triggerKinds) latency.zero({ kind });

  return {
    onEvent: (event: RunEvent): void => {
      if (event.type === "output" || event.type === "status-text") return;
      count(event, meters, agents.onEvent(event));
      // The metrics may never be read.
      if (agents.goneCount() >= mostGone) void dropGone();
      if (event.type !== "started" || event.startedAt !== undefined) return;
      // The clock may have been set back in between.
      const waitedMs = Math.max(0, event.at - event.item.at);
      latency.observe({ kind: event.item.trigger.kind }, waitedMs / 1000);
    },
    delivery: ({ type, source, result }: DeliveryCount): void =>
      deliveries.inc({ type, source: source ?? "", result }),
    /** A call without usage was not billed, and counts no tokens. */
    onCall: ({ agent, model, status, usage, usd }: MeteredCall): void => {
      models.calls.inc({ agent, model, status: String(status ?? "none") });
      models.spent.inc({ agent, model }, usd);
      if (usage === null) return;
      const { input, cacheRead, cacheWrite, output } = usage;
      const kinds = { input, cache_read: cacheRead, cache_write: cacheWrite, output };
      for (const [kind, tokens] of Object.entries(kinds)) {
        models.tokens.inc({ agent, model, kind }, tokens);
      }
    },
    streamClients: (stream: StreamName, change: 1 | -1): void => clients.inc({ stream }, change),
    onSpansDropped: (count: number): void => spansDropped.inc(count),
    /** Prometheus' text format. */
    text: async (): Promise<string> => {
      for (const agent of agents.takeFresh()) appear(agent, meters);
      await dropGone();
      return registry.metrics();
    },
    /** Media type of the text. */
    contentType: registry.contentType,
  };
}

type NewCounter = (name: string, help: string, ...labelNames: readonly string[]) => Counter;
type NewGauge = (name: string, help: string, labelName: string) => Gauge;

const modelMeters = (counter: NewCounter) => ({
  calls: counter(
    "almanac_model_calls_total",
    "Calls to models, by agent, model and HTTP status (empty without an answer).",
    "agent",
    "model",
    "status",
  ),
  tokens: counter(
    "almanac_model_tokens_total",
    "Tokens of calls to models, by agent, model and kind; input is without the cache.",
    "agent",
    "model",
    "kind",
  ),
  spent: counter(
    "almanac_spend_usd_total",
    "Cost of calls to models in US dollars, by agent and model; excludes subscriptions.",
    "agent",
    "model",
  ),
});

type Meters = ReturnType<typeof agentMeters>;

const agentMeters = (counter: NewCounter, gauge: NewGauge) => ({
  runs: counter("almanac_runs_total", "Ended runs, by agent and outcome.", "agent", "outcome"),
  refused: counter(
    "almanac_not_run_total",
    "Triggers that never became a run (skipped, missed, dropped, rejected, superseded), by agent and outcome.",
    "agent",
    "outcome",
  ),
  dropped: counter(
    "almanac_queue_dropped_total",
    "Work items pushed out of an agent's full queue.",
    "agent",
  ),
  running: gauge("almanac_running_runs", "Running runs, by agent.", "agent"),
  queued: gauge("almanac_queue_depth", "Queued work items, by agent.", "agent"),
  tokens: counter("almanac_tokens_total", "Tokens used by runs, by agent.", "agent"),
  cost: counter("almanac_cost_usd_total", "Cost of runs in US dollars, by agent.", "agent"),
});

const runChange: Partial<Record<RunEvent["type"], number>> = { started: 1, finished: -1 };

/** Follows which agents have series. They end with the agent, or with its last run after that. */
function trackAgents() {
  const known = new Set<string>();
  // Thousands of agents are added at the start, and their metrics may never be read.
  const fresh = new Set<string>();
  const gone = new Set<string>();
  const running = new Map<string, number>();
  return {
    /** Returns the number of the agent's live runs after the event. */
    onEvent: ({ agent, type }: RunEvent): number => {
      if ((type === "agent-set" || type === "agent-invalid") && !known.has(agent)) {
        known.add(agent);
        fresh.add(agent);
      }
      if (type === "agent-removed") {
        known.delete(agent);
        fresh.delete(agent);
      }
      const now = (running.get(agent) ?? 0) + (runChange[type] ?? 0);
      if (now > 0) running.set(agent, now);
      else running.delete(agent);
      if (known.has(agent) || now > 0) gone.delete(agent);
      else gone.add(agent);
      return now;
    },
    isGone: (agent: string): boolean => !known.has(agent) && !running.has(agent),
    goneCount: (): number => gone.size,
    /** The agents added since the last call. */
    takeFresh: () => taken(fresh),
    /** The agents removed since the last call. */
    takeGone: () => taken(gone),
  };
}

function taken(names: Set<string>): ReadonlySet<string> {
  const all = new Set(names);
  names.clear();
  return all;
}

/** Creates an agent's series: a counter that begins at one hides its first increase. Adding 0 keeps existing counts. */
function appear(agent: string, meters: Meters): void {
  const { runs, refused, ...others } = meters;
  for (const outcome of ["succeeded", "failed"]) runs.inc({ agent, outcome }, 0);
  refused.inc({ agent, outcome: "skipped" }, 0);
  for (const meter of Object.values(others)) meter.inc({ agent }, 0);
}

function count(event: RunEvent, meters: Meters, running: number): void {
  const { agent } = event;
  switch (event.type) {
    case "started":
      return meters.running.set({ agent }, running);
    case "queue-depth":
      return meters.queued.set({ agent }, event.depth);
    case "refused":
      meters.refused.inc({ agent, outcome: event.outcome });
      if (event.outcome === "dropped") meters.dropped.inc({ agent });
      return;
    case "missed":
      return meters.refused.inc({ agent, outcome: event.type }, event.items.length);
    case "finished": {
      const { outcome, usage } = event.end;
      meters.running.set({ agent }, running);
      meters.runs.inc({ agent, outcome });
      meters.tokens.inc({ agent }, amount(usage?.tokens));
      meters.cost.inc({ agent }, amount(usage?.costUsd));
      return;
    }
    default:
  }
}

/** A run may report any number, and a counter throws at one below zero. */
function amount(value: number | null | undefined): number {
  return value !== null && value !== undefined && Number.isFinite(value) && value > 0 ? value : 0;
}

/** The library removes one series by all its labels. */
async function dropSeries(
  meter: Counter | Gauge,
  isGone: (agent: string) => boolean,
): Promise<void> {
  for (const { labels } of (await meter.get()).values) {
    if (isGone(String(labels.agent))) meter.remove(labels);
  }
}
