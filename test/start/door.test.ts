import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BehaviorSubject } from "rxjs";
import { expect, onTestFinished, test } from "vitest";
import type { ProjectConfig } from "../../src/foundation/config/project-config.ts";
import { createClusterDoor } from "../../src/start/door.ts";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Whether this process can listen there. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  const isListening = await once(server, "listening").then(
    () => true,
    () => false,
  );
  server.close();
  return isListening;
}

test("of two changes of its address at once the last one counts, and nothing listens after its end", async () => {
  const projectDir = await mkdtemp(join(tmpdir(), "al-door-"));
  onTestFinished(() => rm(projectDir, { recursive: true }));
  await mkdir(join(projectDir, ".al"));
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  const at = (port: number) =>
    ({ cluster: { listen: `127.0.0.1:${port}` } }) as unknown as ProjectConfig;
  const project$ = new BehaviorSubject(at(ports[0]));
  const problems: string[] = [];
  const door = createClusterDoor({
    projectDir,
    project$,
    sockets: { find: () => ({ accept: () => undefined }) },
    onProblem: (message) => problems.push(message),
  });
  await door.open();
  project$.next(at(ports[1]));
  project$.next(at(ports[2]));
  await expect.poll(() => isFree(ports[2])).toBe(false);
  expect(await isFree(ports[1])).toBe(true);
  door.close();
  await expect.poll(() => isFree(ports[2])).toBe(true);
  expect(problems).toEqual([]);
});
