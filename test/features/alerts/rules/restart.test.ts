import { describe, expect, it } from "vitest";
import type { AlertCommand } from "../../../../src/features/alerts/rules/alert-rules.ts";
import type { AlertOptions } from "../../../../streams/alert-options.ts";
import { aProblem, eventsOf } from "../../../streams/status/events.ts";
import { defaultOptions, ended, runEvent, set, timeline } from "./alerts.ts";
import type { Timeline } from "./alerts.ts";

const [minute, hour] = [60_000, 3_600_000];
const dev = eventsOf("dev");
const invalid = runEvent(dev.invalid(aProblem()));
const unmet = runEvent(dev.requirements(aProblem()));
const broken = runEvent(dev.buildFinished("no such base image"));
const inContainer = runEvent(
  dev.set({ runtime: { type: "container", runAs: "$USER" }, dockerfileHash: "1" }),
);

/** A scheduler that applies the first commands and dies, and one that starts at `startedAt` and applies the others. */
function restarted(
  before: readonly (readonly [number, AlertCommand])[],
  startedAt: number,
  after: readonly (readonly [number, AlertCommand])[],
  options: Partial<AlertOptions> = {},
): { readonly first: Timeline; readonly second: Timeline } {
  const optionsOf = () => ({ ...defaultOptions, ...options });
  const first = timeline({ optionsOf });
  for (const [time, command] of before) first.at(time, command);
  // The first one died: its later alerts never came.
  const second = timeline({ optionsOf, startedAt, states: first.states() });
  for (const [time, command] of after) second.at(time, command);
  second.at(startedAt + 2 * minute);
  return { first, second };
}

describe("after a restart", () => {
  it("an open alert is not opened again, and resolves", () => {
    const before = [
      [0, set("dev")],
      [1, ended("dev")],
    ] as const;
    const { first, second } = restarted(before, hour, [
      [hour, set("dev")],
      [hour + 1, ended("dev")],
      [hour + 2, ended("dev", "succeeded")],
    ]);
    expect(first.sent()).toEqual(["1 ops dev runs opened 1"]);
    expect(second.sent()).toEqual([`${hour + 2} ops dev runs resolved 2`]);
    expect(second.states()).toEqual([]);
  });

  it("failures in a row continue to count", () => {
    const before = [
      [0, set("dev")],
      [1, ended("dev")],
      [2, ended("dev")],
    ] as const;
    const after = [
      [hour, set("dev")],
      [hour + 1, ended("dev")],
    ] as const;
    const { second } = restarted(before, hour, after, { after: 3 });
    expect(second.sent()).toEqual([`${hour + 1} ops dev runs opened 3`]);
  });

  it("a run that was lost counts before its agent is loaded", () => {
    const lost: AlertCommand = {
      type: "lost",
      item: { id: "1", agent: "dev", at: 0, attempt: 2, trigger: { kind: "manual", prompt: null } },
      instanceId: "dev-1",
      outcome: "lost",
      reason: "the scheduler ended while it ran",
      isRetried: false,
    };
    const after = [
      [hour, lost],
      [hour + 1, set("dev")],
    ] as const;
    const { second } = restarted([[0, ended("dev")]], hour, after, { after: 2 });
    expect(second.sent()).toEqual([
      `${hour} ops dev runs opened 2`,
      `${hour} ops dev dead_letters opened 1`,
    ]);
  });

  it("a reminder that is overdue comes once", () => {
    const before = [
      [0, set("dev")],
      [1, ended("dev")],
    ] as const;
    const { second } = restarted(before, 9.5 * hour, [[9.5 * hour, set("dev")]], {
      remindMs: hour,
    });
    expect(second.sent()).toEqual([`${9.5 * hour} ops dev runs reminder 1`]);
    second.at(11 * hour);
    expect(second.sent()).toHaveLength(2);
  });

  it("an acknowledged alert sends no reminder, and still has who acknowledged it", () => {
    const ack = { by: "anna", at: 2, until: null };
    const before = [
      [0, set("dev")],
      [1, ended("dev")],
      [2, { type: "acknowledge", agent: "dev", topic: "runs", ack }],
    ] as const;
    const { second } = restarted(before, hour, [[hour, set("dev")]], { remindMs: minute });
    expect(second.sent()).toEqual([]);
    expect(second.rules.open()).toMatchObject([{ agent: "dev", topic: "runs", ack }]);
  });

  it("a removed agent is forgotten without an alert", () => {
    const before = [
      [0, set("dev")],
      [1, ended("dev")],
      [2, unmet],
      [2 * minute, unmet],
    ] as const;
    const { second } = restarted(before, hour, []);
    expect([second.sent(), second.states(), second.rules.openCount()]).toEqual([[], [], 0]);
  });

  it("an agent that was disabled meanwhile is forgotten without an alert", () => {
    const before = [
      [0, set("dev")],
      [1, ended("dev")],
    ] as const;
    const { second } = restarted(before, hour, [[hour, runEvent(dev.set({ scale: 0 }))]]);
    expect([second.sent(), second.states()]).toEqual([[], []]);
  });

  it.each<[string, AlertCommand, AlertCommand, readonly AlertCommand[]]>([
    ["config", set("dev"), invalid, [set("dev")]],
    ["image", inContainer, broken, [inContainer, runEvent(dev.buildFinished())]],
    ["image", inContainer, broken, [set("dev")]],
  ])("a fault that was fixed meanwhile is resolved: %s", (topic, loaded, wrong, mended) => {
    const before = [
      [0, loaded],
      [1, wrong],
      [2 * minute, wrong],
    ] as const;
    const after = mended.map((command) => [hour, command] as const);
    const { first, second } = restarted(before, hour, after);
    expect(first.sent()).toEqual([`${minute + 1} ops dev ${topic} opened 1`]);
    expect(second.sent()).toEqual([`${hour} ops dev ${topic} resolved 1`]);
  });

  it("a requirement that is met again, and so never reported, is resolved after a minute", () => {
    const before = [
      [0, set("dev")],
      [1, unmet],
      [2 * minute, unmet],
    ] as const;
    const { second } = restarted(before, hour, [[hour, set("dev")]], { remindMs: minute });
    expect(second.sent()).toEqual([`${hour + minute} ops dev credentials resolved 1`]);
  });

  it("a lasting fault is not alerted again", () => {
    const before = [
      [0, set("dev")],
      [1, unmet],
      [2, invalid],
      [2 * minute, invalid],
    ] as const;
    const after = [
      [hour, invalid],
      [hour + 1, unmet],
    ] as const;
    const { first, second } = restarted(before, hour, after);
    expect(first.sent()).toHaveLength(2);
    expect(second.sent()).toEqual([]);
    expect(second.rules.openCount()).toBe(2);
  });

  it("the alert of an image that builds for longer than a minute is not resolved early", () => {
    const before = [
      [0, inContainer],
      [1, broken],
      [2 * minute, broken],
    ] as const;
    const { second } = restarted(before, hour, [[hour, inContainer]], { remindMs: minute });
    expect(second.sent()).toEqual([]);
    second.at(hour + 9 * minute, runEvent(dev.buildFinished()));
    expect(second.sent()).toEqual([`${hour + 9 * minute} ops dev image resolved 1`]);
  });

  it("an error of the project's config is resolved unless it is reported again", () => {
    const before = [
      [0, { type: "project-config", error: "wrong" }],
      [hour, set("dev")],
    ] as const;
    const { second } = restarted(before, 2 * hour, []);
    expect(second.sent()).toEqual([`${2 * hour + minute} ops project config resolved 1`]);
  });

  it("the time without a success continues to count", () => {
    const before = [
      [0, set("dev")],
      [hour, ended("dev", "succeeded")],
    ] as const;
    const after = [[2 * hour, set("dev")]] as const;
    const { second } = restarted(before, 2 * hour, after, { noSuccessForMs: 48 * hour });
    second.at(60 * hour);
    expect(second.sent()).toEqual([`${49 * hour} ops dev no_success opened 1`]);
  });

  it("occurrences of an hour are alerted at its end", () => {
    const before = [0, 1, 2].map((time) => [time, runEvent(dev.refused("dropped"))] as const);
    const { second } = restarted(before, minute, [[minute, set("dev")]]);
    second.at(3 * hour);
    expect(second.sent()).toEqual([`${hour} ops dev dead_letters opened 2`]);
    expect(second.states()).toEqual([]);
  });

  it("an unreadable state counts as missing", () => {
    const states = ["runs", "dead_letters", "digest:ops", "budget:day", "no-rule"].flatMap((rule) =>
      ["", "{", '{"since":"today"}'].map((value) => ({ agent: "dev", rule, value })),
    );
    const line = timeline({ states });
    line.at(0, set("dev"), ended("dev"));
    expect(line.sent()).toEqual(["0 ops dev runs opened 1"]);
  });
});
