import { OperationError } from "../../foundation/contracts/operations.ts";
import type { RunDifference, RunVersionView } from "../../foundation/contracts/run-view.ts";
import type { RunContent } from "../../foundation/contracts/run-version.ts";
import type { Redactor } from "../../foundation/credentials/redactor.ts";
import type { Store } from "../../foundation/store/store.ts";
import { mustHaveRun, versionView } from "./view-run.ts";

export interface CompareRunsDeps {
  readonly store: Pick<Store, "runs">;
  readonly redactor: Pick<Redactor, "redact">;
}

interface RanContent {
  readonly instanceId: string;
  readonly startedAt: string;
  readonly version: RunVersionView;
  readonly content: RunContent;
}

/**
 * What changed from the one of two runs that started first to the other. Without `other` that is the agent's last run
 * before it that succeeded. Throws OperationError `unknown_instance` or `unknown_version`.
 */
export async function compareRuns(
  instanceId: string,
  other: string | null,
  { store, redactor }: CompareRunsDeps,
): Promise<RunDifference> {
  const one = ranContent(instanceId, store);
  const two = ranContent(other ?? mustHaveEarlier(instanceId, store), store);
  const [from, to] = one.startedAt < two.startedAt ? [one, two] : [two, one];
  // Few requests ask for it, and the library that compares is loaded with the first.
  const { difference } = await import("../../features/versions/difference.ts");
  return {
    from: { instanceId: from.instanceId, version: from.version },
    to: { instanceId: to.instanceId, version: to.version },
    changed: from.version.hash !== to.version.hash,
    text: redactor.redact(difference(from, to)),
  };
}

function mustHaveEarlier(instanceId: string, store: Pick<Store, "runs">): string {
  const earlier = store.runs.succeededBefore(instanceId);
  if (earlier !== null) return earlier;
  const message = `no run of its agent before "${instanceId}" that succeeded is in the history; name the run to compare it with`;
  throw new OperationError("unknown_instance", message);
}

function ranContent(instanceId: string, store: Pick<Store, "runs">): RanContent {
  const run = mustHaveRun(instanceId, store);
  const version = versionView(run);
  const content = version === null ? undefined : store.runs.content(version.hash);
  if (version === null || content === undefined) {
    const message = `what the run "${instanceId}" ran is not stored; a run that an earlier version of the program started has no version`;
    throw new OperationError("unknown_version", message);
  }
  const { startedAt, at } = run.entry;
  return { instanceId, startedAt: startedAt ?? at, version, content };
}
