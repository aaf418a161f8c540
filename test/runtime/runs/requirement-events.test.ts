import { Subject } from "rxjs";
import { requirementEvents } from "../../../src/runtime/runs/requirements.ts";
import { createStatusStore } from "../../../src/foundation/scheduler/status-store.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { Diagnostic, RunEvent } from "../../../streams/vocabulary.ts";
import { schedulerStatus } from "../../streams/status/board.ts";
import { aProblem, eventsOf } from "../../streams/status/events.ts";

/** Agents of which each lacks what `lacking` says of it. */
function setUp() {
  const status = createStatusStore(schedulerStatus, () => ({}));
  const event$ = new Subject<RunEvent>();
  const check$ = new Subject<boolean>();
  const lacking = new Map<string, readonly Diagnostic[]>();
  const looks: string[][] = [];
  const seen: string[] = [];
  const look = () => {
    const names: string[] = [];
    looks.push(names);
    return async ({ name }: AgentConfig) => {
      await Promise.resolve();
      names.push(name);
      return lacking.get(name) ?? [];
    };
  };
  const agent = (name: string) => status.agent(name);
  const deps = { agent, agents: () => status.agents(), check: look, now: () => 0 };
  const subscription = requirementEvents(event$, check$, deps).subscribe((event) => {
    status.apply(event);
    if (event.type === "agent-requirements") seen.push(`${event.agent} ${event.unmet.length}`);
  });
  onTestFinished(() => subscription.unsubscribe());
  const happens = (...events: readonly RunEvent[]): void => {
    for (const event of events) {
      status.apply(event);
      event$.next(event);
    }
  };
  return { check$, lacking, looks, seen, happens };
}

const [dev, ops] = [eventsOf("dev"), eventsOf("ops")];

test("agents loaded at once have their requirements checked together; only problems are emitted", async () => {
  const { lacking, looks, seen, happens } = setUp();
  lacking.set("dev", [aProblem()]);
  happens(dev.set(), ops.set(), dev.set());
  await expect.poll(() => seen).toEqual(["dev 1"]);
  expect(looks).toEqual([["dev", "ops"]]);
});

test("all agents' requirements are checked when credentials change, otherwise only those of agents with a problem", async () => {
  const { check$, lacking, looks, seen, happens } = setUp();
  lacking.set("dev", [aProblem()]);
  happens(dev.set(), ops.set());
  await expect.poll(() => seen).toEqual(["dev 1"]);
  check$.next(false);
  await expect.poll(() => looks.slice(1)).toEqual([["dev"]]);
  lacking.set("ops", [aProblem(), aProblem()]);
  lacking.delete("dev");
  check$.next(true);
  await expect.poll(() => seen).toEqual(["dev 1", "dev 0", "ops 2"]);
  expect(looks.slice(2)).toEqual([["dev", "ops"]]);
});

test("a rejected run causes a check of its agent's requirements; another run only while the agent has a problem", async () => {
  const { lacking, looks, seen, happens } = setUp();
  happens(dev.set(), ops.set());
  await expect.poll(() => looks).toHaveLength(1);
  lacking.set("ops", [aProblem()]);
  happens(dev.started(), dev.finished(), ops.started(), ops.finished("rejected", "no key"));
  await expect.poll(() => seen).toEqual(["ops 1"]);
  expect(looks.slice(1)).toEqual([["ops"]]);
  lacking.delete("ops");
  happens(ops.started());
  await expect.poll(() => seen).toEqual(["ops 1", "ops 0"]);
});

test("an agent's requirement problem is not emitted once the agent is removed", async () => {
  const { lacking, looks, seen, happens } = setUp();
  lacking.set("dev", [aProblem()]);
  happens(dev.set());
  await expect.poll(() => looks).toHaveLength(1);
  happens(dev.removed(), ops.set());
  lacking.set("ops", [aProblem()]);
  happens(ops.set({ scale: 2 }));
  await expect.poll(() => seen).toContain("ops 1");
});
