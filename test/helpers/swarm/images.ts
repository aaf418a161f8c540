import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Engine } from "../../../src/runtime/runners/container/engine.ts";

/** What an engine has of images and layers, in its data folder. */
const images = "image/overlay2";
const layers = "overlay2";

/** Folders of another engine's layers, by the names that they have in every engine that uses them. */
export type SharedLayers = ReadonlyMap<string, string>;

/**
 * Gives each of these data folders the images that this machine's engine has under these names. To save and to load
 * them takes minutes; their layers are shared instead, as no engine writes to layers that it has. Returns those.
 */
export async function shareImages(
  from: Engine,
  names: readonly string[],
  dataDirs: readonly string[],
): Promise<SharedLayers> {
  const { DockerRootDir: root, Driver } = (await from.calls().info()) as EngineInfo;
  if (Driver !== layers) throw new Error(`the engine of the tests has ${Driver}, not ${layers}`);
  const shared = new Map<string, string>();
  for (const name of names) {
    const { Id } = await from.calls().getImage(name).inspect();
    for (const dir of dataDirs) {
      for (const layer of await copyImage({ root, dir }, Id)) {
        shared.set(layer, join(root, layers, layer));
      }
      await addName(dir, name, Id);
    }
  }
  return shared;
}

interface EngineInfo {
  readonly DockerRootDir: string;
  readonly Driver: string;
}

/** A data folder, and that of the engine that has the image. */
interface Place {
  readonly root: string;
  readonly dir: string;
}

/** Copies all but the contents of its layers. Returns the names of their folders. */
async function copyImage(place: Place, id: string): Promise<readonly string[]> {
  const config = await copied(place, `${images}/imagedb/content/${path(id)}`);
  const { rootfs } = JSON.parse(await readFile(config, "utf8")) as ImageConfig;
  const folders: string[] = [];
  for (const chain of chainIds(rootfs.diff_ids)) {
    const record = await copied(place, `${images}/layerdb/${path(chain)}`);
    const folder = await readFile(join(record, "cache-id"), "utf8");
    folders.push(folder);
    await linkLayer(place, folder);
  }
  return folders;
}

interface ImageConfig {
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

/** Of the OCI image specification: a layer by all that is below it. */
function chainIds(diffIds: readonly string[]): readonly string[] {
  const chain: string[] = [];
  for (const diffId of diffIds) {
    const below = chain.at(-1);
    const hash = createHash("sha256").update(`${below ?? ""} ${diffId}`);
    chain.push(below === undefined ? diffId : `sha256:${hash.digest("hex")}`);
  }
  return chain;
}

/** The folder that the layer is mounted at, and the short name by which others name it. */
async function linkLayer({ root, dir }: Place, folder: string): Promise<void> {
  await mkdir(join(dir, layers, folder), { recursive: true, mode: 0o711 });
  const short = (await readFile(join(root, layers, folder, "link"), "utf8")).trim();
  await mkdir(join(dir, layers, "l"), { recursive: true, mode: 0o711 });
  await symlink(`../${folder}/diff`, join(dir, layers, "l", short)).catch(() => undefined);
}

async function addName(dir: string, name: string, id: string): Promise<void> {
  const file = join(dir, images, "repositories.json");
  const text = await readFile(file, "utf8").catch(() => '{"Repositories":{}}');
  const { Repositories } = JSON.parse(text) as RepositoryFile;
  const repository = name.replace(/:[^:/]*$/, "");
  const names = { ...Repositories[repository], [name]: id };
  await writeFile(file, JSON.stringify({ Repositories: { ...Repositories, [repository]: names } }));
}

interface RepositoryFile {
  readonly Repositories: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** `sha256:1234` as a path. */
const path = (id: string) => id.replace(":", "/");

async function copied({ root, dir }: Place, name: string): Promise<string> {
  await cp(join(root, name), join(dir, name), { recursive: true });
  return join(dir, name);
}
