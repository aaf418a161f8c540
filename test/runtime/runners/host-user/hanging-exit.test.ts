import { existsSync } from "node:fs";
import { NEVER } from "rxjs";
import { logPathOf, readRunRecord } from "../../../../src/runtime/runners/host-user/run-files.ts";
import { collected, exitOf } from "../contract.ts";
import { aRequest, end } from "../shell-runs.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { aRunner, supervisorProgram } from "./support.ts";

test("a run ends once the end is in its log, even if its supervisor never exits", async () => {
  const baseDir = tempDir();
  const request = aRequest(end());
  const { file, args } = supervisorProgram("dev");
  const shell = ["-c", '"$0" "$@"; exec sleep 600', file, ...args];
  const runner = aRunner(baseDir, { runAgent: () => ({ file: "/bin/sh", args: shell }) });
  const events = await collected(runner.run(request, NEVER));
  expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null });
  const record = await readRunRecord(logPathOf(baseDir, request.instanceId));
  await expect.poll(() => existsSync(`/proc/${record?.process.pid}`)).toBe(false);
});
