import { makeFolders, type Folders } from "../interfaces/cli/fake-operator.ts";
import { onTerminal, whyNoTerminal } from "../interfaces/cli/terminal.ts";
import { filesBelow } from "../helpers/files-below.ts";
import { LiveProject } from "../helpers/live-project.ts";

const linkIn = /http:\/\/localhost:\d+\/login\/([\w-]{22})/;

async function follow(link: string): Promise<string> {
  const response = await fetch(link, { redirect: "manual" });
  return new URL(response.headers.get("location") ?? "", link).pathname;
}

test("without a terminal al start prints no login token, and no file contains the token of al open's link", async () => {
  const project = await LiveProject.hello();
  const { output, stop } = await project.start();
  expect(output()).toMatch(/^Log in: {4}(?:npx )?al open -p \S+$/m);
  expect(output()).not.toMatch(linkIn);
  const [link = "", token = ""] = linkIn.exec(await project.print("open", "--print")) ?? [];
  expect(await follow(link)).toBe("/dashboard");
  expect(await follow(link)).toBe("/login");
  await stop();
  const files = [...(await filesBelow(project.dir)), ...(await filesBelow(project.home))];
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter(([, text]) => text.includes(token))).toEqual([]);
  expect(output()).not.toContain(token);
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
