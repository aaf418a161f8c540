import { map, of } from "rxjs";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import { anItem } from "../../helpers/agents.ts";
import { inVirtualTime } from "../../helpers/marbles.ts";
import { changeOf, graphOf, only, shows, ticking } from "../graph.ts";

test.each<[does: string, ...Parameters<typeof shows>]>([
  [
    "that stops ends triggers, lets runs finish, leaves queued work, and completes",
    {
      changes: " (ab)",
      webhooks: "----16-2----3",
      stopping: "--------s",
      started: " ----16----|",
      finished: "---------1(6|)",
      refused: " ----------|",
    },
  ],
])("the scheduler %s", (_does, ...all) => shows(...all));

test("the scheduler that stops starts no further cron runs", () => {
  const configs = { a: ticking() };
  shows({ changes: "a", stopping: "-----s", started: "---c-|", configs }, { minutes: 12 });
});

test(
  "the scheduler fails with an error of a source stream, and aborts the runs",
  inVirtualTime((helpers) => {
    const broken$ = helpers.cold("          --#");
    const run$ = helpers.cold<never>("-");
    const event$ = graphOf(
      helpers.scheduler,
      {
        agentChange$: of(changeOf("a")),
        webhook$: of(anItem("1", "a")),
        call$: broken$.pipe(map((never) => never as unknown as WorkItem)),
      },
      { runner: { run: () => run$ } },
    );
    helpers.expectObservable(only(event$, "started")).toBe("1-#");
    helpers.expectSubscriptions(run$.subscriptions).toBe("  ^-!");
  }),
);

test(
  "the scheduler unsubscribes from its sources and aborts runs when unsubscribed, and can start again",
  inVirtualTime((helpers) => {
    const { hot, cold, expectSubscriptions } = helpers;
    const agentChange$ = cold("     a", { a: changeOf("a") });
    const webhook$ = hot("          -1-----1", { "1": anItem("1", "a") });
    const kill$ = hot<never>("-");
    const run$ = cold<never>("-");
    const first = "                 ^--!";
    const second = "                -----^---!";
    const event$ = graphOf(
      helpers.scheduler,
      { agentChange$, webhook$, kill$ },
      { runner: { run: () => run$ } },
    );
    helpers.expectObservable(only(event$, "started"), first).toBe("-1");
    helpers.expectObservable(only(event$, "started"), second).toBe("-------1");
    expectSubscriptions(agentChange$.subscriptions).toBe([first, second]);
    expectSubscriptions(webhook$.subscriptions).toBe([first, second]);
    expectSubscriptions(run$.subscriptions).toBe(["-^-!", "-------^-!"]);
  }),
);
