import type { Page } from "playwright-core";
import { agentProject } from "../operations/agent-project.ts";
import { sharedBrowser } from "./open-page.ts";
import { withDetail } from "./with-detail.ts";

const open = sharedBrowser({ isFresh: true });
const path = "/dashboard/agents/dev";
const config = "agents/dev/config.toml";
const attack = `<img src=x onerror="window.hacked=true">`;
const dev = `schedule = "0 9 * * *" # ${attack}\nmodels = ["main"]\ncredentials = []\n`;

/** The page of an agent whose files are on disk, edited by the real operations. */
async function openFiles(files: Partial<Parameters<typeof agentProject>[0]> = {}, tab = "config") {
  const project = await agentProject({ dev, ...files });
  const deps = withDetail({ instructions: "# Who" });
  Object.assign(deps.operations, project.edits);
  const opened = await open(`${path}?tab=${tab}`, deps);
  await opened.page.waitForSelector("body[data-connection=live]");
  return { ...project, ...opened };
}

const lines = (page: Page) => page.locator("#file .line-of-file").allInnerTexts();
const type = (page: Page, change: (text: string) => string) =>
  page.locator("#file textarea").evaluate((field: HTMLTextAreaElement, text) => {
    field.value = text;
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }, change(dev));

test("tabs are links in the address: by click, by key, after a reload, by Back, and without script", async () => {
  const { page, url, errors } = await open(path, withDetail({ instructions: "# Who you are" }));
  const current = page.locator("nav.tabs [aria-current=page]");
  expect(await current.innerText()).toBe("Runs");
  await page.getByRole("link", { name: "Why not" }).click();
  await expect.poll(() => page.locator("#why-note").innerText()).toMatch(/^Nothing kept it/);
  expect(new URL(page.url()).search).toBe("?tab=why");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator("#config").isVisible()).toBe(true);
  expect(await page.locator("#why, #last-runs").count()).toBe(0);
  await page.reload();
  expect(await current.innerText()).toBe("Config");
  await page.goBack();
  await page.goBack();
  await expect.poll(() => page.locator("#last-runs").isVisible()).toBe(true);
  expect(await page.evaluate("document.documentElement.scrollHeight")).toBeLessThan(1_400);
  const withoutScript = await page.context().browser()?.newContext({ javaScriptEnabled: false });
  await withoutScript?.addCookies(await page.context().cookies());
  const plain = await withoutScript?.newPage();
  await plain?.goto(url + path);
  expect(await plain?.locator("#last-runs").isVisible()).toBe(true);
  await plain?.getByRole("link", { name: "Instructions" }).click();
  await expect.poll(() => plain?.locator(".instructions h3").innerText()).toBe("Who you are");
  await withoutScript?.close();
  expect(errors).toEqual([]);
}, 60_000);

test("a file is edited after its difference was shown", async () => {
  const { page, read, errors } = await openFiles();
  expect(await lines(page)).toEqual(dev.trimEnd().split("\n"));
  await page.getByRole("button", { name: "Edit" }).click();
  const field = page.getByRole("textbox", { name: `Text of ${config}` });
  await expect.poll(() => field.inputValue()).toBe(dev);
  await type(page, (text) => text.replace("0 9", "5 9"));
  await page.getByRole("link", { name: "Runs" }).click();
  const leave = `dispatchEvent(new Event("beforeunload", { cancelable: true }))`;
  await expect.poll(() => page.evaluate(leave)).toBe(false);
  await page.getByRole("link", { name: "Config" }).click();
  await page.getByRole("button", { name: "Review the change" }).click();
  const dialog = page.locator("#write-dialog");
  await expect.poll(() => dialog.innerText()).toContain(`+schedule = "5 9 * * *" # ${attack}`);
  expect(await dialog.innerText()).toContain(config);
  expect(read(config)).toBe(dev);
  await dialog.getByRole("button", { name: "Write it" }).click();
  await expect.poll(() => read(config)).toBe(dev.replace("0 9", "5 9"));
  await expect.poll(async () => (await lines(page))[0]).toContain("5 9 * * *");
  await expect.poll(() => page.locator("#announcer").textContent()).toBe(`Wrote ${config}`);
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Edit");
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(await page.evaluate(leave)).toBe(true);
  expect(errors).toEqual([]);
}, 60_000);

test("a bad line is marked with what is wrong, and a text with a new error leads to its line", async () => {
  const broken = dev.replace("0 9 * * *", "every day");
  const { page, read } = await openFiles({ dev: broken });
  const marked = page.locator("#file .line-of-file.error");
  expect(await marked.innerText()).toContain("every day");
  expect(await page.locator("#file .file-problem").innerText()).toContain("is not a cron");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: `Copy ${config}:1:12` }).click();
  await expect
    .poll(() => page.evaluate("navigator.clipboard.readText()"))
    .toBe("agents/dev/config.toml:1:12");
  await page.getByRole("button", { name: "Edit" }).click();
  await type(page, (text) => `${text}scale = "many"\n`);
  await page.getByRole("button", { name: "Review the change" }).click();
  const refusal = page.locator("#edit-refusal");
  await expect.poll(() => refusal.innerText()).toContain(`${config}:4:9`);
  const selected = `(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(document.activeElement)`;
  await expect.poll(() => page.evaluate(selected)).toBe('scale = "many"');
  expect(read(config)).toBe(broken);
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect.poll(() => marked.count()).toBe(1);
});

test("an edit on disk meanwhile is shown beside the text, which is kept until the person decides", async () => {
  const { page, read, write } = await openFiles();
  await page.getByRole("button", { name: "Edit" }).click();
  await type(page, (text) => text.replace("0 9", "5 9"));
  write(config, `${dev}scale = 2\n`);
  await page.getByRole("button", { name: "Review the change" }).click();
  const conflict = page.locator("#edit-conflict");
  await expect.poll(() => conflict.innerText()).toContain("scale = 2");
  expect(await page.locator("#write-dialog").isVisible()).toBe(false);
  expect(await page.locator("#file textarea").inputValue()).toContain("5 9");
  await conflict.getByRole("button", { name: "Keep my text" }).click();
  await page.getByRole("button", { name: "Review the change" }).click();
  const dialog = page.locator("#write-dialog");
  await expect.poll(() => dialog.innerText()).toContain("-scale = 2");
  expect(read(config)).toContain("scale = 2");
  await dialog.getByRole("button", { name: "Write it" }).click();
  await expect.poll(() => read(config)).toBe(dev.replace("0 9", "5 9"));
});

test("instructions are rendered, and edited as they are written", async () => {
  const { page, read } = await openFiles({ skill: "---\nname: a\n---\n# Who\n" }, "instructions");
  await page.getByRole("button", { name: "As written" }).click();
  expect((await lines(page)).at(-1)).toBe("# Who");
  await page.getByRole("button", { name: "Edit" }).click();
  await type(page, () => "# Who\n\nYou.\n");
  await page.getByRole("button", { name: "Review the change" }).click();
  await page.getByRole("button", { name: "Write it" }).click();
  await expect.poll(() => read("agents/dev/SKILL.md")).toBe("# Who\n\nYou.\n");
  // The active ones are still the earlier.
  await expect.poll(() => lines(page)).toEqual(["# Who", "", "You."]);
  expect(await page.getByRole("button", { name: "As written" }).count()).toBe(0);
});

test("files are read-only by edit = false; nothing is wider than a phone", async () => {
  const project = "[gateway]\nedit = false\n";
  const { page } = await openFiles({ project, dev: `${dev}# ${"x".repeat(300)}\n` });
  expect(await page.locator("#file").innerText()).toContain("Read-only here");
  expect(await page.getByRole("button", { name: "Edit" }).count()).toBe(0);
  await page.setViewportSize({ width: 375, height: 800 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375);
});
