import fc from "fast-check";
import type { AlertCommand } from "../../../../src/features/alerts/rules/alert-rules.ts";
import { aProblem, eventsOf } from "../../../streams/status/events.ts";
import { defaultOptions, ended, runEvent, set, timeline, type Timeline } from "./alerts.ts";

const [minute, hour] = [60_000, 3_600_000];
const optionsOf = () => ({
  ...defaultOptions,
  after: 2,
  remindMs: 1.5 * hour,
  noSuccessForMs: 5 * hour,
});

/** The state of an agent in its files. */
interface Truth {
  isValid: boolean;
  isComplete: boolean;
  isEnabled: boolean;
}

const newTruth = (): Truth => ({ isValid: true, isComplete: true, isEnabled: true });

type Act = (agent: string, truth: Truth) => AlertCommand;

/** Changes the truth, and gives its event. */
const sets =
  (change: Partial<Truth>, event: (agent: string) => AlertCommand): Act =>
  (agent, truth) => {
    Object.assign(truth, change);
    return event(agent);
  };

const invalid = (agent: string): AlertCommand => runEvent(eventsOf(agent).invalid(aProblem()));
const unmet = (agent: string): AlertCommand => runEvent(eventsOf(agent).requirements(aProblem()));
const enabled = (is: boolean) => (agent: string) => runEvent(eventsOf(agent).enabled(is));

const acts: Readonly<Record<string, Act>> = {
  fail: (agent) => ended(agent),
  succeed: (agent) => ended(agent, "succeeded"),
  kill: (agent) => ended(agent, "killed"),
  break: sets({ isValid: false }, invalid),
  fix: sets({ isValid: true }, set),
  lose: sets({ isComplete: false }, unmet),
  find: sets({ isComplete: true }, (agent) => runEvent(eventsOf(agent).requirements())),
  disable: sets({ isEnabled: false }, enabled(false)),
  enable: sets({ isEnabled: true }, enabled(true)),
};

/** The events of an agent at the start of a scheduler. */
function asLoaded(agent: string, { isValid, isComplete, isEnabled }: Truth): AlertCommand[] {
  return [
    isValid ? set(agent) : invalid(agent),
    ...(isEnabled ? [] : [enabled(false)(agent)]),
    ...(isComplete ? [] : [unmet(agent)]),
  ];
}

const step = fc.record({
  waitMinutes: fc.integer({ min: 2, max: 150 }),
  agent: fc.constantFrom("dev", "ops"),
  act: fc.constantFrom(...Object.keys(acts), "fail", "fail", "fail"),
  restarts: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The alerts, with their times, sorted, of steps in which the scheduler restarts as they say, or never. */
function alertsOf(steps: readonly Step[], mayRestart: boolean): readonly string[] {
  const alerts: string[] = [];
  const truths = new Map(["dev", "ops"].map((agent) => [agent, newTruth()]));
  const loaded = (): AlertCommand[] => [...truths].flatMap(([agent, of]) => asLoaded(agent, of));
  const take = ({ deliveries }: Timeline) => {
    for (const { alert } of deliveries.values()) {
      const { at, agent, topic, phase, count, since } = alert;
      alerts.push([at, agent, topic, phase, count, since].join(" "));
    }
  };
  let line = timeline({ optionsOf });
  line.at(0, ...loaded());
  let now = 0;
  for (const { waitMinutes, agent, act, restarts } of steps) {
    now += waitMinutes * minute;
    line.at(now);
    if (restarts && mayRestart) {
      take(line);
      line = timeline({ optionsOf, startedAt: now, states: line.states() });
      line.at(now, ...loaded());
    }
    const truth = truths.get(agent);
    const command = truth && acts[act]?.(agent, truth);
    if (command) line.at(now + minute, command);
  }
  line.at(now + hour);
  take(line);
  return alerts.toSorted();
}

test("a restarted scheduler raises the same alerts at the same times as a scheduler that never stops", () =>
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      expect(alertsOf(steps, true)).toEqual(alertsOf(steps, false));
    }),
    { numRuns: 500 },
  ));
