import { makeFolders, type Folders } from "../interfaces/cli/fake-operator.ts";
import { onTerminal, whyNoTerminal } from "../interfaces/cli/terminal.ts";
import { filesBelow } from "../helpers/files-below.ts";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";

const linkIn = /http:\/\/localhost:\d+\/login\/([\w-]{22})/;

async function follow(link: string): Promise<string> {
  const response = await fetch(link, { redirect: "manual" });
  return new URL(response.headers.get("location") ?? "", link).pathname;
}

test("off a terminal al start prints no token, al open makes a link, and no file holds its token", async () => {
  const project = await copyProject("examples/hello");
  const scheduler = await startTestScheduler(project);
  try {
    expect(scheduler.output()).toMatch(/^Log in: {4}al open$/m);
    expect(scheduler.output()).not.toMatch(linkIn);
    const { stdout } = await runAl(project, ["open", "--print"]);
    const [link = "", token = ""] = linkIn.exec(stdout) ?? [];
    expect(await follow(link)).toBe("/dashboard");
    expect(await follow(link)).toBe("/login");
    await scheduler.stop();
    for (const dir of [project.dir, project.home]) {
      const files = await filesBelow(dir);
      expect(files.size).toBeGreaterThan(0);
      expect([...files].filter(([, text]) => text.includes(token))).toEqual([]);
    }
    expect(scheduler.output()).not.toContain(token);
  } finally {
    await scheduler.kill();
    await project.remove();
  }
});

const noTerminal = whyNoTerminal();
describe.skipIf(noTerminal !== null)("on a terminal", () => {
  let folders: Folders;
  beforeEach(() => void (folders = makeFolders()));
  afterEach(() => folders.remove());

  test("al start prints a link that logs in", async () => {
    const args = ["start", "--web-ui", "--headless", "--port", "0"];
    const terminal = onTerminal(folders, args);
    await terminal.until("API key:");
    expect(await follow(linkIn.exec(terminal.shown())?.[0] ?? "")).toBe("/dashboard");
    terminal.key("\u0003");
    await terminal.ended;
  });
});
