import { createHash } from "node:crypto";
import { packTar } from "./tar.ts";
import type { TarEntry } from "./tar.ts";

/** SHA-256 in hex of names, modes and contents. */
export async function hashEntries(entries: AsyncIterable<TarEntry>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of packTar(entries)) hash.update(chunk);
  return hash.digest("hex");
}
