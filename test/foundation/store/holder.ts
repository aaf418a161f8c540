/** Holds the lock of the project in argv until it is killed; unnamed, it could be collected, and be free. */
import { lockProject } from "../../../src/foundation/store/project-lock.ts";

export const held = lockProject(process.argv[2] ?? "", {
  pid: process.pid,
  startedAt: "2026-11-20T00:00:00.000Z",
  socketPath: "/tmp/x.sock",
  gatewayUrl: "http://localhost:8080",
  version: "1.2.3",
});
process.stdout.write("held\n");
setInterval(() => undefined, 1_000);
