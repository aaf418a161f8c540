import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { widthOf } from "../../../../src/interfaces/cli/terminal/fit.ts";
import { whyNoTerminal } from "../terminal.ts";
import { makeLiveProject, untilLeftClean, untilRunning } from "./live-project.ts";
import type { LiveProject } from "./live-project.ts";

const escape = "\u001b";
const ctrlC = "\u0003";
const [down, end] = ["\u001b[B", "\u001b[F"];

const noTerminal = whyNoTerminal();
if (noTerminal !== null) process.stderr.write(`skipped: the live view (${noTerminal})\n`);

let project: LiveProject;
beforeEach(() => {
  project = makeLiveProject();
});
afterEach(() => project.remove());

describe.skipIf(noTerminal !== null)("al start on a terminal", { timeout: 120_000 }, () => {
  test("an empty project says how to begin, and shows the first agent once it is there", async () => {
    const view = project.start(["--web-ui", "--port", "0"], { env: { NO_COLOR: "1" } });
    await view.until("al agent new");
    expect(view.isAlternate()).toBe(true);
    expect(view.screen().join("\n")).toMatch(/Dashboard: http:\/\/localhost:\d+\/dashboard/);
    project.addAgent("first");
    await view.until(/> first +idle/);
    expect(view.raw()).not.toMatch(/\u001b\[(3|4|9|10)\d(;\d+)*m/);
    view.type("q");
    await view.until("Almanac stopped after");
    await untilLeftClean(view, 0);
    expect(view.screen().join("\n")).toMatch(/INFO {2}scheduler stopping \(q\)/);
  });

  test("shows the link that logs in until it is used", async () => {
    const view = project.start(["--web-ui", "--port", "0"]);
    const link = /Log in: (http:\/\/localhost:\d+\/login\/[\w-]{22})\n/;
    await view.until(link);
    const [, url = ""] = link.exec(view.screen().join("\n")) ?? [];
    const response = await fetch(url, { redirect: "manual" });
    expect(response.headers.get("location")).toBe("/dashboard");
    await view.until(/^(?![^]*Log in:)[^]*Dashboard: /);
    view.type("q");
    await untilLeftClean(view, 0);
  });

  test("keys run, follow, pause, disable and end what is selected", async () => {
    project.addAgent("quick");
    project.addAgent("slow", 60);
    const view = project.start();
    await view.until(/> quick +idle/);
    view.type(down);
    await view.until(/> slow +idle/);
    await untilRunning(view);
    view.type("\r");
    await view.until(/bash: seq 1 5/);
    expect(view.isAlternate()).toBe(false);
    view.type(ctrlC);
    await view.until(/> slow +running/);
    expect(view.isAlternate()).toBe(true);
    view.type("p");
    await view.until(/project · paused/);
    view.type("d");
    await view.until("Disable slow? y/n");
    view.type("y");
    await view.until(/> slow .*disabled/);
    view.type("pe");
    await view.until(/project · 2 agents/);
    view.type("K");
    await view.until("End the run of slow? y/n");
    view.type("n");
    await view.until(/> slow +running/);
    view.type("xy");
    await view.until(/> slow +idle/);
    view.type("?");
    await view.until("end the agent's runs (asks first)");
    view.type(escape);
    await view.until(/> slow/);
    view.type("q");
    await untilLeftClean(view, 0);
  });

  test("/ searches: its letters do nothing else, and only what is found is shown", async () => {
    project.addAgent("quick");
    project.addAgent("web-dred");
    const view = project.start();
    await view.until(/> quick +idle/);
    view.type("/web-drx\u007f");
    await view.until(/\/web-dr▏ {2}1 of 2/);
    await view.until(/> web-dred +idle/);
    expect(view.screen().join("\n")).not.toMatch(/quick +idle/);
    view.type("\r");
    await view.until("/web-dr (Esc: all)");
    view.type("r");
    await view.until("Run web-dred? y/n");
    view.type("n");
    view.type("/zz\r");
    await view.until("No agent has this in its name.");
    view.type("d");
    await view.until("no agent is selected");
    view.type(escape);
    await view.until(/quick +idle[^]*web-dred +idle/);
    expect(view.screen().join("\n")).not.toMatch(/disabled|[1-9] running/);
    view.type("q");
    await untilLeftClean(view, 0);
  });

  test("what is pasted asks for nothing", async () => {
    project.addAgent("quick");
    const view = project.start();
    await view.until(/> quick/);
    view.type("\u001b[200~rrq\u001b[201~?");
    await view.until("Esc goes back");
    expect(project.log("quick")).not.toContain("manually");
  });

  test("fits every size, also while it is resized", async () => {
    for (let index = 10; index < 60; index++) project.addAgent(`agent-${index}`);
    const view = project.start([], { columns: 80, rows: 24 });
    await view.until(/> agent-10/);
    view.type(end);
    await view.until(/> agent-59[^]*50 of 50/);
    for (const [columns, rows] of [
      [60, 10],
      [200, 50],
      [72, 7],
      [100, 30],
    ] as const) {
      view.resize(columns, rows);
      await view.until(/^project · 50 agents[^]*> agent-59[^]*q quit$/);
      const screen = view.screen();
      expect(screen.filter((line) => line.startsWith("project"))).toHaveLength(1);
      for (const line of screen) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    }
  });

  test("a broken config is on the screen until it is mended", async () => {
    project.addAgent("first", 0, "every day");
    const view = project.start();
    await view.until(/> first +error +agents\/first\/config.toml/);
    expect(view.screen().join(" ")).toContain('"every day" is not');
    project.addAgent("first");
    await view.until(/> first +idle/);
    project.write("config.toml", "workQueueSize = 'much'\n");
    await view.until(/^error config.toml:1:\d+ workQueueSize/m);
    project.write("config.toml", '[models.scripted]\nprovider = "scripted"\nscript = "s.toml"\n');
    await view.until(/0 running[^\n]*\nno dashboard[^\n]*\n {2}Agent/);
  });

  test("a project that can't start says so on the ordinary screen", async () => {
    project.write("config.toml", "workQueueSize = 'much'\n");
    const view = project.start();
    await view.until(/^error: config.toml:1:\d+/m);
    await view.until("exit 1");
    expect(view.raw()).not.toContain("\u001b[?1049h");
  });

  test("--headless and CI get lines there, too", async () => {
    const lines = project.start(["--headless"]);
    await lines.until("API key:");
    lines.signal("SIGTERM");
    await lines.until("exit 0");
    const ci = project.start([], { env: { CI: "true" } });
    await ci.until("API key:");
    for (const { raw } of [lines, ci]) expect(raw()).not.toContain("\u001b[?1049h");
  });
});
