import { execFileSync } from "node:child_process";
import { createLogSource } from "../../src/foundation/logs/log-source.ts";
import { whyNoOsUsers } from "../helpers/os-users.ts";
import { LiveProject, ownLog, slowly } from "../helpers/live-project.ts";

const missing = whyNoOsUsers();
if (missing !== null) process.stderr.write(`skipped: examples/host-user (${missing})\n`);

let project: LiveProject;

describe("a run whose scheduler is killed", { timeout: 120_000 }, () => {
  /** Starts a run that sleeps between two texts, and kills its scheduler as soon as it is `there`. */
  async function crash(
    there: () => Promise<boolean>,
    sleepSeconds: number,
    postSeconds = 0,
  ): Promise<void> {
    project = await LiveProject.hello();
    const call = `name = "bash"\narguments = { command = "sleep ${sleepSeconds}" }`;
    const script = `[[turns]]\ntext = "before"\n[[turns.tools]]\n${call}\n\n[[turns]]\ntext = "after"\n`;
    await project.write("hello.script.toml", script);
    const config = "agents/hello/config.toml";
    await project.append(config, `\n[hooks]\npost = ["sleep ${postSeconds}"]\n`);
    await project.start();
    await project.trigger("hello");
    await expect.poll(there, slowly).toBe(true);
    await project.scheduler.kill();
  }

  const messages = (kind: string) => project.messages("hello", kind);
  const firstTextIsLogged = async () => (await messages("tool")).length > 0;
  const lastTextIsLogged = async () => (await messages("said")).length > 1;

  /** What the run itself wrote. */
  async function runLog(): Promise<string> {
    const query = { agent: "hello", instanceId: null, lines: 1_000, after: null };
    const lines = await createLogSource(project.dir).read(query);
    return ownLog(lines.findLast(({ entry }) => entry.instanceId)?.entry.instanceId ?? "");
  }

  const history = () => project.history("kind=manual");
  const ended = () => expect.poll(history, slowly);

  test("a run whose scheduler is killed is adopted by the next one and succeeds once, with every line once", async () => {
    await crash(firstTextIsLogged, 3);
    const { waitForOutput } = await project.start();
    await waitForOutput(/run resumed, started manually \S+ m?s ago/);
    expect(await project.agent("hello")).toMatchObject({ state: "running", running: 1 });
    await ended().toMatchObject([{ outcome: "succeeded", attempt: 1, exitCode: 0 }]);
    expect(await messages("said")).toEqual(["before", "after"]);
    expect(await messages("tool")).toHaveLength(1);
    expect(await messages("tool-result")).toHaveLength(1);
  });

  test("a run whose scheduler is killed has its own end time if it ended before the next one", async () => {
    // Without its scheduler no model answers: only what follows the last answer can end.
    await crash(lastTextIsLogged, 0, 2);
    await expect.poll(runLog, slowly).toMatch(/Z end \{/);
    const before = Date.now();
    await project.start();
    await ended().toMatchObject([{ outcome: "succeeded", attempt: 1 }]);
    expect(await messages("said")).toEqual(["before", "after"]);
    const [entry] = await history();
    expect(Date.parse(entry?.endedAt ?? "")).toBeLessThan(before);
  });
});

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

  test("examples/host-user runs as its own OS user, without a port and without the image of its Dockerfile", async () => {
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
