import { cpSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ArtifactsView } from "../../src/features/artifacts/artifact-report.ts";
import { ownUser } from "../helpers/command-agents.ts";
import { forAll, LiveProject } from "../helpers/live-project.ts";
import { bash, scriptedAgents } from "../helpers/scripted-agents.ts";
import { tempDir } from "../helpers/temp-dir.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const secret = "hunter2-hunter2-hunter2";
const report = "mkdir -p out/b && cd out && printf report >a.md";
const [fill, sized] = ["head -c 600 /dev/zero", "[artifacts]\nmaxBytes = '1k'\n"];

let project: LiveProject;
forAll(async () => {
  project = await scriptedAgents({
    failing: { turns: bash(`${report} && al-exit 3`), config: ownUser },
    slow: { turns: bash(`${report} && sleep 600`), config: `timeout = 4\n${ownUser}` },
    large: {
      turns: bash(
        `${report} && ${fill} >b/big1 && ${fill} >b/big2 && printf c >c.sh && chmod +x c.sh && ln -s /etc/passwd link`,
      ),
      config: `${ownUser}${sized}`,
    },
    spy: {
      turns: bash(`${report} && printf 'key: %s' "$ACME_API_KEY" >key.txt`),
      credentials: ["acme"],
    },
    idle: { turns: bash("mkdir out"), config: ownUser },
  });
  await project.store("acme", { api_key: secret });
  await project.start();
});

async function filesOf(agent: string): Promise<ArtifactsView> {
  await project.al("run", agent);
  const { instanceId } = (await project.latest(agent)) ?? {};
  return project.json<ArtifactsView>(`/api/runs/${instanceId}/files`);
}

describe("the files in out/", () => {
  test.each([
    ["failing", "failed"],
    ["slow", "timed_out"],
  ])("of the agent %s are kept with its run, which ends as %s", async (agent, outcome) => {
    expect((await filesOf(agent)).files).toMatchObject([{ path: "a.md", bytes: 6, kind: "text" }]);
    expect(await project.latest(agent)).toMatchObject({ outcome });
  });

  test("over the limit are kept in the order of their names, and the others are named", async () => {
    const { files, leftOut } = await filesOf("large");
    expect(files.map(({ path, executable }) => [path, executable])).toEqual([
      ["a.md", false],
      ["b/big1", false],
      ["c.sh", true],
    ]);
    expect(leftOut.files.map(({ path }) => path)).toEqual(["b/big2", "link"]);
    const shown = await project.al("files", "large");
    expect(shown.stdout).toMatch(/b\/big1 +600 bytes +binary, not scanned/);
    expect(shown.stderr).toMatch(/not kept: b\/big2[^]*not kept: link \(is a link\)/);
  });

  test("never contain a secret of the run's credentials", async () => {
    const { files } = await filesOf("spy");
    const { sha256 = "" } = files.find(({ path }) => path === "key.txt") ?? {};
    const stored = project.path(`.al/blobs/${sha256.slice(0, 2)}/${sha256}`);
    expect(await readFile(stored, "utf8")).toBe("key: [redacted]");
  });

  test("are in a backup, and are there again once it is restored", async () => {
    const folder = tempDir();
    const [file, dir] = [join(folder, "backup.tgz"), join(folder, "copy")];
    const remove = () => Promise.resolve();
    const copy = new LiveProject({ dir, home: join(folder, "home"), remove });
    await filesOf("failing");
    await project.print("backup", file);
    cpSync(project.path("config.toml"), join(dir, "config.toml"));
    expect(await copy.al("restore", file)).toMatchObject({ code: 0 });
    expect((await copy.al("get", "failing", "a.md", "-o", "-")).stdout).toBe("report");
  });

  test("are none for a run that left an empty folder", async () => {
    expect(await filesOf("idle")).toMatchObject({ files: [], leftOut: { files: [], more: 0 } });
    expect((await project.al("files", "idle")).stderr).toContain("the run left no files");
    const got = await project.al("get", "idle", "-o", project.path("none"));
    expect([got.code, got.stderr]).toEqual([1, expect.stringContaining("left no files")]);
    expect(await readdir(project.dir)).not.toContain("none");
  });
});
