import type { Page } from "playwright-core";
import { agentProject } from "../../../../runtime/agents/agent-project.ts";
import { sharedBrowser } from "../../open-page.ts";
import { containing, untilLive } from "../../shows.ts";
import { attack } from "../../page-states.ts";
import { withDetail } from "../../with-detail.ts";

const open = sharedBrowser({ isFresh: true });
const path = "/dashboard/agents/dev";
const config = "agents/dev/config.toml";
const dev = `schedule = "0 9 * * *" # ${attack}\nmodels = ["main"]\ncredentials = []\n`;
const edited = dev.replace("0 9", "5 9");

/** The page of an agent whose files are on disk, edited by the real operations. */
async function openFiles(text = dev) {
  const project = await agentProject({ dev: text });
  const deps = withDetail({ instructions: "# Who" });
  Object.assign(deps.context.files, project.edits);
  const opened = await open(`${path}?tab=config`, deps);
  await untilLive(opened.page);
  return { ...project, ...opened };
}

const type = (page: Page, text: string) =>
  page.locator("#file textarea").evaluate((field: HTMLTextAreaElement, value) => {
    field.value = value;
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }, text);

test("tabs are links in the address: by click, by key, after a reload, by Back, and without script", async () => {
  const { page, url, shows } = await open(path, withDetail({ instructions: "# Who you are" }));
  await shows({ "nav.tabs [aria-current=page]": "Runs" });
  await page.getByRole("link", { name: "Why it didn't run" }).click();
  await page.waitForURL(/\?tab=why$/);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await shows({ "#config": true, "#why, #last-runs": 0 });
  await page.reload();
  await shows({ "nav.tabs [aria-current=page]": "Config" });
  await page.goBack();
  await page.goBack();
  await shows({ "#last-runs": true });
  const context = await page
    .context()
    .browser()
    ?.newContext({
      javaScriptEnabled: false,
      storageState: await page.context().storageState(),
    });
  onTestFinished(() => context?.close());
  const plain = await context?.newPage();
  await plain?.goto(url + path);
  await plain?.getByRole("link", { name: "Instructions" }).click();
  await expect.poll(() => plain?.locator(".instructions h3").innerText()).toBe("Who you are");
});

test("a file is edited after its difference was shown, and a tab with an unsaved text asks before it closes", async () => {
  const { page, read, shows, press } = await openFiles();
  await shows({ "#file .line-of-file": dev.trimEnd().split("\n") });
  await press("Edit");
  const field = page.getByRole("textbox", { name: `Text of ${config}` });
  await expect.poll(() => field.inputValue()).toBe(dev);
  await type(page, edited);
  await page.getByRole("link", { name: "Runs" }).click();
  const leave = `dispatchEvent(new Event("beforeunload", { cancelable: true }))`;
  await expect.poll(() => page.evaluate(leave)).toBe(false);
  await page.getByRole("link", { name: "Config" }).click();
  await press("Review the change");
  await shows({
    "#write-dialog": containing(`+schedule = "5 9 * * *" # ${attack}`),
    "#write-dialog-next li": 10,
  });
  expect(read(config)).toBe(dev);
  await press("Save changes");
  await expect.poll(() => read(config)).toBe(edited);
  await shows({
    "#file .line-of-file >> nth=0": /5 9 \* \* \*/,
    "#announcer": `Saved ${config}`,
    ":focus": "Edit",
  });
  expect(await page.evaluate(leave)).toBe(true);
});

test("a text with a new error leads to its line, and the place of an old one can be copied", async () => {
  const broken = dev.replace("0 9 * * *", "every day");
  const { page, read, shows, press } = await openFiles(broken);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await press(`Copy ${config}:1:12`);
  await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(`${config}:1:12`);
  await press("Edit");
  await type(page, `${dev}scale = "many"\n`);
  await press("Review the change");
  await shows({ "#edit-refusal": containing(`${config}:4:9`) });
  const selected = `(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(document.activeElement)`;
  await expect.poll(() => page.evaluate(selected)).toBe('scale = "many"');
  expect(read(config)).toBe(broken);
  await press("Cancel");
  await shows({ "#file .line-of-file.error": /every day/ });
});

test("a concurrent edit on disk is shown beside the text, which is kept until the person decides", async () => {
  const { page, read, write, shows, press } = await openFiles();
  await press("Edit");
  await type(page, edited);
  write(config, `${dev}scale = 2\n`);
  await press("Review the change");
  await shows({
    "#edit-conflict": /scale = 2/,
    "#write-dialog": false,
    "#file textarea@value": edited,
  });
  await press("Keep my text");
  await press("Review the change");
  await shows({ "#write-dialog": /-scale = 2/ });
  await press("Save changes");
  await expect.poll(() => read(config)).toBe(edited);
});
