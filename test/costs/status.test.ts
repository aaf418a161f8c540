import { statusEvents } from "../../src/interfaces/gateway/routes/status.ts";
import { fakeOperations } from "../helpers/fake-operations.ts";

test("a status snapshot is serialized once for 100 clients that connect between two changes", () => {
  const operations = fakeOperations([{ name: "dev" }]);
  const event$ = statusEvents(operations)();
  const stringify = vi.spyOn(JSON, "stringify");
  onTestFinished(() => stringify.mockRestore());
  const snapshots: string[] = [];
  const come = (): void => {
    const client = event$.subscribe((text) => snapshots.push(text));
    onTestFinished(() => client.unsubscribe());
  };
  for (let client = 0; client < 100; client++) come();
  expect(stringify).toHaveBeenCalledTimes(1);
  // What was kept must not outlive an event.
  operations.setAgent({ name: "dev", state: "running" });
  come();
  expect(stringify.mock.calls.length).toBeGreaterThan(1);
  expect(snapshots.at(-1)).toMatch(/event: snapshot\n.*"running"/);
});
