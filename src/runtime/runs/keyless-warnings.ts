import { attributesOf } from "../../../streams/triggers/attributes.ts";
import { namesIn } from "../../../streams/triggers/key-template.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import type { SchedulerContext } from "../../foundation/context.ts";

/** Warns, once for each agent, of a run without the concurrency key that its agent's runs have. */
export function keylessWarnings({ status, warn }: Pick<SchedulerContext, "status" | "warn">) {
  const warned = new Set<string>();
  return (event: RunEvent): void => {
    if (event.type !== "started" || event.item.key !== undefined || warned.has(event.agent)) return;
    const template = status.agent(event.agent)?.config?.concurrency?.key;
    if (template === undefined) return;
    warned.add(event.agent);
    const known = attributesOf(event.item.trigger);
    const missing = namesIn(template).filter((name) => !(name in known));
    const names = missing.map((name) => `{${name}}`).join(", ");
    warn(
      `${event.instanceId} runs without a concurrency key: its trigger has no ${names}. This is logged once for each agent.`,
    );
  };
}
