import { Counter } from "prom-client";
import type { Registry } from "prom-client";
import type { MeteredCall } from "../../foundation/contracts/spend.ts";

/** Counts calls to models. */
export interface ModelMetrics {
  readonly onCall: (call: MeteredCall) => void;
  /** Ends the series of an agent. */
  readonly drop: (agent: string) => void;
}

/** A call without usage was not billed, and counts no tokens. */
export function modelMetrics(registry: Registry): ModelMetrics {
  const calls = counter(registry, "almanac_model_calls_total", "status", {
    help: "Calls to models, by agent, model and HTTP status (none without an answer).",
  });
  const tokens = counter(registry, "almanac_model_tokens_total", "kind", {
    help: "Tokens of calls to models, by agent, model and kind; input is without the cache.",
  });
  const spent = counter(registry, "almanac_spend_usd_total", null, {
    help: "What calls to models cost in US dollars, by agent and model; without subscriptions.",
  });
  return {
    onCall: ({ agent, model, status, usage, usd }) => {
      calls.add({ agent, model, status: String(status ?? "none") }, 1);
      spent.add({ agent, model }, usd);
      if (usage === null) return;
      const { input, cacheRead, cacheWrite, output } = usage;
      const kinds = { input, cache_read: cacheRead, cache_write: cacheWrite, output };
      for (const [kind, count] of Object.entries(kinds)) tokens.add({ agent, model, kind }, count);
    },
    drop: (agent) => {
      for (const one of [calls, tokens, spent]) one.drop(agent);
    },
  };
}

type Labels = { readonly agent: string; readonly model: string } & Readonly<Record<string, string>>;

/** A counter that can end all series of an agent: the library removes one series by all its labels. */
function counter(
  registry: Registry,
  name: string,
  label: string | null,
  { help }: { readonly help: string },
) {
  const labelNames = ["agent", "model", ...(label === null ? [] : [label])];
  const counted = new Counter({ name, help, registers: [registry], labelNames });
  const byAgent = new Map<string, Map<string, Labels>>();
  return {
    add: (labels: Labels, value: number): void => {
      const known = byAgent.get(labels.agent) ?? new Map<string, Labels>();
      byAgent.set(labels.agent, known.set(JSON.stringify(labels), labels));
      counted.inc(labels, value);
    },
    drop: (agent: string): void => {
      for (const labels of byAgent.get(agent)?.values() ?? []) counted.remove(labels);
      byAgent.delete(agent);
    },
  };
}
