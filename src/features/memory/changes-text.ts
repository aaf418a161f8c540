import { counted } from "../../foundation/contracts/format.ts";
import type { MemoryVersionView } from "./memory-views.ts";

/** `state.json changed, notes/a.md added and 3 more`; `no changes` */
export function changesText({ count, files }: MemoryVersionView["changes"], shown = 3): string {
  if (count === 0) return "no changes";
  const named = files.slice(0, shown).map(({ path, change }) => `${path} ${change}`);
  const more = count - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${counted(more, "other file")}` : ""}`;
}
