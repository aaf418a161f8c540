import type { AlertCommand } from "../../../../src/features/alerts/rules/alert-rules.ts";
import type { AlertOptions } from "../../../../streams/alert-options.ts";
import { eventsOf } from "../../../streams/status/events.ts";
import {
  agentCommands,
  defaultOptions,
  ended,
  runEvent,
  set,
  shortly,
  timeline,
} from "./alerts.ts";
import type { Timeline } from "./alerts.ts";

const minute = 60_000;
const restartAt = 60 * minute;
const dev = eventsOf("dev");
const ack = { by: "anna", at: 2, until: null };
const container = { runtime: { type: "container", runAs: "$USER" }, dockerfileHash: "1" } as const;

const commands: Readonly<Record<string, AlertCommand>> = {
  ...agentCommands,
  i: runEvent(dev.set(container)),
  d: runEvent(dev.set({ scale: 0 })),
  q: runEvent(dev.refused("dropped")),
  a: { type: "acknowledge", agent: "dev", topic: "runs", ack },
};

/** Applies the commands of a diagram, whose columns are minutes. */
function apply(line: Timeline, from: number, diagram: string): void {
  for (const [column, letter] of diagram.split("").entries()) {
    const command = commands[letter];
    line.at(from + column * minute, ...(command === undefined ? [] : [command]));
  }
}

/** A scheduler after commands and the death of an earlier one. */
function restarted(before: string, after: string, options: Partial<AlertOptions> = {}) {
  const optionsOf = () => ({ ...defaultOptions, ...options });
  const first = timeline({ optionsOf });
  apply(first, 0, before);
  // The agent's later alerts never came.
  const second = timeline({ optionsOf, startedAt: restartAt, states: first.states() });
  apply(second, restartAt, after.padEnd(3, "-"));
  const sent = [...second.deliveries.values()].map(({ nextAt, alert }) =>
    [(nextAt - restartAt) / minute, shortly(alert)].join(" "),
  );
  return { second, sent };
}

describe("after a restart", () => {
  test.each<[string, string, string, string, Partial<AlertOptions>?]>([
    [
      "a run that was lost counts before its agent is loaded",
      "x",
      "Ls",
      "0 dev runs opened 2, 0 dev dead_letters opened 1",
      { after: 2 },
    ],
    [
      "a reminder that is overdue comes once",
      "sx",
      "s",
      "0 dev runs reminder 1",
      { remindMs: 30 * minute },
    ],
    ["an acknowledged alert sends no reminder", "sxa", "s", "", { remindMs: minute }],
    ["the alert about a fixed config is resolved", "sc-c", "s", "0 dev config resolved 1"],
    ["the alert about a built image is resolved", "if-f", "iF", "1 dev image resolved 1"],
    ["the alert about an unused image is resolved", "if-f", "s", "0 dev image resolved 1"],
    [
      "the alert about an image that builds for minutes is not resolved early",
      "if-f",
      "i--------F",
      "9 dev image resolved 1",
      { remindMs: minute },
    ],
    [
      "the alert about a requirement that is not reported again is resolved after a minute",
      "su-u",
      "s",
      "1 dev credentials resolved 1",
      { remindMs: minute },
    ],
    [
      "the alert about the project's config is resolved unless its error is reported again",
      "p-s",
      "",
      "1 project config resolved 1",
    ],
    ["dropped work of an hour is alerted at its end", "sqqq", "s", "1 dev dead_letters opened 2"],
  ])("%s", (_, before, after, alerts, options) => {
    expect(restarted(before, after, options).sent.join(", ")).toBe(alerts);
  });

  test.each([
    ["a removed agent", "sxu-u", ""],
    ["an agent that was disabled meanwhile", "sx", "d"],
  ])("%s is forgotten without an alert", (_, before, after) => {
    const { second, sent } = restarted(before, after);
    expect([sent, second.states(), second.rules.openCount()]).toEqual([[], [], 0]);
  });

  test("open alerts are listed with the person who acknowledged them", () => {
    const { rules } = restarted("sxa", "s").second;
    expect(rules.open()).toMatchObject([{ agent: "dev", topic: "runs", ack }]);
    expect(restarted("sc-c", "c").second.rules.openCount()).toBe(1);
  });

  test("an unreadable state of an alert counts as missing", () => {
    const states = ["runs", "dead_letters", "digest:ops", "budget:day", "no-rule"].flatMap((rule) =>
      ["", "{", '{"since":"today"}'].map((value) => ({ agent: "dev", rule, value })),
    );
    const line = timeline({ states });
    line.at(0, set("dev"), ended("dev"));
    expect(line.sent()).toEqual(["0 ops dev runs opened 1"]);
  });
});
