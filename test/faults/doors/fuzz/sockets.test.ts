import { writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import fc from "fast-check";
import { builtAl, startTestScheduler, type TestScheduler } from "../../../helpers/scheduler.ts";
import { webhookProject } from "../../../features/webhooks/webhook-project.ts";
import { hostileRequest, routesOf, type HostileRequest, type Route } from "./requests.ts";
import { traceFiles, whyNoTrace } from "../file-trace.ts";
import { exchange, statusesIn } from "../raw-http.ts";
import { share } from "./share.ts";

const canary = "canary-beside-the-project-41f0";
let scheduler: TestScheduler;
let routes: readonly Route[];

beforeAll(async () => {
  const project = await webhookProject({ dev: 'schedule = "0 0 29 2 *"\n' });
  const beside = dirname(project.dir);
  for (const name of ["secret", "secret.log", "dev.log"])
    await writeFile(join(beside, name), canary);
  scheduler = await startTestScheduler(project);
  const description = await scheduler.api("/openapi.json");
  // A stop would do what it says, and a run is another program.
  routes = routesOf((await description.json()) as { paths: object }).filter(
    ({ path }) => !/stop|trigger\/|replay/.test(path),
  );
});
afterAll(async () => {
  await scheduler.stop();
  await scheduler.project.remove();
});

test("a real server survives random bytes over real connections, and touches only its own files", async () => {
  const trace = whyNoTrace() === null ? await traceFiles(scheduler.pid) : null;
  await fc.assert(
    fc.asyncProperty(
      fc.array(hostileRequest(routes), { minLength: 10, maxLength: 10 }),
      async (requests) => {
        await Promise.all(
          requests.map(async (request) => {
            const said = await exchange(scheduler.url, bytesOf(request), 700);
            for (const status of statusesIn(said)) expect(status, request.url).toBeLessThan(500);
            expect(said).not.toContain(canary);
            expect(said).not.toContain("root:x:");
          }),
        );
      },
    ),
    share(150),
  );
  expect((await fetch(`${scheduler.url}/health`)).status).toBe(200);
  expect(scheduler.output()).not.toMatch(/ failed: |Error:|canary-beside/);
  const touched = await trace?.stop();
  expect(touched?.filter((path) => !mayTouch(path)) ?? []).toEqual([]);
}, 180_000);

/**
 * The project, its home, and parts of the program, which are read, and compiled, when they are first asked for. The C
 * library reads how the kernel commits memory, and the scheduler how much it holds, each at a moment of its own.
 */
function mayTouch(path: string): boolean {
  if (["/proc/sys/vm/overcommit_memory", "/proc/self/stat"].includes(path)) return true;
  const { dir, home } = scheduler.project;
  const program = join(dirname(builtAl), "..");
  const compiled = process.env.NODE_COMPILE_CACHE ?? home;
  const [real = "", ...own] = [path, dir, home, program, compiled].map(
    (each) => `${resolve(each)}/`,
  );
  // To find a real path its folders are looked at, too.
  return path === "" || own.some((each) => real.startsWith(each) || each.startsWith(real));
}

function bytesOf({ method, url, headers, body, withKey }: HostileRequest): string {
  const lines = {
    host: "localhost",
    ...headers,
    ...(withKey ? { authorization: `Bearer ${scheduler.apiKey}` } : {}),
  };
  const text = body ?? "";
  const head = Object.entries({
    ...lines,
    connection: "close",
    "content-length": Buffer.byteLength(text),
  });
  return `${method} ${url} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${Buffer.from(text).toString("latin1")}`;
}
