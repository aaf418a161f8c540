import { Readable } from "node:stream";
import { open, type FileHandle } from "node:fs/promises";
import type { TreeEntry } from "../../foundation/contracts/file-tree.ts";
import type { CheckoutPlan } from "./checkout-plan.ts";
import type { CommitPack } from "./packs.ts";

/**
 * The files of a `.git` folder whose HEAD is the commit of a pack, and whose origin is the repository. Both files of the
 * pack are open when it resolves, so that the mirror may delete them.
 */
export async function gitFolder(
  { url }: CheckoutPlan,
  { commit, branch, shallow, pack, index }: CommitPack,
): Promise<AsyncGenerator<TreeEntry>> {
  const texts: Readonly<Record<string, string>> = {
    HEAD: branch === null ? `${commit}\n` : `ref: refs/heads/${branch}\n`,
    config: configText(url, branch),
    // Git takes a folder without `refs` for no repository.
    "refs/al/checkout": `${commit}\n`,
    ...(branch !== null && {
      "packed-refs": `${commit} refs/heads/${branch}\n${commit} refs/remotes/origin/${branch}\n`,
    }),
    ...(shallow.length > 0 && { shallow: shallow.map((id) => `${id}\n`).join("") }),
  };
  const files = await Promise.all([open(pack), open(index)]);
  return entries(texts, files);
}

async function* entries(
  texts: Readonly<Record<string, string>>,
  files: readonly FileHandle[],
): AsyncGenerator<TreeEntry> {
  try {
    for (const [path, text] of Object.entries(texts)) {
      const content = Buffer.from(text);
      yield { path, bytes: content.length, isExecutable: false, content: Readable.from([content]) };
    }
    for (const [at, kind] of ["pack", "idx"].entries()) {
      const file = files[at];
      if (file === undefined) continue;
      const path = `objects/pack/pack-checkout.${kind}`;
      const content = file.createReadStream({ autoClose: false, highWaterMark: 1024 ** 2 });
      yield { path, bytes: (await file.stat()).size, isExecutable: false, content };
    }
  } finally {
    await Promise.all(files.map((file) => file.close()));
  }
}

function configText(url: string, branch: string | null): string {
  const quoted = branch?.replaceAll(/["\\]/g, String.raw`\$&`);
  return [
    "[core]",
    "\trepositoryformatversion = 0",
    "\tbare = false",
    "\tlogallrefupdates = true",
    '[remote "origin"]',
    `\turl = ${url}`,
    "\tfetch = +refs/heads/*:refs/remotes/origin/*",
    ...(quoted === undefined
      ? []
      : [`[branch "${quoted}"]`, "\tremote = origin", `\tmerge = "refs/heads/${quoted}"`]),
    "",
  ].join("\n");
}
