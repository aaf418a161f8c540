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
import { perTest } from "../../../helpers/per-test.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const dayMs = 86_400_000;
const now = 100 * dayMs;
const projectDir = "/some/project";
const dir = perTest(tempDir);

/** Writes logs of these ages in days, prunes, and resolves to the bytes that are left; names the files that are. */
async function pruned(
  logs: Readonly<Record<string, readonly [ageDays: number, text: string]>>,
  maxBytes = 1e9,
) {
  for (const [name, [ageDays, text]] of Object.entries(logs)) {
    const path = join(dir(), name);
    await writeFile(path, text);
    await utimes(path, (now - ageDays * dayMs) / 1000, (now - ageDays * dayMs) / 1000);
  }
  const bytes = await pruneRunLogs(dir(), { projectDir, now, days: 14, maxBytes });
  return { bytes, names: (await readdir(dir())).sort() };
}

/** The beginning of a run's log. */
const logOf = (record: object) =>
  runLogLine("run", JSON.stringify({ agent: anAgent("dev"), ...record }));
/** Its process is this one, so that it lives. */
const living = logOf({ process: identityOf(process.pid) });
const overOf = (project: string) => logOf({ project, process: { pid: 1, start: null } });

test("the logs of runs are deleted after 14 days, but not while the run lives", async () =>
  expect(
    await pruned({
      "dev-old.log": [15, "12345"],
      "dev-long.log": [16, living],
      "dev-new.log": [13, "123"],
    }),
  ).toEqual({ bytes: living.length + 3, names: ["dev-long.log", "dev-new.log"] }));

test("the logs of runs are deleted above the size limit, the oldest first", async () =>
  expect(
    await pruned({ "dev-3.log": [3, "333"], "dev-1.log": [1, "1"], "dev-2.log": [2, "22"] }, 3),
  ).toEqual({ bytes: 3, names: ["dev-1.log", "dev-2.log"] }));

test("the log of a run contains the project's path", async () => {
  const request = aRequest(end());
  await lastValueFrom(aRunner(dir()).run(request, NEVER));
  const record = await readRunRecord(logPathOf(dir(), request.instanceId));
  expect(record?.project).toBe(schedulersProject);
});

test("the logs of runs of another project are kept, but count towards the size limit", async () => {
  const logs = {
    "dev-own.log": [15, overOf(projectDir)],
    "dev-other.log": [99, overOf(dir())],
    "dev-gone.log": [15, overOf(join(dir(), "gone"))],
    "dev-new.log": [1, "123"],
  } as const;
  expect(await pruned(logs, 3)).toEqual({ bytes: 3, names: ["dev-new.log", "dev-other.log"] });
});

test("pruneRunLogs deletes no folders and no other files", async () => {
  await mkdir(join(dir(), "dev-1"));
  await mkdir(join(dir(), "dev-1.log"));
  const { names } = await pruned({ "notes.txt": [99, "x"] }, 0);
  expect(names).toEqual(["dev-1", "dev-1.log", "notes.txt"]);
});

test("pruneRunLogs returns 0 for a missing folder", async () => {
  const options = { projectDir, now, days: 14, maxBytes: 0 };
  expect(await pruneRunLogs(join(dir(), "none"), options)).toBe(0);
});
