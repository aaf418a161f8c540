import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventStream, makeFolders, startFakeOperator } from "../fake-operator.ts";
import type { FakeOperator, Folders } from "../fake-operator.ts";

let folders: Folders;
let operator: FakeOperator;
beforeEach(() => void (folders = makeFolders()));
afterEach(async () => {
  await operator.close();
  folders.remove();
});

const instanceId = "dev-abcd2345";

test("a scheduler that hangs up in the middle of an answer leaves the run's end in the log", async () => {
  operator = await startFakeOperator(folders, {
    "POST /control/trigger/dev": () => ({ triggerId: "t1", instanceId, queued: false }),
    "GET /dashboard/api/logs/dev/stream": (_request, response) => void eventStream(response),
    "GET /api/stats/triggers/t1/calls": (_request, response) => {
      const dir = join(folders.projectDir, ".al/logs");
      const end = { kind: "run", outcome: "killed", exitCode: 137, durationMs: 100 };
      const entry = {
        level: 40,
        time: Date.now(),
        msg: "killed",
        agent: "dev",
        instanceId,
        ...end,
      };
      mkdirSync(dir, { recursive: true });
      const day = new Date().toISOString().slice(0, 10);
      writeFileSync(join(dir, `dev-${day}.log`), `${JSON.stringify(entry)}\n`);
      response.destroy();
    },
  });
  const { code, stderr } = await folders.al(["run", "dev"]);
  expect({ code, stderr }).toEqual({ code: 137, stderr: `${instanceId} killed after 100 ms\n` });
});
