import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { lockProject } from "../../../../src/foundation/store/project-lock.ts";
import { installationOf, printUpgrade } from "../../../../src/interfaces/cli/upgrade/upgrade.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { cliProject } from "../fake-operator.ts";

const cli = cliProject();
const startedAt = new Date(0).toISOString();
const stopped = { pid: process.pid, startedAt, socketPath: null, gatewayUrl: null };

test("al upgrade recognizes each way of installation", () => {
  const project = tempDir();
  writeFileSync(join(project, "package.json"), "{}");
  const found = [
    "/opt/almanac",
    "/home/me/almanac",
    "/home/me/.npm/_npx/0a1b/node_modules/almanac",
    "/usr/lib/node_modules/almanac",
    join(project, "node_modules/almanac"),
  ].map(installationOf);
  expect(found).toEqual(["container", "clone", "npx", "global", "dependency"]);
});

test("al upgrade prints the commands for the running program", async () => {
  expect(await cli.output("upgrade")).toMatch(
    /\(clone\) in (\S+)\ngit -C \1 pull\nnpm --prefix \1 /,
  );
});

test("al upgrade --check names an older running scheduler and the commits of the last git fetch", async () => {
  const [upstream, clone] = [tempDir(), join(tempDir(), "clone")];
  const git = (cwd: string, ...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd });
  const commit = () => git(upstream, "commit", "-q", "--allow-empty", "-m", "more");
  git(upstream, "init", "-q");
  commit();
  git(upstream, "clone", "-q", upstream, clone);
  commit();
  commit();
  git(clone, "fetch", "-q");
  const lock = lockProject(cli.projectDir, { ...stopped, version: "0.0.9" });
  onTestFinished(() => lock.release());
  const data = vi.fn<(value: unknown, text: string) => void>();
  const context = { projectDir: cli.projectDir, env: {}, out: { answer: data } as never };
  await printUpgrade(context, { check: true }, clone);
  expect(data).toHaveBeenCalledWith(
    expect.objectContaining({ running: "0.0.9", behind: 2 }),
    expect.stringMatching(/still runs 0\.0\.9: restart it\.\n2 newer commits/),
  );
});
