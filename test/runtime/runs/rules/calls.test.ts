import type { OpenCall } from "../../../../src/foundation/contracts/run-state.ts";
import { map } from "rxjs";
import { createCalls } from "../../../../src/runtime/runs/rules/calls.ts";
import type * as events from "../../../../src/runtime/runs/rules/calls.ts";
import { createWaitGraph } from "../../../../src/runtime/runs/rules/wait-graph.ts";
import type { Outcome, RunEvent, WorkItem } from "../../../../streams/vocabulary.ts";
import { anItem } from "../../../helpers/agents.ts";
import { marbles, type Marbles } from "../../../helpers/marbles.ts";
import { driven } from "./driven.ts";

type CallCommand = events.CallCommand<string>;
type CallEvent = events.CallEvent<string>;

/** The call `1` is of a-1 to b, the call `2` of a-1 to c and of no use without it, `3` of b-1 to a. */
const made: Record<string, OpenCall> = {
  "1": { ...call("1", "b", "a-1") },
  "2": { ...call("2", "c", "a-1"), cancelOnExit: true },
  "3": { ...call("3", "a", "b-1") },
};

function call(callId: string, agent: string, callerInstance: string): OpenCall {
  return { callId, itemId: callId, agent, callerInstance, cancelOnExit: false, instanceId: null };
}

function itemOf(callId: string): WorkItem {
  const { agent, callerInstance, cancelOnExit } = made[callId] ?? call("x", "x", "x");
  const asked = { caller: callerInstance.charAt(0), callerInstance, cancelOnExit };
  const more = { depth: 1, root: "r", context: "" };
  return anItem(callId, agent, { kind: "agent-call", callId, ...asked, ...more });
}

function started(item: WorkItem): CallCommand {
  const instanceId = `${item.agent}-1`;
  return { type: "event", event: { type: "started", agent: item.agent, at: 0, item, instanceId } };
}

function finished(item: WorkItem, outcome: Outcome = "succeeded"): CallCommand {
  const end = { outcome, exitCode: 0, reason: null, usage: null };
  const run = { instanceId: `${item.agent}-1`, startedAt: 0, end };
  return { type: "event", event: { type: "finished", agent: item.agent, at: 0, item, ...run } };
}

function refused(item: WorkItem): CallCommand {
  const why = { outcome: "dropped", reason: "queue_full" } as const;
  const event: RunEvent = { type: "refused", agent: item.agent, at: 0, item, ...why };
  return { type: "event", event };
}

const caller = anItem("caller", "a");
const commands: Record<string, CallCommand> = {
  "1": { type: "made", call: made["1"] ?? call("", "", "") },
  "2": { type: "made", call: made["2"] ?? call("", "", "") },
  "3": { type: "made", call: made["3"] ?? call("", "", "") },
  a: started(caller),
  b: started(itemOf("1")),
  c: started(itemOf("2")),
  A: finished(caller),
  B: finished(itemOf("1")),
  C: finished(itemOf("2")),
  L: finished(itemOf("1"), "lost"),
  d: refused(itemOf("1")),
  w: { type: "wait", request: "w", instanceId: "a-1", callIds: ["1"], until: null },
  W: { type: "wait", request: "w", instanceId: "a-1", callIds: ["1", "2"], until: null },
  t: { type: "wait", request: "w", instanceId: "a-1", callIds: ["1"], until: 6 },
  v: { type: "wait", request: "v", instanceId: "b-1", callIds: ["3"], until: null },
  x: { type: "cancel", request: "w" },
  e: { type: "caller-ended", instanceId: "a-1" },
};

function words(event: CallEvent): string {
  switch (event.type) {
    case "waiting":
      return `${event.request} waits for ${event.calls.map(({ callId }) => callId).join()}`;
    case "settled":
      return event.timedOut ? `${event.request} timed out` : `${event.request} settled`;
    case "refused":
      return event.path.join(">");
    case "abandoned":
      return `${event.call.callId} abandoned ${event.call.instanceId ?? "in its queue"}`;
  }
}

const said = {
  w: "w waits for 1",
  W: "w waits for 1,2",
  v: "v waits for 3",
  s: "w settled",
  t: "w timed out",
  q: "2 abandoned in its queue",
  r: "2 abandoned c-1",
  c: "b-1>a-1>b-1",
};

function called({ hot, scheduler }: Marbles, line: string, graph = createWaitGraph()) {
  const create = () => createCalls<string>(graph);
  return driven(hot(line, commands), create, scheduler).pipe(map(words));
}

test.each([
  ["is over when the callee finished", "              a1w-b-B--", "--w---s"],
  ["is over when it was dropped", "                   a1w---d--", "--w---s"],
  ["goes on when its run was lost and is tried again", "a1wbL--b-B", "--w------s"],
  ["that is over already is not waited for", "        a1b-B-w--", "------s"],
  ["that nobody made is not waited for", "            a-----w--", "------s"],
  ["is waited for beside others until all are over", "a12Wbc-C-B", "---W-----s"],
  ["is waited for until a time", "                    a1t------", "--w---t"],
  ["is no longer waited for by who gave up", "        a1w-xb-B-", "--w"],
  ["is no longer waited for by a run that ended", "   a1w--A-B-", "--w"],
  ["goes on when its caller ends", "                  a1b--A-B-", ""],
  ["ends with its caller if that was asked for", "    a2---A---", "-----q"],
  ["is ended while it runs, too", "                   a2c--A---", "-----r"],
  ["that starts after its caller ended is ended then", "a2---A-c-", "-----q-r"],
  ["ends with a caller that nobody saw end", "        2-e--c---", "--q--r"],
  ["that is over is not ended with its caller", "     a2c-CA---", ""],
])("a call: %s", (_what, line, expected) =>
  marbles((helpers) => {
    const unsubscribed = "-------------------!";
    helpers.expectObservable(called(helpers, line), unsubscribed).toBe(expected, said);
  }),
);

test.each([
  ["of a run that waits for the one that calls", "           a1wb3v", "--w--c"],
  ["that waits behind a run that waits for the one that calls", "a13-bwv", "-----wc"],
])("a call is not waited for when it is %s", (_what, line, expected) =>
  marbles((helpers) => {
    helpers.expectObservable(called(helpers, line), "--------!").toBe(expected, said);
  }),
);

test("a call leaves no wait behind in the graph", () => {
  const graph = createWaitGraph();
  const waits = (): boolean => graph.cycle("b-1", () => ["a-1"]) !== null;
  marbles((helpers) => {
    const seen$ = helpers.cold("----1-2").pipe(map(() => waits()));
    helpers.expectObservable(called(helpers, "a1bw-x", graph), "-------!").toBe("---w", said);
    helpers.expectObservable(seen$).toBe("----t-f", { t: true, f: false });
  });
  marbles((helpers) => {
    helpers.expectObservable(called(helpers, "a1bwA", graph), "-----!").toBe("---w", said);
  });
  expect(waits()).toBe(false);
});

test("a stream of call commands answers a burst in order", () =>
  marbles((helpers) => {
    helpers.expectObservable(called(helpers, "(a12WbcBCA)"), "--------!").toBe("(Ws)", said);
  }));
