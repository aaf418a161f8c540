import { auditTime, buffer, concatMap, filter, from, map, merge, mergeMap, share } from "rxjs";
import type { Observable } from "rxjs";
import type { AgentRecord } from "../../streams/status/agent-record.ts";
import type { AgentConfig } from "../../streams/agent-config.ts";
import type { Problem, RunEvent } from "../../streams/vocabulary.ts";

export interface RequirementDeps {
  readonly agent: (name: string) => AgentRecord | undefined;
  readonly agents: () => Iterable<AgentRecord>;
  /** Begins a check of several agents, which reads what they share once. */
  readonly look: () => (config: AgentConfig) => Promise<readonly Problem[]>;
  readonly now: () => number;
}

/** A start loads all agents at once: they are checked together, after this time in ms. */
const gatherMs = 20;

/**
 * Emits what agents' runs need and do not have, whenever that differs from their records. An agent is checked when its
 * config is set and when a run of it was rejected. `check$` has all agents checked when credentials changed (true),
 * otherwise those that lack something.
 */
export function requirementEvents(
  event$: Observable<RunEvent>,
  check$: Observable<boolean>,
  deps: RequirementDeps,
): Observable<RunEvent> {
  const name$ = merge(
    event$.pipe(
      filter((event) => mayDiffer(event, deps)),
      map(({ agent }) => agent),
    ),
    check$.pipe(mergeMap((all) => namesOf(deps.agents(), all))),
  ).pipe(share());
  return name$.pipe(
    buffer(name$.pipe(auditTime(gatherMs))),
    concatMap((names) => from(checked([...new Set(names)], deps))),
    mergeMap((events) => events),
  );
}

function mayDiffer(event: RunEvent, { agent }: RequirementDeps): boolean {
  if (event.type === "agent-set") return true;
  if (event.type === "finished" && event.end.outcome === "rejected") return true;
  return event.type === "started" && (agent(event.agent)?.unmet.length ?? 0) > 0;
}

function namesOf(agents: Iterable<AgentRecord>, all: boolean): readonly string[] {
  return [...agents].flatMap(({ name, unmet }) => (all || unmet.length > 0 ? [name] : []));
}

async function checked(
  names: readonly string[],
  { agent, look, now }: RequirementDeps,
): Promise<readonly RunEvent[]> {
  const unmetOf = look();
  const events = await Promise.all(
    names.map(async (name): Promise<readonly RunEvent[]> => {
      const { config = null } = agent(name) ?? {};
      if (config === null) return [];
      const unmet = await unmetOf(config);
      // One that changed meanwhile is checked again, one that was removed is not.
      const record = agent(name);
      if (record?.config !== config || isSame(record.unmet, unmet)) return [];
      return [{ type: "agent-requirements", agent: name, at: now(), unmet }];
    }),
  );
  return events.flat();
}

function isSame(a: readonly Problem[], b: readonly Problem[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
