import { spawn } from "node:child_process";
import { chmod, chown, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastValueFrom, NEVER, toArray } from "rxjs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anyAgent } from "../../../../src/runtime/runners/host-user/sudoers-rule.ts";
import { exitOf, messagesOf, until } from "../../../foundation/contracts/runner.ts";
import { agentUsers, asUser, uidOf, whyNoOsUsers } from "../../../helpers/os-users.ts";
import type { AgentUsers, OsUser } from "../../../helpers/os-users.ts";
import { end } from "../shell-runs.ts";
import { aRequest, supervisorProgram } from "./support.ts";
import { aWarmRunner, patience, warmRunner } from "./warm-support.ts";

const missing = whyNoOsUsers();
if (missing !== null) process.stderr.write(`skipped: warm runs as other users (${missing})\n`);
const entry = join(import.meta.dirname, "warm-scheduler-entry.ts");

describe.skipIf(missing !== null)("processes started ahead as another OS user", () => {
  let users: AgentUsers;
  let agentUser: OsUser;
  let schedulerUser: OsUser;
  let root: string;
  let baseDir: string;

  beforeAll(async () => {
    users = await agentUsers(supervisorProgram(anyAgent));
    ({ agentUser, schedulerUser } = users);
  });
  afterAll(() => users.remove());
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "al-warm-user-"));
    await chmod(root, 0o755);
    baseDir = join(root, "runs");
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it("take runs as that user, and no runs as others", async () => {
    const warm = aWarmRunner(baseDir);
    try {
      warm.runner.prewarm([{ user: agentUser.name, network: "open" }], 1);
      await warm.untilWaiting(1);
      const waiting = [...(await warm.waiting()).values()];
      const script = `id -un; sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20; ${end()}`;
      const as = (runAs: string) =>
        aRequest(script, { runtime: { type: "host-user", runAs } as const });
      const run = (runAs: string) =>
        lastValueFrom(warm.runner.run(as(runAs), NEVER).pipe(toArray()));
      expect(messagesOf(await run("$USER"))).not.toContain(waiting[0]);
      const events = await run(agentUser.name);
      expect(messagesOf(events)).toEqual([agentUser.name, ...waiting]);
      expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null });
    } finally {
      warm.runner.prewarm([], 0);
      await until(async () => (await warm.processes()).length === 0, patience);
    }
  });

  it("are allowed by the one rule that runs need, and end with an unprivileged scheduler", async () => {
    await chown(root, uidOf(schedulerUser), 0);
    const language = `x-other-${process.pid}`;
    const { waiting, untilWaiting, processes } = warmRunner(language, baseDir);
    const program = [process.execPath, entry, baseDir, language, agentUser.name];
    const scheduler = spawn("setpriv", asUser(schedulerUser, ...program), {
      ...{ cwd: "/", env: { PATH: process.env.PATH }, stdio: "inherit" },
    });
    await untilWaiting(1);
    const [pid = 0] = (await waiting()).keys();
    expect((await stat(`/proc/${pid}`)).uid).toBe(uidOf(agentUser));
    scheduler.kill("SIGKILL");
    await until(async () => (await processes()).length === 0, patience);
  });
});
