import { EMPTY, filter, map, NEVER, of, type Observable, type SchedulerLike } from "rxjs";
import { createClock } from "../../streams/clock.ts";
import { createSlots } from "../../streams/runs/slots.ts";
import type { Kill } from "../../streams/runs/run-agent.ts";
import { runtime, type RuntimePorts, type RuntimeSources } from "../../streams/runtime.ts";
import type { AgentConfig } from "../../streams/agent-config.ts";
import type { AgentChange, RunEvent, WorkItem } from "../../streams/vocabulary.ts";
import { anAgent, anItem } from "../helpers/agents.ts";
import { marbles, minutes, type Marbles } from "../helpers/marbles.ts";
import { timedRunner } from "../helpers/stream-runner.ts";
import { createRunOwner } from "../helpers/run-owner.ts";

/** The whole graph with fakes at its ports: a run takes five columns, and everything is at hand at once. */
export function graphOf(
  scheduler: SchedulerLike,
  sources: Partial<RuntimeSources>,
  ports: Partial<RuntimePorts> = {},
): Observable<RunEvent> {
  let instances = 0;
  let ids = 0;
  return runtime(
    {
      agentChange$: NEVER,
      webhook$: NEVER,
      call$: NEVER,
      manual$: NEVER,
      enabled$: NEVER,
      paused$: of(false),
      workPausedAfter$: of(null),
      kill$: NEVER,
      withdraw$: NEVER,
      waitForMoney$: of(new Set<string>()),
      calendars$: of({}),
      adopted$: EMPTY,
      stopping$: NEVER,
      ...sources,
    },
    {
      runner: timedRunner(scheduler, 5),
      claim: () => of("claimed"),
      newInstanceId: (agent) => `${agent}-${++instances}`,
      newId: () => `new-${++ids}`,
      scheduler,
      clock: createClock(scheduler),
      slots: createSlots(),
      owner: createRunOwner(() => scheduler.now()),
      starting: createSlots(),
      isStopping: () => false,
      isEnabled: () => true,
      lastChecked: () => undefined,
      overBudget: () => null,
      prepare: () => EMPTY,
      storedWork: { after: () => NEVER, released: () => undefined },
      describeChange: (before, after) => (before.title === after.title ? "" : after.title),
      ...ports,
    },
  );
}

/** A small letter sets that agent, a capital one removes it, `i` makes a invalid, `j` b. */
export function changeOf(letter: string, config: Partial<AgentConfig> = {}): AgentChange {
  const name = letter.toLowerCase();
  if (name === "i" || name === "j") {
    return { type: "invalid", name: name === "i" ? "a" : "b", problems: [], sources: [] };
  }
  if (name !== letter) return { type: "removed", name };
  return { type: "set", agent: anAgent(name, config), warnings: [] };
}

/** Sets the agent a with a tick each third minute. */
export const ticking = (more: Partial<AgentConfig> = {}): AgentChange =>
  changeOf("a", { schedule: "*/3 * * * *", ...more });

/** Work by its digit: 1 to 5 are for the agent a, 6 to 9 for b, 0 for nobody. */
const ownerOf = (digit: string): string => (digit === "0" ? "nobody" : digit < "6" ? "a" : "b");

const items: Record<string, WorkItem> = Object.fromEntries(
  Array.from("0123456789", (digit) => [digit, anItem(digit, ownerOf(digit))]),
);

const switches = {
  e: { agent: "a", enabled: true },
  d: { agent: "a", enabled: false },
};

const kills: Record<string, Kill> = {
  a: { agent: "a" },
  x: { everything: "killed" },
  f: { instanceId: "a-1" },
};

/** What comes in, as diagrams. `configs` gives letters of `changes` another meaning. */
export interface Lines {
  readonly changes?: string;
  readonly configs?: Readonly<Record<string, AgentChange>>;
  readonly webhooks?: string;
  readonly calls?: string;
  readonly manual?: string;
  /** `e` and `d` enable and disable a. */
  readonly enabled?: string;
  /** `y` and `n`. */
  readonly paused?: string;
  /** `a` for that agent, `f` for its first instance, `x` for everything. */
  readonly kills?: string;
  readonly stopping?: string;
}

const letters = Array.from("aAbBcCiIj");

/** The graph over diagrams; `columns` says how long their columns are, such as `minutes`. */
export function drawn(
  { hot, cold, scheduler }: Marbles,
  lines: Lines,
  ports: Partial<RuntimePorts> = {},
  columns: (diagram: string) => string = (diagram) => diagram,
  sources: Partial<RuntimeSources> = {},
): Observable<RunEvent> {
  const changes = Object.fromEntries(letters.map((letter) => [letter, changeOf(letter)]));
  const work = (line = ""): Observable<WorkItem> => hot(columns(line), items);
  return graphOf(
    scheduler,
    {
      agentChange$: hot(columns(lines.changes ?? ""), { ...changes, ...lines.configs }),
      webhook$: work(lines.webhooks),
      call$: work(lines.calls),
      manual$: work(lines.manual),
      enabled$: hot(columns(lines.enabled ?? ""), switches),
      paused$: cold(columns(lines.paused ?? "n"), { y: true, n: false }),
      kill$: hot(columns(lines.kills ?? ""), kills),
      stopping$: hot(columns(lines.stopping ?? "")),
      ...sources,
    },
    ports,
  );
}

/** The events of one type, each as a letter: its work's digit, `c` for cron, else its agent. */
export const only = (event$: Observable<RunEvent>, type: RunEvent["type"]): Observable<string> =>
  event$.pipe(
    filter((event) => event.type === type),
    map(letterOf),
  );

function letterOf(event: RunEvent): string {
  if ("item" in event) return event.item.trigger.kind === "cron" ? "c" : event.item.id;
  if (event.type === "agent-enabled") return event.enabled ? "e" : "d";
  return event.agent;
}

/** What comes in, and the letters of the events that come out, by their types. */
type Drawing = Lines & Partial<Readonly<Record<RunEvent["type"], string>>>;

interface Setting {
  readonly ports?: (helpers: Marbles) => Partial<RuntimePorts>;
  readonly sources?: (helpers: Marbles) => Partial<RuntimeSources>;
  /** For how many minutes the events are looked at: the columns of all diagrams are minutes. */
  readonly minutes?: number;
}

/** Expects the graph to turn what comes in into these events. */
export function shows(drawing: Drawing, setting: Setting = {}): void {
  const { ports, sources } = setting;
  const isLong = setting.minutes !== undefined;
  const columns = isLong ? minutes : (diagram: string) => diagram;
  marbles((helpers) => {
    const event$ = drawn(helpers, drawing, ports?.(helpers), columns, sources?.(helpers));
    const end = isLong ? `${setting.minutes}m !` : undefined;
    for (const type of shownTypes) {
      const expected = drawing[type];
      if (expected === undefined) continue;
      helpers.expectObservable(only(event$, type), end).toBe(columns(expected));
    }
  });
}

const shownTypes = [
  "agent-enabled",
  "agent-removed",
  "agent-set",
  "build-finished",
  "started",
  "finished",
  "refused",
] as const satisfies readonly RunEvent["type"][];
