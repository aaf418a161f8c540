import type { AgentConfig } from "../agent-config.ts";
import type { WorkItem } from "../vocabulary.ts";
import { attributesOf } from "./attributes.ts";
import { keyOf } from "./key-template.ts";

/** The item with its concurrency key and its session key by its agent's config. Called once, before the item is stored. */
export function withKey<Item extends WorkItem>(
  item: Item,
  config: Pick<AgentConfig, "concurrency" | "session"> | null,
): Item {
  const keyBy = (template: string | undefined): string | null =>
    template === undefined ? null : keyOf(template, attributesOf(item.trigger));
  const [key, session] = [keyBy(config?.concurrency?.key), keyBy(config?.session?.key)];
  return { ...item, ...(key !== null && { key }), ...(session !== null && { session }) };
}
