import { openStore } from "../../../../src/features/open-store.ts";
import { existsSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { manualItem, requestFor } from "../../../foundation/store/support.ts";
import { cliProject, scriptedModel } from "../fake-operator.ts";

const cli = cliProject();
const pathOf = (name: string) => join(cli.projectDir, "agents", name);

beforeEach(() => {
  cli.write("config.toml", scriptedModel);
  cli.addAgent("dev", 'callable = true\ntags = ["web", "team-a"]');
  cli.write("agents/dev/SKILL.md", "---\nname: Developer\n---\nDo it.\n");
  cli.addAgent("bad", 'schedule = "every day"');
});

test("al agent ls lists names, states, tags and titles of a project that never ran", async () => {
  await cli.prints(
    "agent ls",
    /^Agent +State +Tags +Title\nbad +error.*\ndev +idle +web, team-a +Developer\n$/,
  );
  expect(readdirSync(cli.projectDir)).not.toContain(".al");
});

test("al agent rm removes the agent's directory only", async () => {
  await cli.prints("agent rm dev --yes", "agents/dev is removed; its history and logs stay\n");
  expect(readdirSync(pathOf(""))).toEqual(["bad"]);
  const left = readdirSync(join(cli.projectDir, ".al"));
  expect(left.filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test("al agent rm removes a symbolic link, and not the link's target", async () => {
  const target = mkdtempSync(join(cli.projectDir, "../linked-"));
  writeFileSync(join(target, "SKILL.md"), "mine");
  symlinkSync(target, pathOf("linked"));
  await cli.output("agent rm linked -y");
  expect(existsSync(pathOf("linked"))).toBe(false);
  expect(readdirSync(target)).toEqual(["SKILL.md"]);
});

/** A run that a killed scheduler left. */
async function leaveRun(): Promise<void> {
  const store = openStore(cli.projectDir);
  const item = manualItem("one", "dev", Date.now());
  const content = { config: "", instructions: "" };
  await store.work.enqueue([item]);
  await store.work.claim(requestFor(item, "dev-aaaaaaaa"), { hash: "h", content });
  store.close();
}

test("al agent rm removes nothing while an interrupted run may continue", async () => {
  await leaveRun();
  await cli.fails("agent rm dev --yes", /Continue its runs with `al start`/);
  expect(existsSync(pathOf("dev"))).toBe(true);
});
