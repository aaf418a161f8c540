import { setTimeout as sleep } from "node:timers/promises";
import { cliProject } from "./fake-operator.ts";

const cli = cliProject();

/** A scheduler that is gone some 400 ms after it was asked to stop; what it was asked with. */
async function serve(running: number): Promise<unknown[]> {
  const asked: unknown[] = [];
  const fake = await cli.serve({
    "POST /control/stop": ({ body }) => {
      asked.push(body);
      void sleep(400).then(() => fake.close());
      return { success: true, running };
    },
  });
  return asked;
}

test("al stop returns once the scheduler has released the project", async () => {
  const asked = await serve(0);
  const startedAt = performance.now();
  expect(await cli.al(["stop"])).toEqual({ code: 0, stdout: "stopped\n", stderr: "" });
  expect(performance.now() - startedAt).toBeGreaterThan(400);
  expect(asked).toEqual([{ now: false }]);
});

test("al stop names the runs that it waits for", async () => {
  await serve(2);
  const { stdout, stderr } = await cli.al(["stop"]);
  expect(stdout).toBe("stopped\n");
  expect(stderr).toMatch(/^stopping: 2 runs may finish within the grace period; al stop --now/);
});

test("al stop --now ends the runs", async () => {
  const asked = await serve(1);
  const { stdout, stderr } = await cli.al(["stop", "--now", "--json"]);
  expect(JSON.parse(stdout)).toEqual({ success: true, running: 1 });
  expect(stderr).toBe("stopping: 1 run ended …\n");
  expect(asked).toEqual([{ now: true }]);
});
