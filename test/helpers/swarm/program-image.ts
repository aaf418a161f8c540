import type { Engine } from "../../../src/runtime/runners/container/engine.ts";
import { anAgent } from "../agents.ts";
import { defaultTestImage } from "../docker.ts";

/** The name of the image with exactly this checkout's program, which other checkouts' builds don't take over. */
export async function programImage(engine: Engine): Promise<string> {
  const images = await defaultTestImage(engine);
  const id = await images.imageFor(anAgent("dev"));
  const { RepoTags } = await engine.calls().getImage(id).inspect();
  const name = RepoTags.find((tag) => /^al-agent:.+-[0-9a-f]{12}$/.test(tag));
  if (name === undefined) throw new Error(`the image ${id} has no name of its own`);
  return name;
}
