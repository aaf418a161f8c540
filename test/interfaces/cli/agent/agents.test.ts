import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStore } from "../../../../src/foundation/store/store.ts";
import { anAgentStatus } from "../../../helpers/agent-status.ts";
import { manualItem, requestFor } from "../../../foundation/store/support.ts";
import { makeFolders, snapshotOf, startFakeOperator } from "../fake-operator.ts";
import type { Folders } from "../fake-operator.ts";
import { onTerminal, whyNoTerminal } from "../terminal.ts";

let folders: Folders;

beforeEach(() => {
  folders = makeFolders();
  const config = '[models.m]\nprovider = "scripted"\nscript = "s.toml"\n';
  writeFileSync(join(folders.projectDir, "config.toml"), config);
  agent("dev", 'tags = ["web", "team-a"]\n', "name: Developer\n");
  agent("bad", 'schedule = "every day"\n');
});
afterEach(() => folders.remove());

function agent(name: string, more: string, head = ""): void {
  const dir = agentDir(name);
  mkdirSync(dir, { recursive: true });
  const config = `models = ["m"]\ncredentials = []\ncallable = true\n${more}`;
  writeFileSync(join(dir, "config.toml"), config);
  writeFileSync(join(dir, "SKILL.md"), `---\n${head}description: d\n---\nDo it.\n`);
}

function agentDir(name: string): string {
  return join(folders.projectDir, "agents", name);
}

describe("al agent ls", () => {
  test("lists names, states, tags and titles of a project that never ran", async () => {
    const { code, stdout } = await folders.al(["agent", "ls"]);
    expect(code).toBe(0);
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(/^Agent +State +Tags +Title$/),
      expect.stringMatching(/^bad +error/),
      expect.stringMatching(/^dev +idle +web, team-a +Developer$/),
      "",
    ]);
    expect(readdirSync(folders.projectDir)).not.toContain(".al");
  });

  test("asks the scheduler that runs", async () => {
    const status = { ...anAgentStatus("dev"), tags: ["web"], enabled: false };
    const operator = await startFakeOperator(folders, {
      "GET /control/status": () => snapshotOf([status]),
    });
    const { stdout } = await folders.al(["agent", "ls", "--json"]);
    await operator.close();
    const { name, title, state } = status;
    expect(JSON.parse(stdout)).toEqual({
      agents: [{ name, title, tags: ["web"], enabled: false, state }],
    });
  });
});

describe("al agent rm", () => {
  test("removes the directory, and nothing else", async () => {
    const { code, stdout } = await folders.al(["agent", "rm", "dev", "--yes"]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "agents/dev is removed; its history and logs stay\n",
    });
    expect(readdirSync(dirname(agentDir("dev")))).toEqual(["bad"]);
    const left = readdirSync(join(folders.projectDir, ".al"));
    expect(left.filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("removes a link, and not what it leads to", async () => {
    const target = mkdtempSync(join(folders.projectDir, "../linked-"));
    writeFileSync(join(target, "SKILL.md"), "mine");
    symlinkSync(target, agentDir("linked"));
    expect((await folders.al(["agent", "rm", "linked", "-y"])).code).toBe(0);
    expect(existsSync(agentDir("linked"))).toBe(false);
    expect(readdirSync(target)).toEqual(["SKILL.md"]);
  });

  test.each([
    [["dve", "--yes"], 1, 'did you mean "dev"'],
    [["../agents/dev", "--yes"], 1, "there is no agent"],
    [["dev"], 2, "--yes is missing"],
  ])("%j removes nothing", async (args, code, text) => {
    const ran = await folders.al(["agent", "rm", ...args]);
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(text);
    expect(existsSync(agentDir("dev"))).toBe(true);
  });

  test("refuses while a run is running, with what to do", async () => {
    const operator = await startFakeOperator(folders, {
      "GET /control/status": () => snapshotOf([{ ...anAgentStatus("dev"), running: 2 }]),
    });
    const { code, stderr } = await folders.al(["agent", "rm", "dev", "--yes"]);
    await operator.close();
    expect(code).toBe(1);
    expect(stderr).toContain("dev has 2 runs");
    expect(stderr).toContain("al kill dev");
    expect(existsSync(agentDir("dev"))).toBe(true);
  });

  test("refuses while a run may continue that a killed scheduler left", async () => {
    const store = openStore(folders.projectDir);
    const item = manualItem("one", "dev", Date.now());
    await store.work.enqueue([item]);
    await store.work.claim(requestFor(item, "dev-aaaaaaaa"), {
      hash: "h",
      content: { config: "", instructions: "" },
    });
    store.close();
    const { code, stderr } = await folders.al(["agent", "rm", "dev", "--yes"]);
    expect(code).toBe(1);
    expect(stderr).toContain("al start goes on with its runs");
    expect(existsSync(agentDir("dev"))).toBe(true);
  });

  test.skipIf(whyNoTerminal() !== null)("asks on a terminal", async () => {
    const terminal = onTerminal(folders, ["agent", "rm", "dev"]);
    await terminal.until("Remove agents/dev with all of its files for good?");
    terminal.line("");
    expect(await terminal.ended).toBe(1);
    expect(terminal.shown()).toContain("nothing was removed");
    expect(existsSync(agentDir("dev"))).toBe(true);
  });
});
