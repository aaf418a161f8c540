import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { regenerateApiKey } from "../../src/credentials/api-key.ts";
import { acquireProject } from "../../src/start/acquire-project.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "al-own-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const own = (onProblem: (message: string) => void) =>
  acquireProject(dir, { env: { AL_HOME: join(dir, "home") }, version: "1.0.0", onProblem });

test("a project is given back whole, once", async () => {
  const problems: string[] = [];
  const first = await own((message) => problems.push(message));
  first.close();
  first.close();
  expect(problems).toEqual([]);
  expect(existsSync(dirname(first.socketPath))).toBe(false);
  const second = await own(() => undefined);
  second.close();
});

test("a key that changed while no scheduler ran ends the sessions from before", async () => {
  const first = await own(() => undefined);
  const token = first.sessions.create();
  first.close();
  const second = await own(() => undefined);
  expect(second.sessions.touch(token)).not.toBeNull();
  second.close();
  await sleep(20);
  await regenerateApiKey(second.home);
  const third = await own(() => undefined);
  expect(third.sessions.touch(token)).toBeNull();
  third.close();
});

test("a project that is held stays its holder's", async () => {
  const first = await own(() => undefined);
  await expect(own(() => undefined)).rejects.toMatchObject({ code: "project_locked" });
  expect(existsSync(dirname(first.socketPath))).toBe(true);
  first.close();
});
