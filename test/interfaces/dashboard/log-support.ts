import type { Page } from "playwright-core";
import { testDeps, type TestDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

export const logPath = "/dashboard/agents/dev/logs";

/** Shares one browser between the tests of a file; returns how to open dev's log after so many lines. */
export function sharedLogs() {
  const open = sharedBrowser();
  return async (lines: number, deps = testDeps()) => {
    for (let line = 1; line <= lines; line++)
      deps.logs.write({ agent: "dev", msg: `line ${line}` });
    const opened = await open(logPath, deps);
    return { ...opened, rows: opened.page.locator("#log .line") };
  };
}

type Fields = { readonly msg: string; readonly [name: string]: unknown };

/** One run, from its trigger to its end. */
export function writeStory(deps: TestDeps, instanceId = "dev-abcdefgh"): void {
  const write = (fields: Fields): void => deps.logs.write({ agent: "dev", instanceId, ...fields });
  const url = "https://example.com/3";
  const trigger = { kind: "webhook", action: "opened", repo: "acme/site", number: 3, title: "T" };
  write({ kind: "run", msg: "run started by github webhook issues", trigger: { ...trigger, url } });
  write({ kind: "said", msg: "I look first.\nThen I leap." });
  write({ kind: "tool", msg: "bash: ls", tool: "bash", input: { command: "ls -l" } });
  const output = Array.from({ length: 30 }, (_, line) => `file ${line}`).join("\n");
  write({ kind: "tool-result", msg: "bash done", tool: "bash", output, durationMs: 312 });
  const split = { tokens: 1204, input: 1000, output: 204 };
  write({ kind: "usage", msg: "1204 tokens", ...split, model: "haiku" });
  write({ kind: "tool", msg: "bash: false", tool: "bash", input: { command: "false" } });
  const failed = { tool: "bash", output: "exit 1", isError: true, level: 40 };
  write({ kind: "tool-result", msg: "bash failed", ...failed });
  const used = { durationMs: 61_000, turns: 2, tokens: 1204, costUsd: 0.0123 };
  const end = { outcome: "failed", exitCode: 1, level: 50 };
  write({ kind: "run", msg: "run failed after 61.0 s: it gave up", ...end, ...used });
}

/** The clipboard after selecting from one element to another and copying. */
export function copied(page: Page, from: string, to: string, toOffset: number): Promise<string> {
  return page.evaluate(`(() => {
    const [from, to] = ["${from}", "${to}"].map((path) => document.querySelector(path).firstChild);
    getSelection().setBaseAndExtent(from, 0, to, ${toOffset});
    const clipboardData = new DataTransfer();
    const event = new ClipboardEvent("copy", { clipboardData, bubbles: true, cancelable: true });
    to.parentElement.dispatchEvent(event);
    return clipboardData.getData("text/plain"); })()`);
}

/** Pixels of the log below the part that is on the screen. */
export function distanceToBottom(page: Page): Promise<number> {
  return page.evaluate(
    `(() => { const box = document.querySelector("#log");
      return Math.round(box.scrollHeight - box.clientHeight - box.scrollTop); })()`,
  );
}
