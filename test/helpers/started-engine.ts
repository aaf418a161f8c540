import { spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { connectEngine, type Engine } from "../../src/runtime/runners/container/engine.ts";
import { pause } from "./pause.ts";

const pidFile = "/var/run/docker.pid";
/** Outlives the test run: making the base image in it takes a minute. */
export const engineDir = "/tmp/al-test-docker";
const imagesBefore = join(engineDir, "images-before.json");
const usersDir = join(engineDir, "users");

/** Starts `dockerd` for all test runs of this machine, so in none's temporary folder; its log is in the engine's folder. */
export function startDaemon(): void {
  // An engine that was killed leaves its file behind; once another process has that number, the next one refuses to start.
  if (!isDaemon()) rmSync(pidFile, { force: true });
  const log = openSync(join(engineDir, "dockerd.log"), "w");
  const env = { ...process.env, TMPDIR: engineDir };
  spawn("/usr/sbin/dockerd", [], { detached: true, env, stdio: ["ignore", log, log] }).unref();
  closeSync(log);
}

/** Notes the images that the engine had when tests started it: the others are removed with it. */
export async function noteImages(engine: Engine): Promise<void> {
  writeFileSync(imagesBefore, JSON.stringify(await imagesOf(engine)));
}

/** Notes that this test run uses the engine. */
export function noteUse(): void {
  mkdirSync(usersDir, { recursive: true });
  writeFileSync(join(usersDir, process.env.AL_TEST_RUN ?? ""), "");
}

/** Ends this run's use: stops an engine that tests started, with the images they made, unless another run uses it. */
export async function stopStartedEngine(): Promise<void> {
  rmSync(join(usersDir, process.env.AL_TEST_RUN ?? ""), { force: true });
  const before = usersAlive() ? null : takeNote();
  if (before === null) return;
  const engine = connectEngine({ env: {} });
  const made = (await imagesOf(engine)).filter((id) => !before.includes(id));
  // One that another is built on goes along with that one.
  const remove = (id: string) => engine.calls().getImage(id).remove({ force: true });
  for (const id of made) await remove(id).catch(() => undefined);
  process.kill(Number(readFileSync(pidFile, "utf8")), "SIGTERM");
  while (isDaemon())
    await pause(100, "dockerd is no child of this process, so its end is no event");
}

/** The images that the engine had; null if another run has taken the note, or tests did not start the engine. */
function takeNote(): readonly string[] | null {
  const own = `${imagesBefore}.${process.pid}`;
  try {
    renameSync(imagesBefore, own);
  } catch {
    return null;
  }
  const before = JSON.parse(readFileSync(own, "utf8")) as readonly string[];
  rmSync(own);
  return before;
}

async function imagesOf(engine: Engine): Promise<readonly string[]> {
  return (await engine.calls().listImages({ all: true })).map(({ Id }) => Id);
}

/** Whether another test run that lives uses the engine. Runs that were killed leave their file behind. */
function usersAlive(): boolean {
  const users = existsSync(usersDir) ? readdirSync(usersDir) : [];
  return users.some((pid) => existsSync(`/proc/${pid}`));
}

function isDaemon(): boolean {
  if (!existsSync(pidFile)) return false;
  const command = `/proc/${readFileSync(pidFile, "utf8").trim()}/comm`;
  return existsSync(command) && readFileSync(command, "utf8").startsWith("dockerd");
}
