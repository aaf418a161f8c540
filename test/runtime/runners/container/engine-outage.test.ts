import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { promisify } from "node:util";
import { lastValueFrom, NEVER, tap, toArray } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectEngine } from "../../../../src/runtime/runners/container/engine.ts";
import type { Engine } from "../../../../src/runtime/runners/container/engine.ts";
import type { RunnerEvent } from "../../../../streams/runs/runner.ts";
import { exitOf, messagesOf } from "../../../foundation/contracts/runner.ts";
import { answers, ensureBase, testEngine } from "../../../helpers/docker.ts";
import { end, log } from "../shell-runs.ts";
import { aRequest, aRunner, containersOf } from "./support.ts";

const { missing } = await testEngine();
/** An engine of its own: the machine's may be in use. */
const possible = missing === null && process.getuid?.() === 0 && existsSync("/usr/sbin/dockerd");

describe.skipIf(!possible)("a run whose engine goes away", () => {
  let root: string;
  let engine: Engine;
  let daemon: ChildProcess | undefined;

  async function startDaemon(...flags: string[]): Promise<void> {
    const places = [
      `--host=unix://${root}/docker.sock`,
      `--data-root=${root}/data`,
      `--exec-root=${root}/exec`,
      `--pidfile=${root}/pid`,
    ];
    // In a network of its own, or it would take the bridge of the machine's engine away.
    const args = ["--net", "/usr/sbin/dockerd", ...places, "--bridge=none", "--iptables=false"];
    const log = openSync(join(tmpdir(), "al-dockerd.log"), "a");
    daemon = spawn("/usr/bin/unshare", [...args, ...flags], { stdio: ["ignore", log, log] });
    closeSync(log);
    await answers(engine, 30_000);
  }

  async function endDaemon(signal: NodeJS.Signals): Promise<void> {
    if (daemon === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return;
    const ended = once(daemon, "exit");
    daemon.kill(signal);
    await ended;
  }

  async function leftContainers(): Promise<string[]> {
    const all = await engine
      .calls()
      .listContainers({ all: true })
      .catch(() => []);
    return all.map(({ Id }) => Id);
  }

  /** What an engine that was killed left mounted. */
  async function unmountAll(): Promise<void> {
    const mounts = await readFile("/proc/mounts", "utf8");
    const places = mounts.split("\n").map((line) => line.split(" ")[1] ?? "");
    for (const place of places
      .filter((path) => path.startsWith(root))
      .sort()
      .reverse()) {
      await promisify(execFile)("umount", [place]);
    }
  }

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "al-dockerd-"));
    engine = connectEngine({ env: { DOCKER_HOST: `unix://${root}/docker.sock` } });
  });
  afterEach(async () => {
    for (const id of await leftContainers())
      await engine.calls().getContainer(id).remove({ force: true });
    await endDaemon("SIGTERM");
    await unmountAll();
    await rm(root, { recursive: true, force: true });
  }, 60_000);

  async function run(
    script: string,
    engineGraceMs: number,
    onReady: () => Promise<void>,
  ): Promise<{ events: RunnerEvent[]; instanceId: string }> {
    const request = aRequest(script);
    const outage = Promise.withResolvers<undefined>();
    const events = await lastValueFrom(
      aRunner(engine, { engineGraceMs })
        .run(request, NEVER)
        .pipe(
          tap((event) => {
            if (!messagesOf([event]).includes("ready")) return;
            onReady().then(() => outage.resolve(undefined), outage.reject);
          }),
          toArray(),
        ),
    );
    await outage.promise;
    return { events, instanceId: request.instanceId };
  }

  it("is followed on when the engine kept it alive, with nothing lost or doubled", async () => {
    await startDaemon("--live-restore");
    await ensureBase(engine);
    const script = `${log("one")}; ${log("ready")}; sleep 1; ${log("meanwhile")}; sleep 8; ${log("after")}; ${end()}`;
    const { events, instanceId } = await run(script, 30_000, async () => {
      await endDaemon("SIGTERM");
      await new Promise((resolve) => setTimeout(resolve, 2000));
      await startDaemon("--live-restore");
    });
    expect(messagesOf(events)).toEqual(["one", "ready", "meanwhile", "after"]);
    expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null });
    expect(await containersOf(engine, instanceId)).toEqual([]);
  }, 120_000);

  it("is lost when the engine took it down, whether that comes back or not", async () => {
    await startDaemon();
    await ensureBase(engine);
    const script = `trap 'exit 143' TERM; ${log("ready")}; while :; do sleep 0.1; done`;
    const { events, instanceId } = await run(script, 30_000, async () => {
      await endDaemon("SIGTERM");
      await startDaemon();
    });
    const exit = exitOf(events);
    expect(exit).toMatchObject({ lost: true, exitCode: null, rejected: null });
    expect(exit.error).toMatch(/the engine went away .* ended with it/);
    expect(await containersOf(engine, instanceId)).toEqual([]);

    const gone = await run(script, 1000, () => endDaemon("SIGTERM"));
    expect(exitOf(gone.events)).toMatchObject({ lost: true });
    expect(exitOf(gone.events).error).toMatch(/the engine went away .* did not come back/);
  }, 120_000);

  it("is lost when the engine was killed", async () => {
    await startDaemon();
    await ensureBase(engine);
    const script = `${log("ready")}; while :; do sleep 0.1; done`;
    const { events } = await run(script, 30_000, async () => {
      await endDaemon("SIGKILL");
      // It would take whatever process has this number now for its own helper.
      await rm(`${root}/exec/containerd/containerd.pid`, { force: true });
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await startDaemon();
    });
    expect(exitOf(events)).toMatchObject({ lost: true });
  }, 120_000);

  it("cannot start without one, and says what to do", async () => {
    const images = {
      prepare: () => NEVER,
      imageFor: () => engine.ping(),
    };
    const run$ = aRunner(engine, { images }).run(aRequest(""), NEVER);
    const { rejected } = exitOf(await lastValueFrom(run$.pipe(toArray())));
    expect(rejected).toMatch(/no container engine answers at unix:.*host-user/);
  });
});
