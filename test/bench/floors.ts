import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { secretOf } from "../webhooks/webhook-project.ts";

/** Starts the bare server, hands on its address and ends it. `commits`: with a database that it commits to. */
export async function withFloor<T>(commits: boolean, use: (url: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), "al-floor-"));
  const path = commits ? [join(dir, "floor.db")] : [];
  const file = join(import.meta.dirname, "floor-server.ts");
  const child = spawn(process.execPath, [file, secretOf("github"), ...path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    return await use(`http://127.0.0.1:${Number(port.toString())}`);
  } finally {
    child.kill();
    await rm(dir, { recursive: true, force: true });
  }
}
