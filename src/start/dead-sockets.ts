import { lstatSync, readdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { hasCode } from "../foundation/errors.ts";

/** The operator's socket, in a folder of its own. */
export const socketName = "operator.sock";
/** As `mkdtemp` names it. */
const socketDir = /^al-\w{6}$/;
/** A scheduler that starts has a folder without a socket for less than this, in ms. */
const longestStartMs = 600_000;

/** Removes the folders in `tmp` that killed schedulers of this user left: none listens there. Never rejects. */
export async function removeDeadSockets(tmp: string): Promise<void> {
  try {
    for (const name of readdirSync(tmp).filter((each) => socketDir.test(each))) {
      const dir = join(tmp, name);
      if (await isDead(dir)) rmSync(dir, { recursive: true, force: true });
    }
  } catch {
    // It can't be listed, or another scheduler that starts does the same.
  }
}

async function isDead(dir: string): Promise<boolean> {
  const stat = lstatSync(dir);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) return false;
  const names = readdirSync(dir);
  if (names.length === 0) return Date.now() - stat.mtimeMs > longestStartMs;
  return names.join() === socketName && isRefused(join(dir, socketName));
}

function isRefused(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (isDead: boolean) => {
      socket.destroy();
      resolve(isDead);
    };
    const socket = connect(path, () => answer(false));
    socket.on("error", (error) => answer(hasCode(error, "ECONNREFUSED")));
  });
}
