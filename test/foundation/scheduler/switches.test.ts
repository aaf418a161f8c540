import { BehaviorSubject, Subject } from "rxjs";
import { createSwitches, type Switches } from "../../../src/foundation/scheduler/switches.ts";

function listened(): { readonly switches: Switches; readonly told: unknown[] } {
  const told: unknown[] = [];
  const enabled$ = new Subject<{ readonly agent: string; readonly enabled: boolean }>();
  enabled$.subscribe((change) => told.push(change));
  const settings = {
    disabledAgents: () => new Set<string>(),
    setDisabled: () => Promise.resolve(),
    setPause: () => Promise.resolve(),
  };
  const [paused$, workPausedAfter$] = [
    new BehaviorSubject(false),
    new BehaviorSubject<number | null>(null),
  ];
  const inputs = { enabled$, paused$, workPausedAfter$ };
  const store = { settings, waitingWork: { lastPlace: () => 7 } };
  const switches = createSwitches(store, inputs, ({ schedules, work }) =>
    told.push(work ? ["work", workPausedAfter$.value] : schedules),
  );
  return { switches, told };
}

test("enabling an enabled agent, or resuming a scheduler that is not paused, changes nothing", async () => {
  const { switches, told } = listened();
  await Promise.all([switches.setEnabled("dev", true), switches.setPaused(false)]);
  await Promise.all([switches.setEnabled("dev", false), switches.setEnabled("dev", false)]);
  expect(told).toEqual([{ agent: "dev", enabled: false }]);
});

test("if a scheduler is paused and resumed concurrently, the later request takes effect", async () => {
  const { switches, told } = listened();
  await Promise.all([switches.setEnabled("dev", false), switches.setEnabled("dev", true)]);
  await Promise.all([switches.setPaused(true), switches.setPaused(false)]);
  expect(switches.isEnabled("dev")).toBe(true);
  expect(told.slice(2)).toEqual([true, false]);
});

test("pausing only the schedules keeps work that was paused before paused until a resume", async () => {
  const { switches, told } = listened();
  await switches.setPaused(true);
  await switches.setPaused(true, true);
  await switches.setPaused(true);
  await switches.setPaused(false, true);
  expect(told).toEqual([true, ["work", 7], false]);
});
