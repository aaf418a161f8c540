/** Prints how many bytes of heap the graph keeps for each of a thousand agents that wait. Needs --expose-gc. */
import { asyncScheduler, BehaviorSubject, Subject } from "rxjs";
import type { AgentChange } from "../../streams/vocabulary.ts";
import { anAgent } from "../helpers/agents.ts";
import { graphOf } from "./graph.ts";

const count = 1000;
const agentChange$ = new Subject<AgentChange>();
const sources = {
  agentChange$,
  webhook$: new Subject<never>(),
  call$: new Subject<never>(),
  manual$: new Subject<never>(),
  enabled$: new Subject<never>(),
  withdraw$: new Subject<never>(),
  stopping$: new Subject<never>(),
  paused$: new BehaviorSubject(false),
};
graphOf(asyncScheduler, sources).subscribe();

const agents = Array.from({ length: 2 * count }, (_, n) =>
  anAgent(`agent-${n}`, { schedule: "0 3 * * *" }),
);
const add = (from: number): void => {
  for (const agent of agents.slice(from, from + count)) {
    agentChange$.next({ type: "set", agent, warnings: [] });
  }
};

// The first thousand also compile and warm what all share.
add(0);
const before = heapUsed();
add(count);
process.stdout.write(String((heapUsed() - before) / count));
process.exit();

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
