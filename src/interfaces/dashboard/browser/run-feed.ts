import type { HistoryEntry, HistoryPage } from "../../../foundation/contracts/history.ts";
import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { withQuery } from "./addresses.ts";
import { fetchJson } from "./api.ts";
import { barKind } from "./timeline-layout.ts";

/** The runs of the last hours, kept current: the stream names agents that changed, the history has their runs. */
export interface RunFeed {
  /** Reads the runs again that arrived at `since` (epoch ms) or later. */
  load(since: number): Promise<void>;
  /** Agents as they are now; only those whose runs changed are looked up. */
  apply(agents: readonly AgentStatus[]): void;
  readonly runs: ReadonlyMap<string, HistoryEntry>;
  /** From when on it holds all runs, epoch ms; null when that is all that was asked for. */
  readonly cutAt: () => number | null;
}

const pageSize = 200;
/** Runs that the page holds; older ones are left out, as the summary notes, but for failed ones. */
const maxRuns = 1_000;
/** Ends of failed runs, of each of which a page is read where older runs are left out. */
const failedOutcomes = ["failed", "timed_out", "out_of_memory", "over_budget", "lost"];
/** A change is looked up this much later: by then it is written, and more of them have gathered. */
const gatherMs = 400;
const pauseMs = 2_000;
/** Agents asked about one by one, in one round. */
const maxAsked = 4;

/** `onChange` is called at each change to the runs. */
export function createRunFeed(onChange: () => void): RunFeed {
  const runs = new Map<string, HistoryEntry>();
  const running = new Map<string, number>();
  const seen = new Map<string, string>();
  const changed = new Set<string>();
  let since = 0;
  let isCut = false;
  let loads = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const take = (entries: readonly HistoryEntry[]): void => {
    for (const entry of entries) {
      if (entry.outcome === null || Date.parse(entry.at) >= since) runs.set(entry.id, entry);
    }
    const surplus = runs.size - maxRuns;
    if (surplus > 0) {
      isCut = true;
      const byAge = [...runs.values()].filter(isNoFailure).sort((a, b) => (a.at < b.at ? -1 : 1));
      for (const { id } of byAge.slice(0, surplus)) runs.delete(id);
    }
    onChange();
  };
  /** Pages back from now to `from`. */
  const read = async (from: number): Promise<void> => {
    const own = loads;
    let before: string | null = "";
    for (let page = 0; page < maxRuns / pageSize && before !== null; page++) {
      const fetched = await getPage({ since: new Date(from).toISOString(), before });
      if (own !== loads || fetched === null) return;
      before = fetched.nextBefore;
      take(fetched.triggers);
    }
    if (before === null) return;
    isCut = true;
    const since = new Date(from).toISOString();
    for (const outcome of failedOutcomes) {
      const fetched = await getPage({ since, outcome });
      if (own !== loads || fetched === null) return;
      take(fetched.triggers);
    }
  };
  const refresh = async (): Promise<void> => {
    const names = [...changed];
    changed.clear();
    const newest = [...runs.values()].reduce((last, { at }) => (at > last ? at : last), "");
    await read(newest === "" ? since : Date.parse(newest));
    // A run that arrived earlier is not among the newest; its agent's own history has its end.
    const counts = unfinished(runs.values());
    const stale = names.filter((name) => (counts.get(name) ?? 0) !== (running.get(name) ?? 0));
    for (const agent of stale.slice(0, maxAsked)) {
      take((await getPage({ agent }))?.triggers ?? []);
    }
    for (const name of stale.slice(maxAsked)) changed.add(name);
  };
  const schedule = (): void => {
    if (timer !== undefined || changed.size === 0) return;
    timer = setTimeout(() => {
      const isSeen = document.visibilityState === "visible";
      void (isSeen ? refresh() : Promise.resolve()).finally(() => {
        timer = setTimeout(() => {
          timer = undefined;
          schedule();
        }, pauseMs);
      });
    }, gatherMs);
  };

  return {
    runs,
    cutAt: () => {
      const others = [...runs.values()].filter(isNoFailure);
      return isCut ? Math.min(...others.map(({ at }) => Date.parse(at))) : null;
    },
    load: async (from) => {
      loads += 1;
      since = from;
      isCut = false;
      runs.clear();
      await read(from);
    },
    apply: (agents) => {
      for (const agent of agents) {
        const { name, lastRunAt, lastDurationMs, lastOutcome, nextRunAt } = agent;
        const version = [agent.running, lastRunAt, lastDurationMs, lastOutcome, nextRunAt].join();
        if (seen.get(name) === version) continue;
        seen.set(name, version);
        running.set(name, agent.running);
        changed.add(name);
      }
      schedule();
    },
  };
}

async function getPage(query: {
  readonly since?: string;
  readonly before?: string;
  readonly agent?: string;
  readonly outcome?: string;
}): Promise<HistoryPage | null> {
  const path = withQuery("/api/stats/triggers", { ...query, limit: pageSize });
  const fetched = await fetchJson<HistoryPage>(path);
  return fetched.ok ? fetched.value : null;
}

function isNoFailure(entry: HistoryEntry): boolean {
  return barKind(entry) !== "failed";
}

/** How many runs of each agent have started and not ended. */
function unfinished(runs: Iterable<HistoryEntry>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { agent, outcome, startedAt } of runs) {
    if (agent === null || outcome !== null || startedAt === null) continue;
    counts.set(agent, (counts.get(agent) ?? 0) + 1);
  }
  return counts;
}
