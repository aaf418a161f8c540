import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstValueFrom, lastValueFrom, ReplaySubject, take, toArray } from "rxjs";
import { connectEngine } from "../../../../src/runtime/runners/container/engine.ts";
import { projectId } from "../../../../src/runtime/runners/container/labels.ts";
import { createAgentImages } from "../../../../src/runtime/runners/container/images.ts";
import type { AgentImagesOptions } from "../../../../src/runtime/runners/container/images.ts";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { BuildEvent } from "../../../../streams/vocabulary.ts";
import { anAgent } from "../../../helpers/agents.ts";
import {
  engineSetupMs,
  removeTestImages,
  testBase,
  testEngine,
  testImage,
} from "../../../helpers/docker.ts";
import { pause } from "../../../helpers/pause.ts";
import { perTest } from "../../../helpers/per-test.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { like } from "../../../helpers/like.ts";

const { engine, missing } = await testEngine();
/** Not the image of a user who runs these tests, nor of another test run. */
const image = testImage("images");
const repo = image.replace(/:latest$/, "");
const usual = { image, base: testBase };
const programs = await mkdtemp(join(tmpdir(), "al-programs-"));
const programDir = await aProgram("1.2.3");
afterAll(async () => {
  await rm(programs, { recursive: true, force: true });
  if (missing === null) await removeTestImages(engine, image);
});

const project = perTest(tempDir, async (dir) => {
  if (missing !== null) return;
  const label = [`al.project=${projectId(dir)}`];
  for (const { Id } of await engine.calls().listImages({ filters: { label } })) {
    await engine.calls().getImage(Id).remove({ force: true });
  }
});

async function aProgram(version: string): Promise<string> {
  const dir = join(programs, version);
  await mkdir(join(dir, "dist/src/cli"), { recursive: true });
  await writeFile(join(dir, "package.json"), JSON.stringify({ name: "almanac", version }));
  await writeFile(join(dir, "dist/src/cli/al.js"), `console.log("the program")`);
  return dir;
}

const imagesWith = ({ projectDir = project(), ...options }: Partial<AgentImagesOptions> = {}) =>
  createAgentImages({
    engine,
    projectDir,
    programDir,
    local: () => usual,
    defaultImage: image,
    ...options,
  });
const events = (agent: AgentConfig, options: Partial<AgentImagesOptions> = {}) =>
  lastValueFrom(imagesWith(options).prepare(agent).pipe(toArray()));

const ready = { type: "build-finished", error: null, usable: true };
const started = { type: "build-started" };
const failed = (error: RegExp) => ({
  type: "build-finished",
  error: like(error),
});
const plain = anAgent("dev");
const inspect = (name: string) => engine.calls().getImage(name).inspect();

/** Writes a file of the agent's folder. */
async function write(name: string, text: string): Promise<void> {
  await mkdir(join(project(), "agents/dev"), { recursive: true });
  await writeFile(join(project(), "agents/dev", name), text);
}

/** The agent with a Dockerfile of these lines, which are its own as none of another project are. */
async function withDockerfile(lines: string, from = image): Promise<AgentConfig> {
  const text = `FROM ${from}\n${lines} # ${project()}\n`;
  await write("Dockerfile", text);
  return anAgent("dev", { dockerfileHash: text });
}

describe.skipIf(missing !== null)("the image of an agent", () => {
  beforeAll(async () => {
    await events(plain, { projectDir: programs });
  }, engineSetupMs);

  test("is by default Almanac's, built only if missing or changed", async () => {
    expect(await events(plain)).toEqual([ready]);
    const { Config, RepoTags } = await inspect(image);
    expect(Config.Labels["al.version"]).toBe("1.2.3");
    expect(RepoTags).toContain(`${repo}:1.2.3`);
    await writeFile(join(programDir, "dist/src/cli/al.js"), `console.log("it, changed")`);
    expect((await events(plain))[0]).toMatchObject(started);
    expect(await events(plain)).toEqual([ready]);
    const replaced = RepoTags.filter((tag) => tag.startsWith(`${repo}:1.2.3-`));
    expect(replaced).toHaveLength(1);
    await expect(inspect(replaced.join())).rejects.toThrow(/no such/i);
  });

  test("is not rebuilt because another installation builds its own on the same engine", async () => {
    const other = { programDir: await aProgram("4.5.6") };
    const agent = await withDockerfile("RUN cat /opt/almanac/package.json");
    expect((await events(plain, other))[0]).toMatchObject(started);
    expect((await inspect(image)).RepoTags).toContain(`${repo}:4.5.6`);
    expect(await events(plain)).toEqual([ready]);
    const { Config } = await inspect(await imagesWith().imageFor(agent));
    expect(Config.Labels["al.version"]).toBe("1.2.3");
    expect(await events(plain, other)).toEqual([ready]);
  });

  test.each([
    [{ image: "al-none:1", base: null }, /"al-none:1".*not on this engine/],
    [{ image: testBase, base: null }, /FROM al-agent:latest/],
    [{ ...usual, base: "al-none:2" }, /\[local\]\.base/],
  ])(
    "is rejected if the configured one is missing or lacks the program: %j",
    async (local, error) =>
      expect(await events(plain, { local: () => local })).toMatchObject([failed(error)]),
  );

  test("is rejected if its Dockerfile is not based on Almanac's image", async () => {
    const agent = await withDockerfile("RUN true", testBase);
    expect((await events(agent)).at(-1)).toMatchObject(failed(/FROM al-agent:latest/));
  });

  test("is built from the agent's own Dockerfile, once for equal contents", async () => {
    await write("tool.sh", "echo tool");
    const agent = await withDockerfile("COPY tool.sh /opt/tool.sh\nRUN ! test -e /opt/SKILL.md");
    const built = await events(agent);
    expect([built[0], built.at(-1)]).toMatchObject([started, ready]);
    const step = (text: string) => ({ text: like(text) });
    expect(built.filter(({ type }) => type === "build-progress").slice(0, 3)).toMatchObject(
      [` : FROM ${repo}:1.2.3-`, "COPY tool.sh", "RUN !"].map(step),
    );
    expect(await events(agent)).toEqual([ready]);
    await write("SKILL.md", "changed");
    expect(await events(agent)).toEqual([ready]);
    await write("tool.sh", "echo other tool");
    expect((await events(agent))[0]).toMatchObject(started);
  });

  test("is built once for all concurrent callers", async () => {
    const agent = await withDockerfile("RUN sleep 1");
    const images = imagesWith();
    const begun = new ReplaySubject<BuildEvent>();
    images.prepare(agent).subscribe(begun);
    await firstValueFrom(begun);
    const [first, joined, id, sameId] = await Promise.all([
      lastValueFrom(begun.pipe(toArray())),
      lastValueFrom(images.prepare(agent).pipe(toArray())),
      images.imageFor(agent),
      images.imageFor(agent),
    ]);
    const types = first.map(({ type }) => type);
    expect(types.filter((type) => type === "build-started")).toHaveLength(1);
    expect(types).toContain("build-progress");
    // The other one waits for it, and its log has the steps no second time.
    const text = like(/^building .*, which was started for another agent$/);
    expect(joined).toEqual([{ ...started, text }, ready]);
    expect(sameId).toBe(id);
    const dev = await engine.calls().listImages({ filters: { label: ["al.agent=dev"] } });
    expect(dev.map(({ Id }) => Id)).toContain(id);
  });

  test("stays the last good image after a failed build", async () => {
    const goodId = await imagesWith().imageFor(await withDockerfile("RUN true"));
    const bad = await withDockerfile("RUN exit 9");
    expect((await events(bad)).at(-1)).toMatchObject(failed(/code: 9.*fix the Dockerfile/));
    expect(await imagesWith().imageFor(bad)).toBe(goodId);
    const fixed = await withDockerfile("RUN echo again");
    expect(await imagesWith().imageFor(fixed)).not.toBe(goodId);
  });

  test("is missing when its only build failed, and no run repeats the build", async () => {
    const bad = await withDockerfile("RUN sleep 1; exit 9");
    const images = imagesWith();
    const failure = async (): Promise<number> => {
      const before = performance.now();
      await expect(images.imageFor(bad)).rejects.toThrow("non-zero code: 9");
      return performance.now() - before;
    };
    const built = await failure();
    expect(await failure()).toBeLessThan(built / 2);
  });

  test("stops being built once no caller waits for it", async () => {
    const agent = await withDockerfile("RUN sleep 20");
    const images = imagesWith();
    await firstValueFrom(images.prepare(agent).pipe(take(3)));
    const text = expect.not.stringContaining("started for another agent") as string;
    expect(await firstValueFrom(images.prepare(agent))).toMatchObject({ ...started, text });
  });
});

test("a missing engine is reported once, and retried", async () => {
  const nowhere = connectEngine({ env: { DOCKER_HOST: "unix:///nowhere.sock" } });
  const ping = vi.fn(nowhere.ping);
  const seen: unknown[] = [];
  const retryMs = { first: 20, last: 40 };
  const images = imagesWith({ engine: { ...nowhere, ping }, retryMs });
  const preparing = images.prepare(plain).subscribe((event) => seen.push(event));
  await vi.waitUntil(() => ping.mock.calls.length >= 4);
  preparing.unsubscribe();
  expect(seen).toMatchObject([failed(/no container engine answers.*DOCKER_HOST/)]);
  const { length } = ping.mock.calls;
  await pause(100, "it must not be asked again");
  expect(ping).toHaveBeenCalledTimes(length);
  await expect(images.imageFor(plain)).rejects.toThrow("no container engine answers");
});
