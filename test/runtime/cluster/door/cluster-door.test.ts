import { createServer } from "node:net";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { BehaviorSubject } from "rxjs";
import type { ProjectConfig } from "../../../../src/foundation/config/project-config.ts";
import { createClusterDoor } from "../../../../src/runtime/cluster/door/cluster-door.ts";
import { freePort } from "../../../helpers/free-port.ts";
import { listen } from "../../../helpers/listen.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

/** Whether this process can listen there. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isListening = await listen(server, port).then(
    () => true,
    () => false,
  );
  server.close();
  return isListening;
}

async function doorAt(port: number) {
  const projectDir = tempDir();
  await mkdir(join(projectDir, ".al"));
  const project$ = new BehaviorSubject(listeningAt(port));
  const problems: string[] = [];
  const door = createClusterDoor(
    { projectDir, project$, warn: (message) => problems.push(message) },
    { find: () => ({ accept: () => undefined }) },
  );
  await door.open();
  return { door, problems, move: (to: number) => project$.next(listeningAt(to)) };
}

const listeningAt = (port: number) =>
  ({ cluster: { listen: `127.0.0.1:${port}` } }) as unknown as ProjectConfig;

test("the door applies the last of two concurrent changes of its address", async () => {
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  const { door, problems, move } = await doorAt(ports[0]);
  move(ports[1]);
  const first = door.open();
  move(ports[2]);
  await Promise.all([first, door.open()]);
  expect(await Promise.all(ports.map(isFree))).toEqual([true, true, false]);
  door.close();
  await expect.poll(() => isFree(ports[2])).toBe(true);
  expect(problems).toEqual([]);
});

test("an address of the door that is already in use causes one warning", async () => {
  const port = await freePort();
  const { door, problems, move } = await doorAt(port);
  const other = createServer();
  const taken = await listen(other);
  onTestFinished(() => void other.close());
  move(taken);
  await door.open();
  await door.open();
  expect(problems).toHaveLength(1);
  expect(await isFree(port)).toBe(false);
  door.close();
});
