import type { OpenCall } from "../../../../src/foundation/contracts/run-state.ts";
import { map } from "rxjs";
import { createCalls } from "../../../../src/runtime/runs/rules/calls.ts";
import type * as events from "../../../../src/runtime/runs/rules/calls.ts";
import { createWaitGraph } from "../../../../src/runtime/runs/rules/wait-graph.ts";
import type { RunEvent, WorkItem } from "../../../../streams/vocabulary.ts";
import { anItem } from "../../../helpers/agents.ts";
import { marbles, type Marbles } from "../../../helpers/marbles.ts";
import { eventsOf } from "../../../streams/status/events.ts";
import { driven } from "./driven.ts";

type CallCommand = events.CallCommand<string>;
type CallEvent = events.CallEvent<string>;

function call(callId: string, agent: string, callerInstance = "a-1", cancelOnExit = false) {
  return { callId, itemId: callId, agent, callerInstance, cancelOnExit, instanceId: null };
}

/** The call `2` is of no use without its caller. */
const [one, two, three] = [
  call("1", "b"),
  call("2", "c", "a-1", true),
  call("3", "a", "b-1"),
] as const;

function itemOf({ callId, agent, callerInstance, cancelOnExit }: OpenCall): WorkItem {
  const asked = { caller: callerInstance.charAt(0), callerInstance, cancelOnExit };
  const more = { depth: 1, root: "r", context: "" };
  return anItem(callId, agent, { kind: "agent-call", callId, ...asked, ...more });
}

const eventsAbout = (item: WorkItem) => eventsOf(item.agent, 0, item);
const [caller, first, second] = [
  eventsAbout(anItem("caller", "a")),
  eventsAbout(itemOf(one)),
  eventsAbout(itemOf(two)),
] as const;
const happened = (event: RunEvent): CallCommand => ({ type: "event", event });

const commands: Record<string, CallCommand> = {
  "1": { type: "made", call: one },
  "2": { type: "made", call: two },
  "3": { type: "made", call: three },
  a: happened(caller.started()),
  b: happened(first.started()),
  c: happened(second.started()),
  A: happened(caller.finished()),
  B: happened(first.finished()),
  C: happened(second.finished()),
  L: happened(first.finished("lost")),
  d: happened(first.refused()),
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

/** Expects these events of the calls, as words. */
function expectWords(
  { hot, scheduler, expectObservable }: Marbles,
  line: string,
  expected: string,
  graph = createWaitGraph(),
): void {
  const event$ = driven(hot(line, commands), () => createCalls<string>(graph), scheduler);
  expectObservable(event$.pipe(map(words)), "20ms !").toBe(expected, said);
}

test.each([
  ["ends the caller's wait when it is dropped", "                 a1w---d", "--w---s"],
  [
    "does not end the caller's wait when its lost run is tried again",
    "      a1wbL--b-B",
    "--w------s",
  ],
  ["that has ended ends the caller's wait at once", "                          a1b-B-w", "------s"],
  [
    "keeps its caller's wait for several calls until all have ended",
    "            a12Wbc-C-B",
    "---W-----s",
  ],
  ["keeps its caller's wait until the timeout", "                           a1t", "--w---t"],
  ["ends no wait of a caller that has ended", "              a1w--A-B", "--w"],
  ["continues when its caller ends", "                            a1b--A-B", ""],
  ["with cancelOnExit ends its run with its caller", "            a2c--A", "-----r"],
  ["with cancelOnExit ends if it starts after its caller ended", "a2---A-c", "-----q-r"],
  ["with cancelOnExit ends when its caller is gone", "            2-e--c", "--q--r"],
  ["that would close a cycle of waits ends a wait for it at once", "       a1wb3v", "--w--c"],
  ["is handled in order within a burst", "                        (a12WbcBCA)", "(Ws)"],
])("a call of another agent %s", (_what, line, expected) =>
  marbles((helpers) => expectWords(helpers, line, expected)),
);

test.each([
  ["its wait is cancelled", "a1bw-x"],
  ["its caller ends", "a1bw-A"],
])("a call of another agent leaves no wait in the graph when %s", (_how, line) => {
  const graph = createWaitGraph();
  marbles((helpers) => {
    expectWords(helpers, line, "---w", graph);
    const waits$ = helpers.cold("----1-2").pipe(map(() => graph.cycle("b-1", () => ["a-1"])));
    helpers.expectObservable(waits$).toBe("----t-f", { t: ["b-1", "a-1", "b-1"], f: null });
  });
});
