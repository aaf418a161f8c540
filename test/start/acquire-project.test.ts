import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { regenerateApiKey } from "../../src/foundation/credentials/api-key.ts";
import { acquireProject } from "../../src/start/acquire-project.ts";
import { pause } from "../helpers/pause.ts";
import { tempDir } from "../helpers/temp-dir.ts";

let dir: string;
beforeEach(() => void (dir = tempDir()));

const own = (onProblem: (message: string) => void, projectDir = dir) =>
  acquireProject(projectDir, { env: { AL_HOME: join(dir, "home") }, version: "1.0.0", onProblem });

test("releasing a project releases all its locks; a second release does nothing", async () => {
  const problems: string[] = [];
  const first = await own((message) => problems.push(message));
  first.close();
  first.close();
  expect(problems).toEqual([]);
  expect(existsSync(dirname(first.socketPath))).toBe(false);
  const second = await own(() => undefined);
  second.close();
});

test("an API key that changed while no scheduler ran ends earlier sessions", async () => {
  const first = await own(() => undefined);
  const token = first.sessions.create();
  first.close();
  const second = await own(() => undefined);
  expect(second.sessions.touch(token)).not.toBeNull();
  second.close();
  await pause(20, "the new key's file must be newer than the session");
  await regenerateApiKey(second.home);
  const third = await own(() => undefined);
  expect(third.sessions.touch(token)).toBeNull();
  third.close();
});

test("acquiring a project in use rejects with project_locked, and changes nothing", async () => {
  const first = await own(() => undefined);
  await expect(own(() => undefined)).rejects.toMatchObject({ code: "project_locked" });
  expect(existsSync(dirname(first.socketPath))).toBe(true);
  first.close();
});

const damages: Readonly<Record<string, (path: string) => void>> = {
  garbage: (path) => writeFileSync(path, "not a page of it\n".repeat(1000)),
  empty: (path) => writeFileSync(path, ""),
  "a folder": (path) => {
    rmSync(path);
    mkdirSync(path);
  },
};
const cases = (["home/sessions.db", ".al/run/lock.db"] as const).flatMap((file) =>
  Object.entries(damages).map(([what, damage]) => ({ file, what, damage })),
);
// SQLite allows an empty lock for a new one, and a folder there is nothing that this program made.
const harmless = (file: string, what: string) => file.endsWith("lock.db") && what !== "garbage";

test.each(cases.filter(({ file, what }) => !harmless(file, what)))(
  "a start of the scheduler moves $file ($what) away with a warning, and continues",
  async ({ file, damage }) => {
    (await own(() => undefined)).close();
    const path = join(dir, file);
    damage(path);
    const problems: string[] = [];
    const started = await own((message) => problems.push(message));
    expect(started.sessions.touch(started.sessions.create())).not.toBeNull();
    await expect(own(() => undefined)).rejects.toMatchObject({ code: "project_locked" });
    started.close();
    expect(problems).toEqual([expect.stringContaining(`moved to ${path}.damaged-`)]);
    expect(readdirSync(dirname(path)).join()).toMatch(/\.db\.damaged-/);
  },
);

test("a start of the scheduler removes the socket folders of killed schedulers only", async () => {
  const tmp = join(dir, "tmp");
  const make = (name: string, ...files: readonly string[]) => {
    mkdirSync(join(tmp, name), { recursive: true, mode: 0o700 });
    for (const file of files) writeFileSync(join(tmp, name, file), "");
    return join(tmp, name);
  };
  const listen = `require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, 9))`;
  for (const name of ["al-killed", "al-binds1"])
    spawnSync(process.execPath, ["-e", listen, join(make(name), "operator.sock")]);
  for (const name of ["al-killed", "al-early1"]) utimesSync(make(name), 0, 0);
  make("al-starts");
  make("al-others", "operator.sock", "else");
  make("other", "operator.sock");
  const live = createServer().listen(join(make("al-living"), "operator.sock"));
  await once(live, "listening");
  vi.stubEnv("TMPDIR", tmp);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
  try {
    (await own(() => undefined)).close();
    expect(readdirSync(tmp).sort()).toEqual([
      "al-binds1",
      "al-living",
      "al-others",
      "al-starts",
      "other",
    ]);
  } finally {
    vi.useRealTimers();
    vi.unstubAllEnvs();
    live.close();
  }
});

test("a start of the scheduler rejects if the project's path is too long for SQLite", async () => {
  const deep = join(dir, ...Array.from({ length: 5 }, () => "d".repeat(100)));
  mkdirSync(deep, { recursive: true });
  await expect(own(() => undefined, deep)).rejects.toMatchObject({
    hint: expect.stringMatching(/its path has \d+ bytes, and SQLite allows 504/) as unknown,
  });
});
