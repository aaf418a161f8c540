import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { NEVER } from "rxjs";
import { connectEngine } from "../../../../src/runtime/runners/container/engine.ts";
import { createReconciler } from "../../../../src/runtime/runners/container/reconcile.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { adoptionContract, leftBy } from "../adoption.ts";
import { collected, messagesOf } from "../contract.ts";
import { testEngine } from "../../../helpers/docker.ts";
import { aRequest, end, forever, log } from "../shell-runs.ts";
import { aProject, aRunner, containersOf, memoryRecords } from "./support.ts";

const { engine, missing } = await testEngine();
const entry = fileURLToPath(new URL("crashing-scheduler.ts", import.meta.url));

describe.skipIf(missing !== null)("a container run whose scheduler was killed", () => {
  const projectDir = aProject();
  const reconciler = createReconciler(engine, projectDir);
  let scheduler: ChildProcess | undefined;
  afterEach(async () => {
    scheduler?.kill("SIGKILL");
    await reconciler.reap(() => new Set());
  });

  function leave(request: RunRequest) {
    scheduler = spawn(process.execPath, [entry, projectDir, JSON.stringify(request)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    return leftBy(scheduler);
  }
  const leftovers = ({ instanceId }: RunRequest) => containersOf(engine, instanceId);
  const next = aRunner(engine, { projectDir });

  adoptionContract(() => ({
    leave,
    next,
    leftovers,
    hasEnded: async (request) => {
      const [id = ""] = await leftovers(request);
      return !(await engine.calls().getContainer(id).inspect()).State.Running;
    },
  }));

  test("does not see the end of its input when the scheduler dies", async () => {
    const request = aRequest(
      `read -r job; exec 3<&0; (read -r more <&3; echo ended) & ${log("ready")}; sleep 1; ${end()}`,
    );
    await leave(request);
    expect(messagesOf(await collected(next.resume({ request, last: null }, NEVER)))).toEqual([
      "ready",
    ]);
  });

  test("is removed instead of adopted if it had no output", async () => {
    const request = aRequest(forever);
    const { instanceId } = request;
    const run = aRunner(engine, { projectDir }).run(request, NEVER).subscribe();
    await expect.poll(() => leftovers(request)).toHaveLength(1);
    expect(await reconciler.find()).toEqual([]);
    expect(await reconciler.reap(() => new Set([instanceId]))).toEqual([]);
    expect(await reconciler.reap(() => new Set())).toEqual([instanceId]);
    expect(await leftovers(request)).toEqual([]);
    run.unsubscribe();
  });

  test("is adopted with the config of its start, and removed if not adopted", async () => {
    const request = aRequest(`${log("ready")}; ${forever}`);
    const { instanceId, agent } = request;
    await leave(request);
    const records = memoryRecords(request, aRequest("removed by somebody"));
    const runner = aRunner(engine, { projectDir, records });
    expect(await runner.adopt(["dev-other"])).toEqual([]);
    expect(await runner.adopt([instanceId])).toEqual([{ instanceId, agent }]);
    await runner.reap();
    expect(await leftovers(request)).toHaveLength(1);
    expect(await records.list()).toEqual([instanceId]);

    const without = aRunner(engine, { projectDir });
    expect(await without.adopt([instanceId])).toEqual([]);
    await without.reap();
    expect(await leftovers(request)).toEqual([]);
  });

  test("is not searched for without an engine and a record", async () => {
    const nowhere = connectEngine({ env: { DOCKER_HOST: "unix:///nowhere.sock" } });
    const runner = aRunner(nowhere, { projectDir });
    expect(await runner.adopt(["dev-1"])).toEqual([]);
    await expect(runner.reap()).rejects.toThrow("no container engine answers");
  });

  test("is neither found nor removed by other projects", async () => {
    const request = aRequest(`${log("ready")}; ${forever}`);
    await leave(request);
    const other = createReconciler(engine, aProject());
    expect(await other.find()).toEqual([]);
    expect(await other.reap(() => new Set())).toEqual([]);
    expect(await leftovers(request)).toHaveLength(1);
  });
});
