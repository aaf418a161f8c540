import { of, Subject } from "rxjs";
import type { RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { anItem } from "../../helpers/agents.ts";
import { inVirtualTime } from "../../helpers/marbles.ts";
import { changeOf, graphOf, shows } from "../graph.ts";

test.each<[does: string, ...Parameters<typeof shows>]>([
  [
    "runs work from any source that is addressed to an agent, one at a time",
    {
      changes: " a",
      webhooks: "-1",
      calls: "   --2",
      manual: "  ---3",
      started: " -1----2----3",
      finished: "------1----2----3",
    },
  ],
  [
    "rejects queued work that is withdrawn, only for its own agent",
    { changes: "(ab)", webhooks: "-123", refused: "-----2", started: "-1----3" },
    {
      sources: ({ hot }) => ({
        withdraw$: hot("----xy", {
          x: { agent: "b", itemId: "2", why: "withdrawn" as const },
          y: { agent: "a", itemId: "2", why: "withdrawn" as const },
        }),
      }),
    },
  ],
])("the scheduler %s", (_does, ...all) => shows(...all));

test(
  "the scheduler emits events to all subscribers in one order, even if an agent calls another during an event",
  inVirtualTime((helpers) => {
    const call$ = new Subject<WorkItem>();
    const event$ = graphOf(helpers.scheduler, {
      agentChange$: of(changeOf("a"), changeOf("b")),
      manual$: helpers.hot("-1", { "1": anItem("1", "a") }),
      call$,
    });
    const seen: [RunEvent[], RunEvent[]] = [[], []];
    event$.subscribe((event) => {
      seen[0].push(event);
      if (event.type === "started" && event.agent === "a") call$.next(anItem("6", "b"));
    });
    event$.subscribe((event) => seen[1].push(event));
    helpers.flush();
    const started = seen[1].flatMap(({ type, agent }) => (type === "started" ? [agent] : []));
    expect(started).toEqual(["a", "b"]);
    expect(seen[0].slice(-4)).toEqual(seen[1].slice(-4));
  }),
);
