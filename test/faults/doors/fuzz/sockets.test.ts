import { writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import fc from "fast-check";
import { forAll, LiveProject } from "../../../helpers/live-project.ts";
import { builtAl } from "../../../helpers/scheduler.ts";
import { webhookProject } from "../../../features/webhooks/webhook-project.ts";
import { hostileRequest, routesOf, type HostileRequest } from "./requests.ts";
import { traceFiles, whyNoTrace } from "../file-trace.ts";
import { exchange, statusesIn } from "../raw-http.ts";
import { share } from "./share.ts";

const canary = "canary-beside-the-project-41f0";
let project: LiveProject;
forAll(async () => {
  project = new LiveProject(await webhookProject({ dev: 'schedule = "0 0 29 2 *"\n' }));
  for (const name of ["secret", "secret.log", "dev.log"])
    await writeFile(project.path(`../${name}`), canary);
  await project.start();
});

test("a real scheduler survives random bytes over real connections, and changes only its own files", async () => {
  const { url, pid, output } = project.scheduler;
  // A stop would do what it says, and a run is another program.
  const routes = routesOf(await project.json("/openapi.json")).filter(
    ({ path }) => !/stop|trigger\/|replay/.test(path),
  );
  const trace = whyNoTrace() === null ? await traceFiles(pid) : null;
  const send = async (request: HostileRequest): Promise<void> => {
    const said = await exchange(url, bytesOf(request), 700);
    for (const status of statusesIn(said)) expect(status, request.url).toBeLessThan(500);
    for (const text of [canary, "root:x:"]) expect(said).not.toContain(text);
  };
  const ten = fc.array(hostileRequest(routes), { minLength: 10, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(ten, (requests) => Promise.all(requests.map(send)).then(() => true)),
    share(150),
  );
  expect((await fetch(`${url}/health`)).status).toBe(200);
  expect(output()).not.toMatch(/ failed: |Error:|canary-beside/);
  const touched = await trace?.stop();
  expect(touched?.filter((path) => !mayTouch(path)) ?? []).toEqual([]);
}, 180_000);

/**
 * The project, its home, and parts of the program, which are read, and compiled, when they are first asked for. The C
 * library reads how the kernel commits memory, and the scheduler how much it holds, each at a moment of its own.
 */
function mayTouch(path: string): boolean {
  if (["/proc/sys/vm/overcommit_memory", "/proc/self/stat"].includes(path)) return true;
  const { dir, home } = project;
  const program = join(dirname(builtAl), "..");
  const compiled = process.env.NODE_COMPILE_CACHE ?? home;
  const [real = "", ...own] = [path, dir, home, program, compiled].map(
    (each) => `${resolve(each)}/`,
  );
  // To find a real path its folders are looked at, too.
  return path === "" || own.some((each) => real.startsWith(each) || each.startsWith(real));
}

function bytesOf({ method, url, headers, body, withKey }: HostileRequest): string {
  const text = body ?? "";
  const lines = {
    host: "localhost",
    ...headers,
    ...(withKey ? { authorization: `Bearer ${project.scheduler.apiKey}` } : {}),
    connection: "close",
    "content-length": Buffer.byteLength(text),
  };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${url} HTTP/1.1\r\n${head.join("")}\r\n${Buffer.from(text).toString("latin1")}`;
}
