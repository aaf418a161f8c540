import { relativeTime } from "../../../foundation/contracts/format.ts";
import { readRecentEntries } from "../../../foundation/store/read-recent-entries.ts";
import type { RecentEntry } from "../../../foundation/store/read-recent-entries.ts";
import type { Proposal } from "./proposal.ts";

/** More would not be looked through. */
const shown = 100;

/** The latest runs by their instance ids. */
export function recentInstances(projectDir: string): readonly Proposal[] {
  return readRecentEntries(projectDir, shown).flatMap((entry) => {
    const { instanceId } = entry;
    return instanceId === null ? [] : [{ word: instanceId, description: described(entry) }];
  });
}

/** What can be replayed of the latest entries: a delivery's receipt, and each entry's trigger. */
export function recentTriggers(projectDir: string): readonly Proposal[] {
  const entries = readRecentEntries(projectDir, shown);
  const words = new Map(
    entries.flatMap((entry) =>
      [entry.receiptId, entry.id].flatMap((id) =>
        id === null ? [] : [[id, `${entry.agent ?? "no agent"} ${described(entry)}`] as const],
      ),
    ),
  );
  return [...words].map(([word, description]) => ({ word, description }));
}

function described({ outcome, at }: RecentEntry): string {
  return `${outcome ?? "not over"} ${relativeTime(at, Date.now())}`;
}
