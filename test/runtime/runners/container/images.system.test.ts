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
import { tempDir } from "../../../helpers/temp-dir.ts";

const { engine, missing } = await testEngine();
/** Not the image of a user who runs these tests, nor of another test run. */
const image = testImage("images");
const repo = image.replace(/:latest$/, "");
const usual = { image, base: testBase };
const programDir = await aProgram("1.2.3");
afterAll(async () => {
  await rm(programDir, { recursive: true, force: true });
  if (missing === null) await removeTestImages(engine, image);
});

let projectDir: string;
beforeEach(async () => {
  projectDir = tempDir();
  await mkdir(join(projectDir, "agents/dev"), { recursive: true });
});
afterEach(async () => {
  if (missing === null) await removeImages(projectId(projectDir));
});

async function aProgram(version: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "al-program-"));
  await mkdir(join(dir, "dist/src/cli"), { recursive: true });
  await writeFile(join(dir, "package.json"), JSON.stringify({ name: "almanac", version }));
  await writeFile(join(dir, "dist/src/cli/al.js"), `console.log("the program")`);
  return dir;
}

async function removeImages(project: string): Promise<void> {
  const label = [`al.project=${project}`];
  for (const { Id } of await engine.calls().listImages({ filters: { label } })) {
    await engine.calls().getImage(Id).remove({ force: true });
  }
}

const imagesWith = (options: Partial<AgentImagesOptions> = {}) =>
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

const plain = anAgent("dev");

/** The agent with this Dockerfile in its folder. */
async function withDockerfile(text: string): Promise<AgentConfig> {
  await writeFile(join(projectDir, "agents/dev/Dockerfile"), text);
  return anAgent("dev", { dockerfileHash: text });
}

describe.skipIf(missing !== null)("the image of an agent", () => {
  beforeAll(async () => {
    await lastValueFrom(imagesWith().prepare(plain));
  }, engineSetupMs);

  test("is the default one, built only if missing or changed", async () => {
    expect(await events(plain)).toEqual([{ type: "build-finished", error: null, usable: true }]);
    const { Config, RepoTags } = await engine.calls().getImage(image).inspect();
    expect(Config.Labels["al.version"]).toBe("1.2.3");
    expect(RepoTags).toContain(`${repo}:1.2.3`);
    const al = join(programDir, "dist/src/cli/al.js");
    await writeFile(al, `console.log("the program, changed")`);
    const again = await events(plain);
    expect(again[0]).toMatchObject({ type: "build-started" });
    expect(await events(plain)).toHaveLength(1);
    const replaced = RepoTags.filter((tag) => tag.startsWith(`${repo}:1.2.3-`));
    expect(replaced).toHaveLength(1);
    await expect(engine.calls().getImage(replaced.join()).inspect()).rejects.toThrow(/no such/i);
  });

  test("is not rebuilt because another installation builds its own on the same engine", async () => {
    const other = await aProgram("4.5.6");
    const agent = await withDockerfile(`FROM ${image}\nRUN cat /opt/almanac/package.json\n`);
    try {
      const theirs = await events(plain, { programDir: other });
      expect(theirs[0]).toMatchObject({ type: "build-started" });
      const { RepoTags } = await engine.calls().getImage(image).inspect();
      expect(RepoTags).toContain(`${repo}:4.5.6`);
      expect(await events(plain)).toHaveLength(1);
      const id = await imagesWith().imageFor(agent);
      const { Config } = await engine.calls().getImage(id).inspect();
      expect(Config.Labels["al.version"]).toBe("1.2.3");
      expect(await events(plain, { programDir: other })).toHaveLength(1);
    } finally {
      await rm(other, { recursive: true });
    }
  });

  test("is never another one that is missing or lacks the program", async () => {
    const none = await events(plain, { local: () => ({ image: "al-none:1", base: null }) });
    expect(none).toMatchObject([
      { error: expect.stringMatching(/"al-none:1".*not on this engine/) as string },
    ]);
    const bare = await events(plain, { local: () => ({ image: testBase, base: null }) });
    expect(bare).toMatchObject([
      { error: expect.stringMatching(/FROM al-agent:latest/) as string },
    ]);
    const base = await events(plain, { local: () => ({ ...usual, base: "al-none:2" }) });
    expect(base).toMatchObject([{ error: expect.stringMatching(/\[local\]\.base/) as string }]);
  });

  test("is built from the agent's own Dockerfile, step by step, once for equal contents", async () => {
    await writeFile(join(projectDir, "agents/dev/tool.sh"), "echo tool");
    const text = `FROM ${image}\nCOPY tool.sh /opt/tool.sh\nRUN ! test -e /opt/SKILL.md\n`;
    const agent = await withDockerfile(text);
    const built = await events(agent);
    expect(built[0]).toMatchObject({ type: "build-started" });
    expect(built.at(-1)).toEqual({ type: "build-finished", error: null, usable: true });
    const steps = built.filter(({ type }) => type === "build-progress");
    expect(steps.slice(0, 3)).toMatchObject([
      { text: expect.stringContaining(` : FROM ${repo}:1.2.3-`) as string },
      { text: expect.stringContaining("COPY tool.sh") as string },
      { text: expect.stringContaining("RUN !") as string },
    ]);
    expect(await events(agent)).toEqual([{ type: "build-finished", error: null, usable: true }]);
    await writeFile(join(projectDir, "agents/dev/SKILL.md"), "changed");
    expect(await events(agent)).toHaveLength(1);
    await writeFile(join(projectDir, "agents/dev/tool.sh"), "echo other tool");
    expect((await events(agent)).length).toBeGreaterThan(1);
  });

  test("is built once for all concurrent callers", async () => {
    const agent = await withDockerfile(`FROM ${image}\nRUN sleep 1; echo ${projectDir}\n`);
    const images = imagesWith();
    const begun = new ReplaySubject<BuildEvent>();
    images.prepare(agent).subscribe(begun);
    await firstValueFrom(begun);
    const all = await Promise.all([
      lastValueFrom(begun.pipe(toArray())),
      lastValueFrom(images.prepare(agent).pipe(toArray())),
      images.imageFor(agent),
      images.imageFor(agent),
    ]);
    expect(all[0].filter(({ type }) => type === "build-started")).toHaveLength(1);
    expect(all[0].filter(({ type }) => type === "build-progress").length).toBeGreaterThan(1);
    // The other one waits for it, and its log has the steps no second time.
    expect(all[1]).toEqual([
      {
        type: "build-started",
        text: expect.stringMatching(/^building .*, which was begun for another agent$/) as string,
      },
      { type: "build-finished", error: null, usable: true },
    ]);
    expect(all[2]).toBe(all[3]);
    const label = [`al.agent=dev`];
    const dev = await engine.calls().listImages({ filters: { label } });
    expect(dev.map(({ Id }) => Id)).toContain(all[2]);
  });

  test("stays the last good one after a build that failed, whose last lines are shown", async () => {
    const good = await withDockerfile(`FROM ${image}\nRUN echo ${projectDir}\n`);
    const goodId = await imagesWith().imageFor(good);
    const bad = await withDockerfile(
      `FROM ${image}\nRUN echo cannot do this ${projectDir}; exit 9\n`,
    );
    const [last] = (await events(bad)).slice(-1);
    expect(last).toMatchObject({ type: "build-finished" });
    const error = last?.type === "build-finished" ? (last.error ?? "") : "";
    expect(error).toContain(`cannot do this ${projectDir}`);
    expect(error).toContain("non-zero code: 9");
    expect(error).toContain("fix the Dockerfile");
    expect(error.length).toBeLessThan(2500);
    expect(await imagesWith().imageFor(bad)).toBe(goodId);
    const mended = await withDockerfile(`FROM ${image}\nRUN echo again ${projectDir}\n`);
    expect(await imagesWith().imageFor(mended)).not.toBe(goodId);
  });

  test("reports that its base image can't be pulled", async () => {
    const bad = await withDockerfile("FROM registry.invalid/none:1\n");
    const [last] = (await events(bad)).slice(-1);
    const error = last?.type === "build-finished" ? (last.error ?? "") : "";
    expect(error).toContain("registry.invalid");
    expect(error).toContain("can't be pulled: pull or import it, or name another");
    expect(error).not.toContain("fix the Dockerfile");
  });

  test("is missing when its only build failed, which is not repeated by each run", async () => {
    const bad = await withDockerfile(`FROM ${image}\nRUN sleep 1; exit 9 # ${projectDir}\n`);
    const images = imagesWith();
    const failed = async (): Promise<number> => {
      const before = performance.now();
      await expect(images.imageFor(bad)).rejects.toThrow("non-zero code: 9");
      return performance.now() - before;
    };
    const built = await failed();
    expect(await failed()).toBeLessThan(built / 2);
  });

  test("is rejected when its Dockerfile does not begin with the program's image", async () => {
    const [last] = (await events(await withDockerfile(`FROM ${testBase}\nRUN true\n`))).slice(-1);
    expect(last).toMatchObject({
      error: expect.stringContaining("FROM al-agent:latest") as string,
    });
  });

  test("is no longer built without a waiting caller", async () => {
    const agent = await withDockerfile(`FROM ${image}\nRUN sleep 20 # ${projectDir}\n`);
    const images = imagesWith();
    await firstValueFrom(images.prepare(agent).pipe(take(3)));
    const started = await firstValueFrom(images.prepare(agent));
    expect(started.type).toBe("build-started");
  });
});

test("a missing engine is reported once, retried, and used when it is back", async () => {
  const nowhere = connectEngine({ env: { DOCKER_HOST: "unix:///nowhere.sock" } });
  let asked = 0;
  const ping = () => {
    asked += 1;
    return nowhere.ping();
  };
  const flaky = { ...nowhere, ping };
  const seen: unknown[] = [];
  const images = imagesWith({ engine: flaky, retryMs: { first: 20, last: 40 } });
  const preparing = images.prepare(plain).subscribe((event) => seen.push(event));
  while (asked < 4) await new Promise((resolve) => setTimeout(resolve, 10));
  preparing.unsubscribe();
  expect(seen).toMatchObject([
    {
      type: "build-finished",
      error: expect.stringMatching(/no container engine answers.*DOCKER_HOST/) as string,
    },
  ]);
  const after = asked;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(asked).toBe(after);
  await expect(images.imageFor(plain)).rejects.toThrow("no container engine answers");
});
