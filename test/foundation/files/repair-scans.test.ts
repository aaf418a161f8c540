import { join } from "node:path";
import { renameSync, rmSync, symlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { BehaviorSubject } from "rxjs";
import { expect, test } from "vitest";
import { repairScans } from "../../../src/foundation/files/repair-scans.ts";
import { scanProject } from "../../../src/foundation/files/scan.ts";
import { tempProject, watching, write } from "./support.ts";

test("what changed between two scans is told once", async () => {
  const project = tempProject();
  const { events } = await watching(repairScans(project, { everyMs: 30 }));
  write(join(project, "agents/dev/SKILL.md"), "changed");
  await expect.poll(() => events.length).toBe(2);
  await sleep(100);
  expect(events).toEqual([{ type: "ready" }, { type: "touched", path: "agents/dev/SKILL.md" }]);
});

test("what changed since the caller looked is told by the first scan", async () => {
  const project = tempProject();
  const before = await scanProject(project);
  write(join(project, "agents/dev/SKILL.md"), "changed");
  const { touched } = await watching(repairScans(project, { before }));
  expect(touched()).toEqual(new Set(["agents/dev/SKILL.md"]));
});

test("each time that it begins anew it scans at once", async () => {
  const project = tempProject();
  const begin$ = new BehaviorSubject(null);
  const { touched, forget } = await watching(repairScans(project, { begin$ }));
  write(join(project, "agents/dev/SKILL.md"), "changed");
  begin$.next(null);
  await expect.poll(touched).toEqual(new Set(["agents/dev/SKILL.md"]));
  forget();
  begin$.next(null);
  await sleep(100);
  expect(touched()).toEqual(new Set());
});

test("a scan that fails is a warning and takes nothing for removed", async () => {
  const project = tempProject();
  const { events, touched, forget } = await watching(repairScans(project, { everyMs: 30 }));
  const agents = join(project, "agents");
  renameSync(agents, join(project, "away"));
  // A name that is too long to look up fails for root too.
  symlinkSync("x".repeat(300), agents);
  await expect.poll(() => events.at(-1)?.type).toBe("warning");
  forget();
  rmSync(agents);
  renameSync(join(project, "away"), agents);
  write(join(agents, "dev/SKILL.md"), "back");
  await expect.poll(touched).toEqual(new Set(["agents/dev/SKILL.md"]));
});

test("one file that cannot be looked at hides no other", async () => {
  const project = tempProject();
  const path = join(project, "agents/dev/Dockerfile");
  const { touched, forget } = await watching(repairScans(project, { everyMs: 30 }));
  symlinkSync("x".repeat(300), path);
  await expect.poll(touched).toEqual(new Set(["agents/dev/Dockerfile"]));
  forget();
  write(join(project, "agents/ops/SKILL.md"), "changed");
  await expect.poll(touched).toEqual(new Set(["agents/ops/SKILL.md"]));
});
