import { anAgentStatus } from "../../helpers/agent-status.ts";
import { cliProject, eventStream, snapshotOf } from "./fake-operator.ts";

const cli = cliProject();

/** A scheduler whose run never ends; null is one that waits. */
async function serve(instanceId: string | null): Promise<void> {
  const queued = instanceId === null;
  await cli.serve({
    "POST /control/trigger/dev": () => ({ triggerId: "t1", instanceId, queued }),
    "GET /api/stats/triggers/t1/calls": () => ({
      entries: [{ id: "t1", instanceId, outcome: null }],
    }),
    "GET /control/status": () => snapshotOf([anAgentStatus("dev", { running: 1 })]),
    "GET /dashboard/api/logs/dev/stream": (_request, response) => {
      const entry = { level: 30, time: Date.now(), msg: "hello", agent: "dev", instanceId };
      eventStream(response)("log", "f:1", entry);
    },
  });
}

test("Ctrl-C prints that the run continues, how to follow it, and how to end it", async () => {
  await serve("dev-abcd2345");
  const { code, stderr } = await cli.interrupt(["run", "dev"], /hello/);
  expect(code).toBe(130);
  expect(stderr).toBe(
    "the run continues in the scheduler: al logs dev -i dev-abcd2345 -f follows it, al kill dev-abcd2345 ends it\n",
  );
});

test("Ctrl-C on a waiting run prints that it still waits", async () => {
  await serve(null);
  const { code, stderr } = await cli.interrupt(["run", "dev"], /waits for its turn/);
  expect(code).toBe(130);
  expect(stderr).toContain("the run is still queued in the scheduler: al history -a dev shows");
});
