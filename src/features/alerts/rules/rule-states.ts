import { z } from "zod";
import { outcomes } from "../../../../streams/vocabulary.ts";
import { alertPhases, alertTopics } from "../../../foundation/contracts/alert.ts";
import type { Delivery, RuleState } from "../../../foundation/contracts/alert.ts";
import type { AlertEvent } from "./alert-command.ts";

/** Why something is wrong, as its latest sign has it. */
export const faultSchema = z.object({
  reason: z.string().nullable(),
  outcome: z.enum(outcomes).nullable(),
  instanceId: z.string().nullable(),
  costUsd: z.number().nullable(),
});
export type Fault = Readonly<z.infer<typeof faultSchema>>;

/** A fault that no run caused. */
export function plainFault(reason: string | null): Fault {
  return { reason, outcome: null, instanceId: null, costUsd: null };
}

/** As `Alert`. */
export const alertSchema = faultSchema.extend({
  topic: z.enum(alertTopics),
  phase: z.enum(alertPhases),
  agent: z.string().nullable(),
  at: z.number(),
  since: z.number(),
  count: z.number(),
  agents: z.array(z.string()).readonly(),
});

/** The state that was stored, null when it can't be read: it is written anew with the next change. */
export function parsedState<T>(schema: z.ZodType<T>, value: string | null): T | null {
  if (value === null) return null;
  try {
    return schema.parse(JSON.parse(value));
  } catch {
    return null;
  }
}

/** What a rule emits while a command is handled. */
export type AlertChange =
  | { readonly type: "state"; readonly state: RuleState }
  | { readonly type: "delivery"; readonly delivery: Delivery };

/** All changes of one command as one event: of what changed more than once, the last. */
export function writesOf(changes: readonly AlertChange[]): readonly AlertEvent[] {
  if (changes.length === 0) return [];
  const states = new Map<string, RuleState>();
  const deliveries = new Map<string, Delivery>();
  for (const change of changes) {
    if (change.type === "delivery") deliveries.set(change.delivery.id, change.delivery);
    else states.set(`${change.state.agent}/${change.state.rule}`, change.state);
  }
  return [{ type: "writes", states: [...states.values()], deliveries: [...deliveries.values()] }];
}
