import type { AgentConfig } from "../agent-config.ts";
import type { WorkItem } from "../vocabulary.ts";
import { attributesOf } from "./attributes.ts";
import { keyOf } from "./key-template.ts";

/** The item with its concurrency key by its agent's config, null without one. Called once, before the item is stored. */
export function withKey<Item extends WorkItem>(
  item: Item,
  config: Pick<AgentConfig, "concurrency"> | null,
): Item {
  const template = config?.concurrency?.key;
  const key = template === undefined ? null : keyOf(template, attributesOf(item.trigger));
  return key === null ? item : { ...item, key };
}
