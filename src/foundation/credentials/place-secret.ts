import { randomBytes } from "node:crypto";
import { mkdir, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Writes a secret to a draft (mode 600) beside `path`, whose directories it makes (mode 700), and has `put` move it in
 * place: no reader sees half of one. The draft is hidden, so that it counts as no field.
 */
export async function placeSecret<T>(
  path: string,
  secret: string,
  put: (draft: string) => Promise<T>,
): Promise<T> {
  const draft = join(dirname(path), `.draft-${randomBytes(6).toString("hex")}`);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await write(draft, secret);
    return await put(draft);
  } finally {
    await rm(draft, { force: true });
  }
}

async function write(path: string, secret: string): Promise<void> {
  await using file = await open(path, "wx", 0o600);
  await file.writeFile(`${secret}\n`);
  await file.sync();
}
