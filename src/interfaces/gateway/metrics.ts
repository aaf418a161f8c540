import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { triggerKinds } from "../../../streams/vocabulary.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import type { DeliveryCount } from "../../foundation/contracts/operations.ts";
import type { MeteredCall } from "../../foundation/contracts/spend.ts";
import { agentMetrics } from "./agent-metrics.ts";
import { modelMetrics } from "./model-metrics.ts";

/** The event streams that are counted apart. */
export type StreamName = "status" | "logs";

/** The numbers of `/metrics`. They begin at zero with the process, as Prometheus expects. */
export interface Metrics {
  onEvent(event: RunEvent): void;
  readonly delivery: (delivery: DeliveryCount) => void;
  readonly onCall: (call: MeteredCall) => void;
  streamClients(stream: StreamName, change: 1 | -1): void;
  /** Prometheus' text format. */
  text(): Promise<string>;
  /** Media type of that text. */
  readonly contentType: string;
}

/** From an idle runner, which starts in milliseconds, to work that waited for an hour. */
const startBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 900, 3600];

/**
 * Counts events. Labels have few values: what an agent or a sender can choose freely is never one, and the
 * series of an agent that is gone are dropped. https://prometheus.io/docs/practices/naming
 */
export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const models = modelMetrics(registry);
  const agents = agentMetrics(registry, models.drop);
  const info = new Gauge({
    name: "almanac_info",
    help: "Always 1; says which version runs.",
    registers,
    labelNames: ["version"],
  });
  info.set({ version }, 1);
  const latency = new Histogram({
    name: "almanac_trigger_to_start_seconds",
    help: "Time from a trigger's arrival to the start of its run, by kind of trigger.",
    labelNames: ["kind"],
    buckets: startBuckets,
    registers,
  });
  const deliveries = new Counter({
    name: "almanac_webhook_deliveries_total",
    help: "Webhook deliveries by provider type, source (empty until verified) and what became of them.",
    labelNames: ["type", "source", "result"],
    registers,
  });
  const clients = new Gauge({
    name: "almanac_stream_clients",
    help: "Clients that are connected to an event stream.",
    labelNames: ["stream"],
    registers,
  });
  for (const stream of ["status", "logs"]) clients.set({ stream }, 0);
  for (const kind of triggerKinds) latency.zero({ kind });

  return {
    onEvent: (event) => {
      agents.onEvent(event);
      if (event.type !== "started" || event.startedAt !== undefined) return;
      // The clock may have been set back in between.
      const waitedMs = Math.max(0, event.at - event.item.at);
      latency.observe({ kind: event.item.trigger.kind }, waitedMs / 1000);
    },
    delivery: ({ type, source, result }) => deliveries.inc({ type, source: source ?? "", result }),
    onCall: models.onCall,
    streamClients: (stream, change) => clients.inc({ stream }, change),
    text: () => {
      agents.beforeReading();
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}
