import { spawn } from "node:child_process";
import { appendFile, chown, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { NEVER } from "rxjs";
import { questionLimits } from "../../../../src/foundation/contracts/question-kinds.ts";
import { identityOf } from "../../../../src/runtime/runners/host-user/process-identity.ts";
import {
  closeLog,
  createLog,
  logPathOf,
  readRunRecord,
  writeRunRecord,
} from "../../../../src/runtime/runners/host-user/run-files.ts";
import { anyAgent } from "../../../../src/runtime/runners/host-user/sudoers-rule.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { adoptionContract, leftBy } from "../adoption.ts";
import { collected, exitOf, whenReady } from "../contract.ts";
import { agentUsers, uidOf, whyNoOsUsers } from "../../../helpers/os-users.ts";
import { aRequest, end, forever, log } from "../shell-runs.ts";
import { eventsOf, remoteScheduler } from "./remote-runner.ts";
import { aRunner, supervisorProgram, leftovers, projectDir } from "./support.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perFile, perTest } from "../../../helpers/per-test.ts";

const missing = whyNoOsUsers();
if (missing !== null) {
  process.stderr.write(`skipped: adoption of runs as another OS user (${missing})\n`);
}

const root = perTest(() => tempDir(0o755));
const baseDir = () => join(root(), "runs");
const logOf = ({ instanceId }: RunRequest) => logPathOf(baseDir(), instanceId);
const readLog = (request: RunRequest) => readFile(logOf(request), "utf8");
const usual = {
  hasEnded: async (request: RunRequest) => (await readLog(request)).includes(" end "),
  leftovers: ({ instanceId }: RunRequest) => leftovers(baseDir(), instanceId),
};

describe("a run as the scheduler's user whose scheduler was killed", () => {
  const leave = (request: RunRequest) =>
    leftBy(remoteScheduler(null, { baseDir: baseDir(), request, isKilledWhenReady: true }));
  adoptionContract(() => ({ ...usual, leave, next: aRunner(baseDir()) }));

  /** A run that is left, its next scheduler, and how its supervisor is killed. */
  async function leftRun(script = forever) {
    const request = aRequest(`${log("ready")}; ${script}`);
    await leave(request);
    const record = await readRunRecord(logOf(request));
    const kill = () => process.kill(record?.process.pid ?? 0, "SIGKILL");
    const next = aRunner(baseDir());
    return { request, kill, next, adopt: () => next.adopt([request.instanceId, "dev-unknown1"]) };
  }

  test("is found with its config, unless its supervisor was killed", async () => {
    const { request, kill, adopt } = await leftRun(`trap '' TERM; ${forever}`);
    const { instanceId, agent } = request;
    expect(await adopt()).toEqual([{ instanceId, agent }]);
    kill();
    await expect.poll(adopt).toEqual([]);
    expect(await usual.leftovers(request)).toEqual([]);
  });

  test("is lost when its supervisor dies under the next scheduler", async () => {
    const { request, kill, next } = await leftRun();
    const run$ = next.resume({ request, last: null }, NEVER).pipe(whenReady(kill));
    expect(exitOf(await collected(run$))).toMatchObject({ lost: true, exitCode: null });
    expect(await usual.leftovers(request)).toEqual([]);
  });

  test("exits as blocked if its process had not started", async () => {
    const request = aRequest("echo hi");
    await mkdir(baseDir());
    const supervisor = spawn("sleep", ["300"]);
    const logFd = createLog(logOf(request));
    const identity = identityOf(supervisor.pid ?? 0);
    writeRunRecord(logFd, { agent: request.agent, project: projectDir, process: identity });
    closeLog(logFd);
    const events = collected(aRunner(baseDir()).resume({ request, last: null }, NEVER));
    supervisor.kill("SIGKILL");
    expect(exitOf(await events)).toMatchObject({ blocked: true });
  });

  test("is not confused with a later process that has the same PID", async () => {
    const request = aRequest(end());
    await collected(aRunner(baseDir()).run(request, NEVER));
    const [record = ""] = (await readLog(request)).split("\n");
    const another = record.replace(/"process":\{"pid":\d+/, `"process":{"pid":${process.pid}`);
    expect(another).not.toBe(record);
    await rm(logOf(request));
    await appendFile(logOf(request), `${another}\n`);
    expect(await aRunner(baseDir()).adopt([request.instanceId])).toEqual([]);
  });

  test("ends at its timeout if no scheduler returns", async () => {
    const timeoutSeconds = -12.5 - questionLimits.seconds;
    const times = { timeoutSeconds, waitTimeoutSeconds: 0.3 };
    const request = aRequest(`${log("ready")}; ${forever}`, times);
    await leave(request);
    await expect.poll(() => usual.hasEnded(request)).toBe(true);
    expect(await usual.leftovers(request)).toEqual([]);
  });
});

describe.skipIf(missing !== null)("a run as another OS user whose scheduler was killed", () => {
  const users = perFile(
    () => agentUsers(supervisorProgram(anyAgent)),
    (users) => users.remove(),
  );
  beforeEach(() => chown(root(), uidOf(users().schedulerUser), 0));

  adoptionContract(() => {
    const { agentUser, schedulerUser } = users();
    const scheduler = (request: RunRequest, more = {}) =>
      remoteScheduler(schedulerUser, { baseDir: baseDir(), request, ...more });
    return {
      ...usual,
      config: { runtime: { type: "host-user", runAs: agentUser.name } },
      leave: (request) => leftBy(scheduler(request, { isKilledWhenReady: true })),
      next: {
        resume: ({ request, last }, stop$) =>
          eventsOf(() => scheduler(request, { resume: { last } }), stop$),
      },
    };
  });
});
