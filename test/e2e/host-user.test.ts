import { execFileSync } from "node:child_process";
import { whyNoOsUsers } from "../helpers/os-users.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";

const missing = whyNoOsUsers();
if (missing !== null) process.stderr.write(`skipped: examples/host-user (${missing})\n`);

let project: LiveProject;

test("a run whose scheduler is killed is adopted by the next one and succeeds once, with every line once", async () => {
  project = await LiveProject.hello();
  const call = 'name = "bash"\narguments = { command = "sleep 3" }';
  const script = `[[turns]]\ntext = "before"\n[[turns.tools]]\n${call}\n\n[[turns]]\ntext = "after"\n`;
  await project.write("hello.script.toml", script);
  await project.start();
  await project.trigger("hello");
  const messages = (kind: string) => project.messages("hello", kind);
  await expect.poll(() => messages("tool"), slowly).toHaveLength(1);
  await project.scheduler.kill();

  const { waitForOutput } = await project.start();
  await waitForOutput(/run resumed, started manually \S+ m?s ago/);
  expect(await project.agent("hello")).toMatchObject({ state: "running", running: 1 });
  await expect
    .poll(() => project.history("kind=manual"), slowly)
    .toMatchObject([{ outcome: "succeeded", attempt: 1, exitCode: 0 }]);
  expect(await messages("said")).toEqual(["before", "after"]);
  expect(await messages("tool")).toHaveLength(1);
  expect(await messages("tool-result")).toHaveLength(1);
}, 120_000);

describe.skipIf(missing !== null)("examples/host-user", () => {
  let made = false;
  beforeEach(async () => {
    project = await LiveProject.copy("examples/host-user");
    made = !exists("al-agent");
    if (made) execFileSync("useradd", ["--system", "--shell", "/usr/sbin/nologin", "al-agent"]);
  });
  afterEach(async () => {
    await project.remove();
    if (made) execFileSync("userdel", ["al-agent"]);
  });

  test("runs as its own OS user, without a port and without the image of its Dockerfile", async () => {
    await project.write("agents/outsider/Dockerfile", "FROM no/such:image\n");
    const { url } = await project.start({ webUi: false });
    expect(url).toBe("");
    const stdout = await project.print("run", "outsider");
    expect(stdout).toMatch(/I am al-agent, working in \/tmp\/al-runs\/outsider-/);
    expect(stdout).toContain("run succeeded");
  });
});

function exists(user: string): boolean {
  try {
    execFileSync("id", [user], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
