import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { removeAll, watchContainers } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { filesBelow } from "../helpers/files-below.ts";
import { isLong } from "../helpers/long.ts";
import { tempUser, whyNoOsUsers, type OsUser } from "../helpers/os-users.ts";
import { runAl, startTestScheduler, type TestScheduler } from "../helpers/scheduler.ts";
import { addNeighbour, halves, harnesses, lookingProject, words } from "./looking-project.ts";
import type { HarnessName, LookingOptions, LookingProject } from "./looking-project.ts";

const { engine, missing } = await testEngine();
const noUsers = whyNoOsUsers();
const ownUser = 'type = "host-user"\nrun_as = "$USER"';
const timeout = 60_000;
/** Every harness runs in each place in `test:long`; the ordinary tests run each at least once. */
const inPlace = (...some: readonly HarnessName[]) => (isLong ? harnesses : some);
const hidden = [words.key, words.header, words.variable];

interface Looked {
  readonly found: Readonly<Record<string, readonly string[]>>;
  readonly programs: readonly string[];
}

let project: LookingProject;
let scheduler: TestScheduler;

/** The scheduler's own environment has a key, as that of a person's shell may. */
async function start(options: LookingOptions): Promise<void> {
  project = await lookingProject(options);
  const env = { ANTHROPIC_API_KEY: words.variable, CUSTOM_API_KEY: words.variable };
  scheduler = await startTestScheduler(project, { env });
}

async function stop(): Promise<void> {
  await scheduler.stop();
  await project.remove();
}

/** Runs an agent to its end; gives what it saw before its session, in it and after it. */
async function run(harness: HarnessName): Promise<readonly Looked[]> {
  const ended = await runAl(project, ["run", `looker-${harness}`]);
  expect(ended).toMatchObject({ code: 0 });
  const logs = await filesBelow(join(project.dir, ".al/logs"));
  const logged = [...logs.values(), ended.stdout, ended.stderr, scheduler.output()];
  for (const word of hidden) {
    expect(logged.filter((text) => text.includes(word))).toEqual([]);
  }
  return looksIn(ended.stdout);
}

function looksIn(text: string): readonly Looked[] {
  const lines = text.replaceAll('\\"', '"').matchAll(/LOOKED (\{.*\})/g);
  return [...lines].map(([, json = ""]) => JSON.parse(json) as Looked);
}

/** What of the project's runs another process of this user can see. */
async function lookFromOutside(): Promise<Looked> {
  const args = [join(import.meta.dirname, "look.mjs"), ...Object.values(words).map(halves)];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: join(project.folder, "bin"),
  });
  return looksIn(stdout)[0] ?? { found: {}, programs: [] };
}

/** The run looked three times, at itself, and found only what its agent was given; the provider got the key. */
function expectHidden(all: readonly Looked[], program: string): void {
  expect(all).toHaveLength(3);
  for (const { found } of all) {
    for (const word of hidden) expect(found[halves(word)]).toEqual([]);
    expect(found[halves(words.own)]?.length).toBeGreaterThan(1);
  }
  expect(all[1]?.programs.join("\n")).toContain(program);
  const last = project.provider.requests.at(-1);
  expect(JSON.stringify(last?.headers)).toContain(words.key);
  expect(last?.headers["x-canary"]).toBe(words.header);
}

const programOf = (harness: HarnessName): string => (harness === "pi" ? "_run-agent" : harness);

describe("a run of the scheduler's own user cannot find the key of its model", () => {
  beforeAll(() => start({ runtime: ownUser, roots: [] }));
  afterAll(stop);

  test.each(inPlace("gemini"))("with %s", { timeout }, async (harness) =>
    expectHidden(await run(harness), programOf(harness)),
  );

  test("nor can another run of the same machine", { timeout }, async () => {
    await addNeighbour(project);
    const trigger = () => scheduler.api("/control/trigger/looker-neighbour", { method: "POST" });
    await expect.poll(async () => (await trigger()).status, { timeout }).toBe(202);
    const found = async () => (await lookFromOutside()).found;
    const ofNeighbour = halves(words.neighbour);
    await expect.poll(async () => (await found())[ofNeighbour], { timeout }).not.toEqual([]);
    const places = await found();
    expect(hidden.map((word) => places[halves(word)])).toEqual([[], [], []]);
  });
});

describe.skipIf(noUsers !== null)(
  "a run of another OS user cannot find the key of its model",
  () => {
    let user: OsUser;
    beforeAll(async () => {
      user = await tempUser();
      const runtime = `type = "host-user"\nrun_as = "${user.name}"`;
      await start({ runtime, roots: ["/tmp/al-runs"] });
    });
    afterAll(async () => {
      await stop();
      await user.remove();
    });

    test.each(inPlace("claude", "codex"))("with %s", { timeout }, async (harness) =>
      expectHidden(await run(harness), programOf(harness)),
    );
  },
);

describe.skipIf(missing !== null)("a run in a container cannot find the key of its model", () => {
  beforeAll(async () => {
    await defaultTestImage(engine);
    await start({ runtime: 'type = "container"', roots: ["/"], inImage: true });
  }, engineSetupMs);
  afterAll(async () => {
    await removeAll(engine, project.dir);
    await stop();
  });

  test.each(inPlace("pi"))("with %s", { timeout: engineSetupMs }, async (harness) => {
    const containers = watchContainers(engine, project.dir);
    // oxlint-disable-next-line typescript/no-misused-promises -- `finally` awaits it
    const all = await run(harness).finally(containers.stop);
    expectHidden(all, programOf(harness));
    const inspected = [...containers.seen.values()].join("\n");
    expect(inspected).toContain(`AL_INSTANCE=looker-${harness}-`);
    for (const word of hidden) expect(inspected).not.toContain(word);
  });
});
