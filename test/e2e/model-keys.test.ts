import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { removeAll, watchContainers } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { filesBelow } from "../helpers/files-below.ts";
import { isLong } from "../helpers/long.ts";
import { tempUser, whyNoOsUsers } from "../helpers/os-users.ts";
import { addNeighbour, halves, harnesses, lookingProject } from "./looking-project.ts";
import { lookProgram, words, type HarnessName } from "./looking-project.ts";

const { engine, missing } = await testEngine();
const noUsers = whyNoOsUsers();
/** pi and a command line run in each place in `test:long`; the ordinary tests run each once. */
const inPlace = (one: HarnessName) => (isLong ? harnesses : [one]);
const hidden = [words.key, words.header, words.variable];

interface Looked {
  readonly found: Readonly<Record<string, readonly string[]>>;
  readonly programs: readonly string[];
}

/** The scheduler's own environment has a key, as that of a person's shell may. */
async function started(...given: Parameters<typeof lookingProject>) {
  const { project, provider } = await lookingProject(...given);
  onTestFinished(() => provider.close());
  const env = { ANTHROPIC_API_KEY: words.variable, CUSTOM_API_KEY: words.variable };
  await project.start({ env });
  return { project, provider };
}

function looksIn(text: string): readonly Looked[] {
  const lines = text.replaceAll('\\"', '"').matchAll(/LOOKED (\{.*\})/g);
  return [...lines].map(([, json = ""]) => JSON.parse(json) as Looked);
}

/** Runs an agent, which looks before its session, in it and after it, and finds only what its agent was given. */
async function expectHidden(
  { project, provider }: Awaited<ReturnType<typeof started>>,
  harness: HarnessName,
): Promise<void> {
  const { code, stdout, stderr } = await project.al("run", `looker-${harness}`);
  expect(code).toBe(0);
  const logs = await filesBelow(project.path(".al/logs"));
  const logged = [...logs.values(), stdout, stderr, project.scheduler.output()];
  for (const word of hidden) expect(logged.filter((text) => text.includes(word))).toEqual([]);
  const all = looksIn(stdout);
  // A slow command's output is logged while it runs, too.
  expect(all.length).toBeGreaterThanOrEqual(3);
  for (const { found } of all) {
    for (const word of hidden) expect(found[halves(word)]).toEqual([]);
    expect(found[halves(words.own)]?.length).toBeGreaterThan(1);
  }
  const program = harness === "pi" ? "_run-agent" : harness;
  expect(all.flatMap(({ programs }) => programs).join("\n")).toContain(program);
  const headers = provider.requests.at(-1)?.headers;
  expect(JSON.stringify(headers)).toContain(words.key);
  expect(headers?.["x-canary"]).toBe(words.header);
}

test.each(inPlace("pi"))(
  "a run as the scheduler's user, with %s, can't find its model's API key or that of another run",
  async (harness) => {
    const world = await started('type = "host-user"\nrun_as = "$USER"', []);
    await expectHidden(world, harness);
    const { project } = world;
    await addNeighbour(project);
    const neighbour = async () => (await project.trigger("looker-neighbour"))[0];
    await expect.poll(neighbour).toBe(202);
    /** What of the project's runs another process of this user can find. */
    const found = async (): Promise<Partial<Looked["found"]>> => {
      const args = [lookProgram, ...Object.values(words).map(halves)];
      const cwd = project.path("../bin");
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
      return looksIn(stdout)[0]?.found ?? {};
    };
    await expect.poll(async () => (await found())[halves(words.neighbour)]).not.toEqual([]);
    const places = await found();
    expect(hidden.map((word) => places[halves(word)])).toEqual([[], [], []]);
  },
);

test.skipIf(noUsers !== null).each(inPlace("claude"))(
  "no run of another OS user finds the key of its model, with %s",
  async (harness) => {
    const user = await tempUser();
    onTestFinished(() => user.remove().then(() => undefined));
    const runtime = `type = "host-user"\nrun_as = "${user.name}"`;
    await expectHidden(await started(runtime, ["/tmp/al-runs"]), harness);
  },
);

test.skipIf(missing !== null)(
  "a run in a container can't find its model's API key",
  async () => {
    await defaultTestImage(engine);
    const world = await started('type = "container"', ["/"]);
    const { dir } = world.project;
    onTestFinished(() => removeAll(engine, dir));
    const containers = watchContainers(engine, dir);
    await expectHidden(world, "pi");
    await containers.stop();
    const inspected = [...containers.seen.values()].join("\n");
    expect(inspected).toContain("AL_INSTANCE=looker-pi-");
    for (const word of hidden) expect(inspected).not.toContain(word);
  },
  engineSetupMs,
);
