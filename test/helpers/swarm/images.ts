import { execFile } from "node:child_process";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { promisify } from "node:util";
import type { Engine } from "../../../src/runners/container/engine.ts";
import { withLock } from "../lock.ts";
import { startEngineProcess } from "./engine-process.ts";
import { takenSlots } from "./slot.ts";

const run = promisify(execFile);

/** Outlives the test run: unpacking an image takes longer than all the rest of a start. */
const cacheDir = "/tmp/al-test-docker/swarm-images";

/** Where the layers of the images are: engines mount them, as they never write to layers that they have. */
export const seedLayers = join(cacheDir, "data/overlay2");

/**
 * Gives each of these data folders the images that `from` has under these names. They are loaded once, into a data
 * folder whose layers all engines use.
 */
export async function seedImages(
  from: Engine,
  names: readonly string[],
  dataDirs: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  await mkdir(cacheDir, { recursive: true });
  await withLock(`${cacheDir}.lock`, async () => {
    await loadMissing(from, names);
    for (const dataDir of dataDirs) await copySeed(dataDir);
  });
}

async function loadMissing(from: Engine, names: readonly string[]): Promise<void> {
  const args = ["--bridge=none", "--iptables=false"];
  const place = { dir: cacheDir, networkNamespace: null, hostname: "seed", layers: null };
  const seed = await startEngineProcess({ ...place, args });
  try {
    for (const name of names) {
      const [wanted, there] = await Promise.all([idOf(from, name), idOf(seed.engine, name)]);
      if (wanted === null) throw new Error(`the engine has no image ${name}`);
      if (wanted !== there) await load(from, seed.engine, name);
    }
    if (takenSlots() === 1) await removeOthers(seed.engine, names);
  } finally {
    await seed.kill();
  }
}

async function load(from: Engine, to: Engine, name: string): Promise<void> {
  const archive = await from.streams().getImage(name).get();
  const answer = await to.streams().loadImage(archive);
  await finished(answer.resume());
}

/** Each build of the program is an image of its own: older ones go, unless another swarm may use them. */
async function removeOthers(seed: Engine, names: readonly string[]): Promise<void> {
  const repositories = new Set(names.map(repositoryOf));
  for (const { Id, RepoTags } of await seed.calls().listImages()) {
    const tags = (RepoTags as string[] | null) ?? [];
    if (tags.some((tag) => names.includes(tag) || !repositories.has(repositoryOf(tag)))) continue;
    await seed
      .calls()
      .getImage(Id)
      .remove({ force: true })
      .catch(() => undefined);
  }
}

/** All but the layers' contents, which are mounted. */
async function copySeed(dataDir: string): Promise<void> {
  const layers = join(dataDir, "overlay2");
  await mkdir(layers, { recursive: true, mode: 0o711 });
  await run("cp", ["-a", join(cacheDir, "data/image"), dataDir]);
  await run("cp", ["-a", join(seedLayers, "l"), layers]);
  for (const name of await readdir(seedLayers)) {
    if (name !== "l") await mkdir(join(layers, name), { mode: 0o711 });
  }
}

const repositoryOf = (name: string) => name.replace(/:[^:/]*$/, "");

async function idOf(engine: Engine, name: string): Promise<string | null> {
  const [image] = await engine.calls().listImages({ filters: { reference: [name] } });
  return image?.Id ?? null;
}
