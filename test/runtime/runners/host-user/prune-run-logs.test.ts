import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom, NEVER } from "rxjs";
import { identityOf } from "../../../../src/runtime/runners/host-user/process-identity.ts";
import { pruneRunLogs } from "../../../../src/runtime/runners/host-user/prune-run-logs.ts";
import { logPathOf, readRunRecord } from "../../../../src/runtime/runners/host-user/run-files.ts";
import { runLogLine } from "../../../../src/runtime/runners/host-user/run-log.ts";
import { anAgent } from "../../../helpers/agents.ts";
import { aRequest, end } from "../shell-runs.ts";
import { aRunner, projectDir as schedulersProject } from "./support.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const day = 86_400_000;
const now = 100 * day;
const projectDir = "/some/project";
let dir: string;
beforeEach(() => void (dir = tempDir()));

async function aLog(name: string, ageDays: number, text: string): Promise<void> {
  const path = join(dir, name);
  await writeFile(path, text);
  await utimes(path, (now - ageDays * day) / 1000, (now - ageDays * day) / 1000);
}

/** The beginning of the log of a run whose process is this one, so that it lives. */
const living = runLogLine(
  "run",
  JSON.stringify({ agent: anAgent("dev"), process: identityOf(process.pid) }),
);

/** The beginning of the log of a run that is over. */
const overOf = (project: string) =>
  runLogLine(
    "run",
    JSON.stringify({ agent: anAgent("dev"), project, process: { pid: 1, start: null } }),
  );

test("the logs of runs are deleted after their days, but not while the run lives", async () => {
  await aLog("dev-old.log", 15, "12345");
  await aLog("dev-long.log", 16, living);
  await aLog("dev-new.log", 13, "123");
  const left = await pruneRunLogs(dir, { projectDir, now, days: 14, maxBytes: 1e9 });
  expect((await readdir(dir)).sort()).toEqual(["dev-long.log", "dev-new.log"]);
  expect(left).toBe(living.length + 3);
});

test("the logs of runs are deleted above the size limit, the oldest first", async () => {
  await aLog("dev-3.log", 3, "333");
  await aLog("dev-1.log", 1, "1");
  await aLog("dev-2.log", 2, "22");
  expect(await pruneRunLogs(dir, { projectDir, now, days: 14, maxBytes: 3 })).toBe(3);
  expect((await readdir(dir)).sort()).toEqual(["dev-1.log", "dev-2.log"]);
});

test("the logs of runs name their project", async () => {
  const request = aRequest(end());
  await lastValueFrom(aRunner(dir).run(request, NEVER));
  const record = await readRunRecord(logPathOf(dir, request.instanceId));
  expect(record?.project).toBe(schedulersProject);
});

test("the logs of runs of another project are kept but count; those of a deleted one are deleted", async () => {
  await aLog("dev-own.log", 15, overOf(projectDir));
  await aLog("dev-other.log", 99, overOf(dir));
  await aLog("dev-gone.log", 15, overOf(join(dir, "gone")));
  await aLog("dev-new.log", 1, "123");
  expect(await pruneRunLogs(dir, { projectDir, now, days: 14, maxBytes: 3 })).toBe(3);
  expect((await readdir(dir)).sort()).toEqual(["dev-new.log", "dev-other.log"]);
});

test("the logs of runs are the only files deleted: working directories belong to runs", async () => {
  await mkdir(join(dir, "dev-1"));
  await mkdir(join(dir, "dev-1.log"));
  await aLog("notes.txt", 99, "x");
  await pruneRunLogs(dir, { projectDir, now, days: 14, maxBytes: 0 });
  expect((await readdir(dir)).sort()).toEqual(["dev-1", "dev-1.log", "notes.txt"]);
});

test("the logs of runs may be missing", async () => {
  expect(await pruneRunLogs(join(dir, "none"), { projectDir, now, days: 14, maxBytes: 0 })).toBe(0);
});
