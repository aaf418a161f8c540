import { statusEvents } from "../../src/interfaces/gateway/routes/status.ts";
import { createStatusStore } from "../../src/foundation/scheduler/status-store.ts";
import type { StatusStore } from "../../src/foundation/scheduler/status-store.ts";
import type { Operations } from "../../src/interfaces/operations/operations.ts";
import { fakeOperations } from "../helpers/fake-operations.ts";
import { schedulerStatus } from "../streams/status/board.ts";
import { eventsOf } from "../streams/status/events.ts";
import { pause } from "../helpers/pause.ts";

const agentOf = (n: number): string => `agent-${String(n).padStart(4, "0")}`;

/** A board that knows so many agents. */
function boardOf(agents: number): StatusStore {
  const board = createStatusStore(schedulerStatus, () => ({}));
  for (let n = 0; n < agents; n++) board.apply(eventsOf(agentOf(n)).set());
  return board;
}

function operationsOf(board: StatusStore): Operations {
  return { ...fakeOperations(), update$: board.update$, snapshot: () => board.snapshot() };
}

interface Told {
  /** Bytes that each client was sent after its snapshot. */
  readonly texts: readonly (readonly string[])[];
  readonly serialized: number;
}

/** Has one agent run once while so many clients read. */
async function oneRun(agents: number, clients: number): Promise<Told> {
  const board = boardOf(agents);
  const event$ = statusEvents(operationsOf(board))();
  const texts = Array.from({ length: clients }, (): string[] => []);
  const open = texts.map((own) => event$.subscribe((text) => own.push(text)));
  await pause(0, "the clients have their first texts");
  const stringify = vi.spyOn(JSON, "stringify");
  onTestFinished(() => stringify.mockRestore());
  const { started, finished } = eventsOf(agentOf(7));
  board.apply(started());
  await pause(20, "the next change is one of its own");
  board.apply(finished());
  // What follows the first change is gathered for 100 ms.
  await pause(200, "changes are gathered for 100 ms");
  const serialized = stringify.mock.calls.length;
  stringify.mockRestore();
  for (const one of open) one.unsubscribe();
  return { texts: texts.map((own) => own.slice(1)), serialized };
}

const bytesOf = ({ texts }: Told): number => Buffer.byteLength((texts[0] ?? []).join(""));

test("a run is sent to a client in as many events and bytes with 1,000 agents as with 10", async () => {
  const few = await oneRun(10, 1);
  const many = await oneRun(1_000, 1);
  expect(few.texts[0]?.length).toBe(2);
  expect(many.texts[0]?.length).toBe(2);
  // Lines are numbered.
  expect(bytesOf(many)).toBeLessThan(bytesOf(few) + 20);
  expect(bytesOf(many) / 2).toBeLessThan(1_024);
});

test("a change is serialized once for 100 clients", async () => {
  const one = await oneRun(10, 1);
  const hundred = await oneRun(10, 100);
  expect(one.serialized).toBe(2);
  expect(hundred.serialized).toBe(2);
  expect(new Set(hundred.texts.map((own) => own.join(""))).size).toBe(1);
});

test("a snapshot is serialized once for 100 clients that connect between two changes", () => {
  const board = boardOf(10);
  const event$ = statusEvents(operationsOf(board))();
  const stringify = vi.spyOn(JSON, "stringify");
  onTestFinished(() => stringify.mockRestore());
  const snapshots: string[] = [];
  const come = (): void => {
    const client = event$.subscribe((text) => snapshots.push(text));
    onTestFinished(() => client.unsubscribe());
  };
  for (let client = 0; client < 100; client++) come();
  expect(stringify).toHaveBeenCalledTimes(1);
  // The maps of the state are changed in place: what was kept must not outlive an event.
  board.apply(eventsOf(agentOf(7)).started());
  come();
  expect(stringify).toHaveBeenCalledTimes(2);
  expect(snapshots.at(-1)).not.toBe(snapshots[0]);
  expect(board.snapshot().agents[7]).toMatchObject({ state: "running" });
});
