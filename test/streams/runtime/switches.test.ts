import { EMPTY } from "rxjs";
import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { BuildEvent, RunEvent } from "../../../streams/vocabulary.ts";
import { marbles, minutes } from "../../helpers/marbles.ts";
import { timedRunner } from "../../helpers/stream-runner.ts";
import { changeOf, drawn, only } from "../graph.ts";

describe("the graph: switches", () => {
  it("holds the queue of a disabled agent and lets its run go on", () =>
    marbles((helpers) => {
      const changes = " a--------------";
      const enabled = " --d-------e----";
      const webhooks = "-12------------";
      const started = " -1--------2----";
      const finished = "------1--------2";
      const event$ = drawn(helpers, { changes, enabled, webhooks });
      helpers.expectObservable(only(event$, "started")).toBe(started);
      helpers.expectObservable(only(event$, "finished")).toBe(finished);
      helpers.expectObservable(only(event$, "agent-enabled")).toBe("--d-------e");
    }));

  it("holds a container agent's queue until it has an image, and not for an agent without one", () =>
    marbles((helpers) => {
      const container = { type: "container", runAs: "al-agent" } as const;
      const configs = { a: changeOf("a", { runtime: container }) };
      const built: Record<string, BuildEvent> = {
        n: { type: "build-finished", error: "no engine", usable: false },
        y: { type: "build-finished", error: null, usable: true },
      };
      const prepare = ({ name }: AgentConfig): Observable<BuildEvent> =>
        name === "a" ? helpers.cold("----n--y", built) : EMPTY;
      const changes = " (ab)------";
      const webhooks = "-----16----";
      const started = " ------61";
      const event$ = drawn(helpers, { changes, configs, webhooks }, { prepare });
      helpers.expectObservable(only(event$, "started")).toBe(started);
    }));

  it("holds a container agent's queue again while a new image is built, and while there is no engine", () =>
    marbles((helpers) => {
      const container = { type: "container", runAs: "al-agent" } as const;
      const configs = { a: changeOf("a", { runtime: container, scale: 9 }) };
      const built: Record<string, BuildEvent> = {
        b: { type: "build-started", text: "building" },
        n: { type: "build-finished", error: "no engine", usable: false },
        y: { type: "build-finished", error: null, usable: true },
      };
      const prepare = () => helpers.cold("-y--b--y-n----y", built);
      const changes = " a--------------";
      const webhooks = "--1--2----(34)-";
      const started = " --1----2------(34)";
      const event$ = drawn(helpers, { changes, configs, webhooks }, { prepare });
      helpers.expectObservable(only(event$, "started")).toBe(started);
    }));

  it("holds a container agent's queue from a save of its image's files on, before anything is built", () =>
    marbles((helpers) => {
      const runtime = { type: "container", runAs: "al-agent" } as const;
      const configs = {
        a: changeOf("a", { runtime }),
        b: changeOf("a", { runtime, dockerfileHash: "1" }),
      };
      const built: Record<string, BuildEvent> = {
        b: { type: "build-started", text: "building" },
        y: { type: "build-finished", error: null, usable: true },
      };
      const prepare = ({ dockerfileHash }: AgentConfig): Observable<BuildEvent> =>
        helpers.cold(dockerfileHash === null ? "-y" : "--b--y", built);
      const changes = " a---b-----";
      const webhooks = "-----1----";
      const started = " ---------1";
      const event$ = drawn(helpers, { changes, configs, webhooks }, { prepare });
      helpers.expectObservable(only(event$, "started")).toBe(started);
    }));

  it("says of an agent that was disabled before, after it said that it is there", () => {
    const said: string[] = [];
    marbles((helpers) => {
      const lines = { changes: "a", webhooks: "-1", enabled: "----e" };
      const event$ = drawn(helpers, lines, { isEnabled: () => false });
      helpers.expectObservable(only(event$, "started")).toBe("----1");
      event$.subscribe(({ type }) => said.push(type));
    });
    expect(said.slice(0, 2)).toEqual(["agent-set", "agent-enabled"]);
  });

  it("disables one agent, not the other", () =>
    marbles((helpers) => {
      const changes = " (ab)--";
      const enabled = " ----D-";
      const webhooks = "-----16";
      const started = " -----1-";
      const event$ = drawn(helpers, { changes, enabled, webhooks });
      helpers.expectObservable(only(event$, "started")).toBe(started);
    }));

  it("has no tick while disabled, and skips ticks while paused", () =>
    marbles((helpers) => {
      const configs = { a: changeOf("a", { schedule: "*/3 * * * *" }) };
      const changes = "a----------------";
      const enabled = "-----d---e-------";
      const paused = " n---------y------";
      const until = "  ----------------!";
      const started = "---c-------------";
      const skipped = "------------c--c-";
      const event$ = drawn(helpers, { changes, configs, enabled, paused }, {}, minutes);
      const see = (type: RunEvent["type"], expected: string): void =>
        helpers.expectObservable(only(event$, type), minutes(until)).toBe(minutes(expected));
      see("started", started);
      see("refused", skipped);
    }));

  it("skips ticks while paused however often agents are reloaded, and goes on afterwards", () =>
    marbles((helpers) => {
      const schedule = "*/3 * * * *";
      const configs = {
        a: changeOf("a", { schedule }),
        b: changeOf("a", { schedule, title: "b" }),
        c: changeOf("a", { schedule: "*/6 * * * *" }),
      };
      const changes = "ab-abab-Aacab-aba---";
      const paused = " -y------------n-----";
      const until = "  -------------------!";
      const started = "---------------c--c";
      const skipped = "---c--c-----c-----";
      const event$ = drawn(helpers, { changes, configs, paused }, {}, minutes);
      const see = (type: RunEvent["type"], expected: string): void =>
        helpers.expectObservable(only(event$, type), minutes(until)).toBe(minutes(expected));
      see("started", started);
      see("refused", skipped);
    }));

  it("skips a tick that finds everybody busy", () =>
    marbles((helpers) => {
      const configs = { a: changeOf("a", { schedule: "*/3 * * * *" }) };
      const lines = { changes: "a--------------", configs };
      const until = "           --------------!";
      const started = "         ---c--------c-";
      const skipped = "         ------c--c----";
      const runner = timedRunner(helpers.scheduler, 7 * 60_000);
      const event$ = drawn(helpers, lines, { runner }, minutes);
      const see = (type: RunEvent["type"], expected: string): void =>
        helpers.expectObservable(only(event$, type), minutes(until)).toBe(minutes(expected));
      see("started", started);
      see("refused", skipped);
    }));

  it("kills the runs of an agent, one instance, or everything, and goes on with the queue", () =>
    marbles((helpers) => {
      const changes = " (ab)----------";
      const webhooks = "----16-2-3-----";
      const kills = "   ------f--a--x-";
      const killed = "  ------1--2--3";
      const event$ = drawn(
        helpers,
        { changes, webhooks, kills },
        { runner: timedRunner(helpers.scheduler, 99) },
      );
      helpers.expectObservable(only(event$, "finished", "a")).toBe(killed);
      helpers.expectObservable(only(event$, "finished", "b")).toBe("------------6");
      helpers.expectObservable(only(event$, "started", "a")).toBe("----1--2-3");
    }));
});
