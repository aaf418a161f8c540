import { BehaviorSubject, Subject } from "rxjs";
import { createSwitches, type Switches } from "../../../src/foundation/scheduler/switches.ts";

function listened(): { readonly switches: Switches; readonly told: unknown[] } {
  const told: unknown[] = [];
  const enabled$ = new Subject<{ readonly agent: string; readonly enabled: boolean }>();
  enabled$.subscribe((change) => told.push(change));
  const settings = {
    disabledAgents: () => new Set<string>(),
    setDisabled: () => Promise.resolve(),
    setPaused: () => Promise.resolve(),
  };
  const inputs = { enabled$, paused$: new BehaviorSubject(false) };
  return { switches: createSwitches(settings, inputs, (paused) => told.push(paused)), told };
}

test("a repeated switch changes nothing", async () => {
  const { switches, told } = listened();
  await Promise.all([switches.setEnabled("dev", true), switches.setPaused(false)]);
  await Promise.all([switches.setEnabled("dev", false), switches.setEnabled("dev", false)]);
  expect(told).toEqual([{ agent: "dev", enabled: false }]);
});

test("of two concurrent switches, the later one holds", async () => {
  const { switches, told } = listened();
  await Promise.all([switches.setEnabled("dev", false), switches.setEnabled("dev", true)]);
  await Promise.all([switches.setPaused(true), switches.setPaused(false)]);
  expect(switches.isEnabled("dev")).toBe(true);
  expect(told.slice(2)).toEqual([true, false]);
});
