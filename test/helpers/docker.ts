import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { copyFile, cp, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { promisify } from "node:util";
import { lastValueFrom } from "rxjs";
import { connectEngine, type Engine } from "../../src/runtime/runners/container/engine.ts";
import { createAgentImages, type AgentImages } from "../../src/runtime/runners/container/images.ts";
import { anAgent } from "./agents.ts";
import { withLock } from "./lock.ts";
import { engineDir, noteImages, noteUse, startDaemon } from "./started-engine.ts";

const run = promisify(execFile);

/** What the default image would install, so that its build needs no network; and what agents install packages with. */
const basePackages = "ca-certificates,git,curl,jq,openssh-client,python3,python3-pip";

const baseVersion = createHash("sha256")
  .update(`${basePackages} npm ${process.version}`)
  .digest("hex")
  .slice(0, 8);

/** Small image with Node and these packages; made here, as a test machine may reach no registry. */
export const testBase = `al-test-base:${baseVersion}`;

mkdirSync(engineDir, { recursive: true, mode: 0o700 });
const cachedTar = join(engineDir, `base-${baseVersion}.tar`);

/** For hooks that may have to make the base image, in ms. */
export const engineSetupMs = 300_000;

export interface TestEngine {
  readonly engine: Engine;
  /** Null when there is an engine. */
  readonly missing: string | null;
}

/**
 * The machine's engine with the base image on it. Starts `dockerd` where it is installed and nothing answers; the last
 * test run that uses it stops it. Without an engine `missing` says why, for `describe.skipIf`; in CI that throws.
 */
export async function testEngine(): Promise<TestEngine> {
  const engine = connectEngine({ env: process.env });
  try {
    await reachable(engine);
    await ensureBase(engine);
    return { engine, missing: null };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (process.env.CI !== undefined && process.env.CI !== "") throw error;
    sayOnce(`skipped the tests that need a container engine: ${reason}`);
    return { engine, missing: reason };
  }
}

const programDir = join(import.meta.dirname, "../..");

/** The default image with this checkout's program, on the test base; what starts a scheduler then finds it there. */
export async function defaultTestImage(engine: Engine): Promise<AgentImages> {
  const local = () => ({ image: "al-agent:latest", base: testBase });
  const images = createAgentImages({ engine, projectDir: programDir, programDir, local });
  await withLock(join(engineDir, "image.lock"), () =>
    lastValueFrom(images.prepare(anAgent("dev"))),
  );
  return images;
}

/** An image's name that no other test file, test run or checkout on this engine uses. */
export function testImage(name: string): string {
  return `al-test-${name}-${randomBytes(4).toString("hex")}:latest`;
}

/** Removes every image of the repository that `image` names, and what failed builds left on top of them. */
export async function removeTestImages(engine: Engine, image: string): Promise<void> {
  const reference = [image.replace(/:latest$/, "")];
  const images = await engine.calls().listImages({ filters: { reference } });
  for (const { Id } of images) await removeWithChildren(engine, Id);
}

async function removeWithChildren(engine: Engine, id: string): Promise<void> {
  const all = await engine.calls().listImages({ all: true });
  for (const { Id } of all.filter(({ ParentId }) => ParentId === id)) {
    await removeWithChildren(engine, Id);
  }
  // The last child takes the layers below it along that have no name.
  const there = (await engine.calls().listImages({ all: true })).some(({ Id }) => Id === id);
  if (there) await engine.calls().getImage(id).remove({ force: true });
}

/** Every test file asks for the engine; the workers of one test run have one parent. */
function sayOnce(line: string): void {
  const said = join(engineDir, `said-${process.ppid}`);
  // An older one is of another process that had the same number.
  const since = Date.now() - (statSync(said, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  if (since < 3_600_000) return;
  rmSync(said, { force: true });
  try {
    writeFileSync(said, "", { flag: "wx" });
  } catch {
    return;
  }
  process.stderr.write(`${line}\n`);
}

async function reachable(engine: Engine): Promise<void> {
  try {
    await engine.ping();
  } catch (error) {
    const here = (process.env.DOCKER_HOST ?? "") === "" && process.getuid?.() === 0;
    if (!here || !existsSync("/usr/sbin/dockerd")) throw error;
    await withLock(join(engineDir, "daemon.lock"), async () => {
      if (await engine.ping().catch(() => null)) return;
      startDaemon();
      await answers(engine, 60_000);
      await noteImages(engine);
    });
  }
  noteUse();
}

/** Resolves once the engine answers. */
export async function answers(engine: Engine, timeout: number): Promise<void> {
  await vi.waitFor(() => engine.ping(), { timeout, interval: 200 });
}

/** Imports the base image unless the engine has it. */
async function ensureBase(engine: Engine): Promise<void> {
  if (await hasBase(engine)) return;
  await withLock(join(engineDir, "base.lock"), async () => {
    if (await hasBase(engine)) return;
    if (!existsSync(cachedTar)) await makeBase();
    const [repo, tag] = testBase.split(":");
    const answer = await engine.streams().importImage(cachedTar, { repo, tag });
    await finished(answer.resume());
  });
}

async function hasBase(engine: Engine): Promise<boolean> {
  const images = await engine.calls().listImages({ filters: { reference: [testBase] } });
  return images.length > 0;
}

/** The machine's own; distributions' packages bring another Node. Where it lies is not where this Node has its packages. */
async function copyNpm(root: string): Promise<void> {
  const { stdout } = await run("npm", ["exec", "--call", 'echo "$npm_execpath"']);
  const folder = "usr/lib/node_modules/npm";
  await cp(join(stdout.trim(), "../.."), join(root, folder), {
    recursive: true,
    dereference: true,
  });
  const command = `#!/bin/sh\nexec node /${folder}/bin/npm-cli.js "$@"\n`;
  await writeFile(join(root, "usr/bin/npm"), command, { mode: 0o755 });
}

async function makeBase(): Promise<void> {
  const root = join(engineDir, "root");
  await rm(root, { recursive: true, force: true });
  const include = `--include=${basePackages}`;
  await run("debootstrap", ["--variant=minbase", include, "bookworm", root], {
    maxBuffer: 64 * 1024 * 1024,
  });
  await rm(join(root, "var/cache/apt"), { recursive: true, force: true });
  await rm(join(root, "var/lib/apt/lists"), { recursive: true, force: true });
  await copyFile(process.execPath, join(root, "usr/bin/node"));
  await copyNpm(root);
  await run("tar", ["-C", root, "-cf", `${cachedTar}.new`, "."]);
  await rename(`${cachedTar}.new`, cachedTar);
  await rm(root, { recursive: true, force: true });
}
