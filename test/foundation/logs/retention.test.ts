import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pruneLogs } from "../../../src/foundation/logs/log-position.ts";
import { entry, logPath, noon, tempProject, writeLines } from "./support.ts";

function days(project: string, dates: readonly string[], bytes = 100): void {
  for (const date of dates) writeLines(logPath(project, "dev", date), ["x".repeat(bytes)]);
}

test("logs older than the configured days are deleted", async () => {
  const project = tempProject();
  days(project, ["2026-11-06", "2026-11-07", "2026-11-20", "2026-11-21"]);
  const { deleted, bytes } = await pruneLogs(project, { now: noon, days: 14, maxBytes: 1e9 });
  expect(deleted).toEqual(["dev-2026-11-06.log"]);
  expect(bytes).toBe(300);
});

test("the oldest logs are deleted above the size limit, but never today's", async () => {
  const project = tempProject();
  days(project, ["2026-11-18", "2026-11-19", "2026-11-20", "2026-11-21"]);
  const some = await pruneLogs(project, { now: noon, days: 14, maxBytes: 250 });
  expect(some.deleted).toEqual(["dev-2026-11-18.log", "dev-2026-11-19.log"]);
  const rest = await pruneLogs(project, { now: noon, days: 0, maxBytes: 0 });
  expect(rest).toEqual({ deleted: ["dev-2026-11-20.log"], bytes: 100 });
});

test("deleting old logs keeps other files", async () => {
  const project = tempProject();
  writeLines(logPath(project), [entry("x")]);
  const other = join(project, ".al/logs/notes-2020-01-01.txt");
  writeFileSync(other, "mine");
  await pruneLogs(project, { now: noon, days: 1, maxBytes: 0 });
  expect(existsSync(other)).toBe(true);
});
