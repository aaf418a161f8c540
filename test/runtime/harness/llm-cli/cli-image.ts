import { readdir, readlink, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { lastValueFrom } from "rxjs";
import type { Engine } from "../../../../src/runtime/runners/container/engine.ts";
import type { TarEntry } from "../../../../src/runtime/runners/container/image/archive.ts";
import { buildImage } from "../../../../src/runtime/runners/container/image/build.ts";
import { anAgent } from "../../../helpers/agents.ts";
import { defaultTestImage, testImage } from "../../../helpers/docker.ts";

/** The folder of the command lines in the image. */
export const imageBin = "/opt/clis/node_modules/.bin";

/** Builds an image on the default one, with the command lines of this folder; its name. */
export async function cliImage(engine: Engine, bin: string): Promise<string> {
  const from = await (await defaultTestImage(engine)).imageFor(anAgent("dev"));
  const tag = testImage("clis");
  await lastValueFrom(buildImage(engine, { tag, labels: {}, entries: () => context(from, bin) }));
  return tag;
}

async function* context(from: string, bin: string): AsyncGenerator<TarEntry> {
  const content = Buffer.from(`FROM ${from}\nCOPY clis /opt/clis/node_modules\n`);
  yield { type: "content", path: "Dockerfile", content };
  const modules = join(bin, "..");
  for (const entry of await readdir(modules, { recursive: true, withFileTypes: true })) {
    const source = join(entry.parentPath, entry.name);
    const path = join("clis", relative(modules, source));
    // It is installed a second time beside it.
    if (path.includes("claude-code-linux")) continue;
    if (entry.isSymbolicLink()) yield { type: "symlink", path, target: await readlink(source) };
    if (!entry.isFile()) continue;
    const { size, mode } = await stat(source);
    yield { type: "file", path, from: source, size, executable: (mode & 0o100) !== 0 };
  }
}
