import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { removeAll } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testBase, testEngine } from "../helpers/docker.ts";
import { noteSkipped } from "../helpers/note-skipped.ts";
import { bash, scriptedAgents } from "../helpers/scripted-agents.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";
import { outsideGit } from "./outside-git.ts";

vi.setConfig({ testTimeout: 900_000 });
const { engine, missing } = await testEngine();
const noNetwork = whyNoNetwork();
noteSkipped("large checkouts of host users", noNetwork);

const files = 5_000;
/** How much of the pack is in files that a later commit deleted, and in each file of the last commit. */
const [oldFiles, oldBytes, newBytes] = [45, 10 * 1024 ** 2, 10 * 1024];

/** Commits 500 MB that no delta makes smaller: 5,000 files in the last commit, and larger ones before. */
async function fill(path: string): Promise<void> {
  const plain = ["-C", path, "-c", "core.compression=0"];
  const child = spawn("git", [...plain, "fast-import", "--quiet", "--force"], {
    stdio: ["pipe", "inherit", "inherit"],
  });
  const write = async (data: string | Buffer) => {
    if (!child.stdin.write(data)) await once(child.stdin, "drain");
  };
  const commit = "commit refs/heads/main\ncommitter T <t@example.org> 0 +0000\ndata 0\n";
  const file = async (name: string, content: Buffer) => {
    await write(`M 100644 inline ${name}\ndata ${content.length}\n`);
    await write(content);
    await write("\n");
  };
  for (let n = 0; n < oldFiles; n += 1) {
    await write(commit);
    await file("large", randomBytes(oldBytes));
  }
  await write(`${commit}D large\n`);
  for (let n = 0; n < files; n += 1) await file(`f${n % 50}/f${n}`, randomBytes(newBytes));
  child.stdin.end("\n");
  expect(await once(child, "close")).toEqual([0, null]);
}

/** Ms from the request for the repository to the checkout, as runs log them. */
async function expectFast(runtime: string): Promise<void> {
  const { repository, env } = await outsideGit("git.allowed.test", "acme/large.git", [""]);
  await fill(repository.path);
  const git = '[workspace]\ngit = "https://git.allowed.test/acme/large.git"';
  const config = `[runtime]\n${runtime}\n${git}\n`;
  const turns = bash('cd "$AL_WORKSPACE" && echo "files: $(git ls-files | wc -l)"');
  const project = await scriptedAgents(
    { coder: { config, turns } },
    `[local]\nbase = "${testBase}"\n`,
  );
  if (missing === null) onTestFinished(() => removeAll(engine, project.dir));
  await project.start({ env });
  const figures: number[] = [];
  for (const isFirst of [true, false, false, false]) {
    const output = await project.print("run", "coder");
    expect(output).toContain(`files: ${files}`);
    const [, received = "", checkedOut = ""] =
      /received in (\d+) ms, checked out in (\d+) ms/.exec(output) ?? [];
    process.stdout.write(`${runtime}: ${received} ms received, ${checkedOut} ms checked out\n`);
    if (!isFirst) figures.push(Number(received) + Number(checkedOut));
  }
  expect(Math.min(...figures)).toBeLessThan(2_000);
}

test.skipIf(noNetwork !== null)(
  "a repository of 500 MB with 5,000 files is checked out for a host user within 2 s, the mirror aside",
  () => expectFast('type = "host-user"\nrun_as = "$USER"'),
);

describe.skipIf(missing !== null)("with the default image", () => {
  beforeAll(() => defaultTestImage(engine), engineSetupMs);

  test("a repository of 500 MB with 5,000 files is checked out in a container within 2 s, the mirror aside", () =>
    expectFast('type = "container"'));
});
