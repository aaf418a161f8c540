import { of } from "rxjs";
import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import type { BuildEvent } from "../../../streams/vocabulary.ts";
import type { Runner } from "../../../streams/runs/runner.ts";
import { marbles } from "../../helpers/marbles.ts";
import type { Marbles } from "../../helpers/marbles.ts";
import { timedRunner } from "../../helpers/stream-runner.ts";
import { changeOf, drawn, only } from "../graph.ts";

/** A runner that says which config each run was started with, by its title. */
function watched(helpers: Marbles, titles: string[]): Runner {
  const runner = timedRunner(helpers.scheduler, 5);
  return {
    run: (request, stop$) => {
      titles.push(request.agent.title);
      return runner.run(request, stop$);
    },
  };
}

describe("the graph: an agent's directory", () => {
  it("drains a removed agent, holds its queue for a minute, then drops it", () =>
    marbles((helpers) => {
      const changes = " a--A------";
      const webhooks = "-12-3------";
      const started = " -1---------";
      const finished = "------1----";
      const dropped = " 3ms 1m (23)";
      const event$ = drawn(helpers, { changes, webhooks });
      helpers.expectObservable(only(event$, "started")).toBe(started);
      helpers.expectObservable(only(event$, "finished")).toBe(finished);
      helpers.expectObservable(only(event$, "refused")).toBe(dropped);
    }));

  it("goes on with the queue of an agent that is back within the minute", () =>
    marbles((helpers) => {
      const changes = " a--A 59s a------";
      const webhooks = "-12-----------";
      const started = " -1-- 59s 2------";
      const event$ = drawn(helpers, { changes, webhooks });
      helpers.expectObservable(only(event$, "started")).toBe(started);
      helpers.expectObservable(only(event$, "refused")).toBe("-");
    }));

  it("goes on with a run that still drains when its agent is back", () =>
    marbles((helpers) => {
      const changes = " a-Aa-----";
      const webhooks = "-1--2-----";
      const started = " -1----2---";
      const finished = "------1----2";
      const event$ = drawn(helpers, { changes, webhooks });
      helpers.expectObservable(only(event$, "started")).toBe(started);
      helpers.expectObservable(only(event$, "finished")).toBe(finished);
    }));

  it("holds what a restart left of an agent without a directory for a minute, then drops it", () =>
    marbles((helpers) => {
      const changes = " A-----------";
      const manual = "  -12----------";
      const dropped = " 1m (12)------";
      const event$ = drawn(helpers, { changes, manual });
      helpers.expectObservable(only(event$, "refused")).toBe(dropped);
      helpers.expectObservable(only(event$, "started")).toBe("-");
    }));

  it("runs what a restart left once the directory is there", () =>
    marbles((helpers) => {
      const changes = " A-- 59s a----------";
      const manual = "  -12 59s -----------";
      const started = " --- 59s 1----2-----";
      const event$ = drawn(helpers, { changes, manual });
      helpers.expectObservable(only(event$, "started")).toBe(started);
      helpers.expectObservable(only(event$, "refused")).toBe("-");
    }));

  it("begins anew with an agent that is back after the minute", () =>
    marbles((helpers) => {
      const changes = " a--A 2m -a------";
      const webhooks = "-1-- 2m 0--2----";
      const started = " -1-- 2m ---2----";
      const refused = " ---- 2m 0-------";
      const event$ = drawn(helpers, { changes, webhooks });
      helpers.expectObservable(only(event$, "started")).toBe(started);
      helpers.expectObservable(only(event$, "refused")).toBe(refused);
      helpers.expectObservable(only(event$, "agent-set")).toBe("a--- 2m -a");
      helpers.expectObservable(only(event$, "agent-removed")).toBe("---a");
    }));

  it("refuses work for an agent whose minute is over", () =>
    marbles((helpers) => {
      const changes = " aA 1m --";
      const webhooks = "-- 1m 1-";
      const refused = " -- 1m 1-";
      const event$ = drawn(helpers, { changes, webhooks });
      helpers.expectObservable(only(event$, "refused")).toBe(refused);
    }));

  it("keeps the last good config active while the files are invalid", () => {
    const titles: string[] = [];
    marbles((helpers) => {
      const configs = { a: changeOf("a", { title: "good" }), c: changeOf("a", { title: "new" }) };
      const lines = {
        changes: "   a-i------c--",
        configs,
        webhooks: "  ---1------2",
      };
      const started = "---1------2--";
      const event$ = drawn(helpers, lines, { runner: watched(helpers, titles) });
      helpers.expectObservable(only(event$, "started")).toBe(started);
      helpers.expectObservable(only(event$, "agent-invalid")).toBe("--a----------");
    });
    expect(titles).toEqual(["good", "new"]);
  });

  it("holds what comes for an agent that never was valid, until it is", () =>
    marbles((helpers) => {
      const changes = " i----a------";
      const webhooks = "-1-2---------";
      const started = " -----1----2-";
      const event$ = drawn(helpers, { changes, webhooks });
      helpers.expectObservable(only(event$, "started")).toBe(started);
    }));

  it("lets a run keep the config it started with, and gives the next one the new", () => {
    const titles: string[] = [];
    marbles((helpers) => {
      const configs = { c: changeOf("a", { title: "new" }) };
      const lines = {
        changes: "    a-c--------",
        configs,
        webhooks: "   -12--------",
      };
      const finished = "------1----2";
      const event$ = drawn(helpers, lines, { runner: watched(helpers, titles) });
      helpers.expectObservable(only(event$, "finished")).toBe(finished);
    });
    expect(titles).toEqual(["a", "new"]);
  });

  it("says what changed", () => {
    const said: string[] = [];
    marbles((helpers) => {
      const configs = { c: changeOf("a", { title: "new" }) };
      const event$ = drawn(helpers, { changes: "a-i-a-c-A-a", configs });
      event$.subscribe((event) => {
        said.push(event.type === "agent-set" ? event.summary : event.type);
      });
      helpers.flush();
    });
    expect(said).toEqual([
      "loaded",
      "agent-invalid",
      "valid again",
      "new",
      "agent-removed",
      "loaded",
    ]);
  });

  it("makes ready again only what differs in what a run needs, and nothing for no runs", () =>
    marbles((helpers) => {
      const runtime = { type: "container", runAs: "al-agent" } as const;
      const configs = {
        a: changeOf("a", { runtime }),
        b: changeOf("a", { runtime, title: "new" }),
        c: changeOf("a", { runtime, dockerfileHash: "1" }),
        d: changeOf("a", { runtime, dockerfileHash: "1", scale: 0 }),
      };
      const prepare = (): Observable<BuildEvent> =>
        of({ type: "build-finished", error: null, usable: true });
      const changes = "a-b-c-c-i-A-c-d-c-";
      const built = "  a---a-----------a-";
      const event$ = drawn(helpers, { changes, configs }, { prepare });
      helpers.expectObservable(only(event$, "build-finished")).toBe(built);
    }));
});
