import { filter, map } from "rxjs";
import { createAlertRules } from "../../../../src/features/alerts/rules/alert-rules.ts";
import type { AlertCommand } from "../../../../src/features/alerts/rules/alert-rules.ts";
import type { AlertOptions } from "../../../../streams/alert-options.ts";
import type { RunEvent } from "../../../../streams/vocabulary.ts";
import { marbles, minutes } from "../../../helpers/marbles.ts";
import { driven } from "../../../runtime/runs/rules/driven.ts";
import { aProblem, eventsOf } from "../../../streams/status/events.ts";
import {
  agentCommands,
  defaultOptions,
  ended,
  rulesDeps,
  runEvent,
  set,
  shortly,
  timeline,
} from "./alerts.ts";

const dev = eventsOf("dev");
const minute = 60_000;

function acknowledge(until: number | null, isUndone = false): AlertCommand {
  const ack = isUndone ? null : { by: "anna", at: 0, until };
  return { type: "acknowledge", agent: "dev", topic: null, ack };
}

const commands: Record<string, AlertCommand> = {
  ...agentCommands,
  a: acknowledge(null),
  A: acknowledge(null, true),
  h: acknowledge(9 * minute),
};

const alerts = {
  "1": "dev runs opened 1",
  "2": "dev runs opened 2",
  D: "dev runs opened 1,dev dead_letters opened 1",
  R: "dev runs reminder 1",
  E: "dev runs reminder 3",
  o: "dev runs resolved 1",
  O: "dev runs resolved 2",
  Q: "dev runs resolved 3",
  c: "dev config opened 1",
  C: "dev config resolved 1",
  g: "dev config reminder 1",
  p: "project config opened 1",
  P: "project config resolved 1",
  f: "dev image opened 1",
  F: "dev image resolved 1",
  u: "dev credentials opened 1",
  U: "dev credentials resolved 1",
  y: "dev blocked opened 1",
  Y: "dev blocked resolved 1",
  n: "dev no_success opened 1",
  N: "dev no_success resolved 1",
  B: "dev runs resolved 1,dev no_success resolved 1",
};

/** The alerts that commands lead to; a column of a diagram is a minute. */
function expectAlerts(done: string, alerted: string, options: Partial<AlertOptions> = {}): void {
  marbles(({ cold, expectObservable, scheduler }) => {
    const optionsOf = () => ({ ...defaultOptions, ...options });
    const command$ = cold(minutes(done), commands);
    const event$ = driven(command$, () => createAlertRules(rulesDeps({ optionsOf })), scheduler);
    const alert$ = event$.pipe(
      map(({ deliveries }) => deliveries.map(({ alert }) => shortly(alert)).join()),
      filter((text) => text !== ""),
    );
    expectObservable(alert$, "120m !").toBe(minutes(alerted), alerts);
  });
}

test.each([
  ["raises an alert once, and one more when it succeeds", "sxxxoo", "-1--Q"],
  ["raises an alert for each kind of failure", "stomobo", "-1o1oDo"],
  ["raises no alert for runs that a person ended", "skiS-", ""],
  ["does not recover by runs that a person ended", "sxkiSo", "-1---o"],
  ["raises no alert for a run that is tried again", "slo", ""],
  ["raises an alert for a run whose last attempt was lost, and its work", "slLo", "--Do"],
])("an agent whose runs fail %s", (_, done, alerted) => expectAlerts(done, alerted));

test("an agent whose runs fail is alerted after the configured number of failures in a row", () =>
  expectAlerts("sxoxxo", "----2O", { after: 2 }));

test("a reminder counts the failures since the last alert", () =>
  expectAlerts("sxxx---o", "-1----EQ", { remindMs: 5 * minute }));

test.each([
  ["that is acknowledged is not repeated, and resolves", "sxa-x----o", "-1-------O"],
  ["is repeated once its acknowledgement is taken back", "sxa-----A-o", "-1------R-o"],
  [
    "that is snoozed is repeated from the end of the snooze on",
    "sxh------------o",
    "-1-------R----Ro",
  ],
  ["can't be acknowledged before it is alerted", "sa-x--------o", "---1----R---o"],
  [
    "that is acknowledged opens anew once the agent is enabled again",
    "sc----a-d-e------C",
    "--c--------c----gC",
  ],
])("an alert about failures %s", (_, done, alerted) =>
  expectAlerts(done, alerted, { remindMs: 5 * minute }),
);

test("an alert about failures is closed silently when its agent is disabled or removed", () => {
  expectAlerts("sxd---xeo", "-1", { remindMs: 5 * minute });
  expectAlerts("sxr----so", "-1", { remindMs: 5 * minute });
});

test.each([
  ["an agent's invalid config", "sc--C", "--c-C"],
  ["an invalid config after a short fix", "s(cC)c--C", "------c-C"],
  ["the project's invalid config", "p--P", "-p-P"],
  ["an agent's failed image build", "sf--F", "--f-F"],
  ["missing requirements of an agent", "su--U", "--u-U"],
  ["a machine that can't start its runs", "sy-yY", "--y-Y"],
  ["a machine that can't start one of two runs", "s(yz)YZ", "--y---Y"],
  ["an invalid config of an agent that is disabled later", "sc-d--C", "--c"],
  ["an invalid config of an agent that is enabled later", "sdc---e--C", "-------c-C"],
])("a fault that lasts over a minute is alerted: %s", (_, done, alerted) =>
  expectAlerts(done, alerted),
);

test.each([
  ["a machine that can't start runs for less than a minute", "s(yY)"],
  ["a warning about requirements", "sw--U"],
  ["an invalid config of a disabled agent", "sdc--C"],
])("%s is not alerted", (_, done) => expectAlerts(done, ""));

const options = { noSuccessForMs: 5 * minute };

test.each([
  ["is alerted if it has never succeeded", "s", "-----n"],
  ["is alerted five minutes after its last success", "so-o------or", "--------n-N"],
  ["is alerted though its runs fail, too", "sx----or", "-1---nB"],
  ["is not alerted while it is disabled", "sd-----e------or", "------------n-N"],
  ["is not alerted once it is removed", "sr", ""],
])("an agent that is to succeed every five minutes %s", (_, done, alerted) =>
  expectAlerts(done, alerted, options),
);

test("a key that the provider refuses is one alert of the project for twelve agents, and is resolved once", () => {
  const line = timeline();
  const shared = "model can't be used: OAuth token has expired";
  const agents = Array.from({ length: 12 }, (_, nth) => eventsOf(`a${nth}`));
  const each = (make: (agent: (typeof agents)[number]) => RunEvent) =>
    agents.map(make).map(runEvent);
  line.at(0, ...each((agent) => agent.set()));
  line.at(
    minute,
    ...each(({ finished }) => {
      const event = finished("failed");
      return event.type === "finished"
        ? { ...event, end: { ...event.end, isKeyRefused: true } }
        : event;
    }),
  );
  line.at(minute, ...each((agent) => agent.requirements(aProblem({ shared }))));
  line.at(2 * minute, ...each(({ finished }) => finished("rejected")));
  line.at(3 * minute, ...each((agent) => agent.requirements()));
  const found = line.sent().map((one) => one.replace(/^\d+ /, ""));
  expect(found).toEqual(["ops project credentials opened 1", "ops project credentials resolved 1"]);
});

test("open alerts are listed, the oldest first", () => {
  const rules = createAlertRules(rulesDeps());
  rules.apply(set("dev"), 0);
  rules.apply(set("ops"), 0);
  rules.apply(ended("ops", "failed", "no reason"), 10);
  rules.apply(ended("dev", "failed", "first"), 20);
  rules.apply(ended("ops", "failed", "last"), 30);
  expect(rules.open()).toEqual([
    { agent: "ops", topic: "runs", since: 10, count: 2, reason: "last", ack: null },
    { agent: "dev", topic: "runs", since: 20, count: 1, reason: "first", ack: null },
  ]);
  rules.apply(ended("ops", "succeeded"), 40);
  rules.apply(runEvent(dev.enabled(false)), 50);
  expect([rules.open(), rules.openCount()]).toEqual([[], 0]);
});
