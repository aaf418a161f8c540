import { execFile } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  isAgentName,
  listAgents,
  readAgent,
  readBareSkill,
} from "../../../src/foundation/config/agent-files.ts";
import { directory, texts } from "./samples.ts";

const whole = {
  "agents/dev/config.toml": "a = 1",
  "agents/dev/SKILL.md": "Do it.",
  "agents/dev/Dockerfile": "FROM scratch",
};

test("readAgent reads config.toml, SKILL.md and the Dockerfile's hash", async () => {
  const read = await readAgent(await directory(whole), "dev");
  const dockerfileHash = "67c4282c6928ae380489b6392127b14bb16d8c2f5ba5fa285a934f4f94387b5e";
  const files = { config: "a = 1", skill: "Do it.", dockerfileHash };
  expect(read).toEqual({ name: "dev", schemas: new Map(), problems: [], ...files });
});

test("readAgent reads JSON files named in config.toml, only inside the agent's directory", async () => {
  const config = `[expect]\nschema = "out.json"\nother = '../../secret.json'\nmore = "gone.json"`;
  const files = { "agents/dev/config.toml": config, "agents/dev/out.json": "{}" };
  const dir = await directory({ ...whole, ...files, "secret.json": "1" });
  expect((await readAgent(dir, "dev"))?.schemas).toEqual(
    new Map([
      ["out.json", { type: "text", text: "{}" }],
      ["gone.json", { type: "missing" }],
    ]),
  );
});

test("readAgent changes the Dockerfile's hash only if the Dockerfile or a file that it may copy changes", async () => {
  const dir = await directory({ ...whole, "agents/dev/lib/setup.sh": "echo 1" });
  const hash = async () => (await readAgent(dir, "dev"))?.dockerfileHash;
  const before = await hash();
  await writeFile(join(dir, "agents/dev/SKILL.md"), "Do more.");
  await writeFile(join(dir, "agents/dev/lib/.setup.sh.swp"), "");
  expect(await hash()).toBe(before);
  await writeFile(join(dir, "agents/dev/lib/setup.sh"), "echo 2");
  const changed = await hash();
  expect(changed).not.toBe(before);
  await writeFile(join(dir, "agents/dev/Dockerfile"), "FROM other");
  expect(await hash()).not.toBe(changed);
  await rm(join(dir, "agents/dev/Dockerfile"));
  expect(await hash()).toBeNull();
});

test("readAgent is null without the directory or its config.toml", async () => {
  const dir = await directory({ "agents/dev/SKILL.md": "Do it." });
  expect(await readAgent(dir, "dev")).toBeNull();
  expect(await readAgent(dir, "gone")).toBeNull();
  expect(await readAgent(join(dir, "nowhere"), "gone")).toBeNull();
});

const problemsOf = async (dir: string) => texts((await readAgent(dir, "dev"))?.problems ?? []);

test("readAgent reports a missing SKILL.md", async () =>
  expect(await problemsOf(await directory({ "agents/dev/config.toml": "" }))).toEqual([
    "error: agents/dev/SKILL.md  is missing; expected a markdown file with the agent's instructions",
  ]));

test("readAgent reports for each unreadable file why it can't be read", async () => {
  const dir = await directory({
    "agents/dev/Dockerfile/x": "",
    "agents/dev/SKILL.md": "x".repeat(1024 ** 2 + 1),
    "other/secret": "secret",
  });
  await writeFile(join(dir, "agents/dev/config.toml"), Buffer.from([0x61, 0xff]));
  const files = await readAgent(dir, "dev");
  expect(files).toMatchObject({ config: null, skill: null, dockerfileHash: null });
  expect(texts(files?.problems ?? [])).toEqual([
    "error: agents/dev/config.toml  is not UTF-8 text; save it in that encoding",
    "error: agents/dev/SKILL.md  has 1048577 bytes; expected at most 1048576",
    expect.stringMatching(
      /^error: agents\/dev\/Dockerfile {2}(is not a regular file|can't be read)/,
    ),
  ]);
});

test("readAgent follows links only to files inside the project", async () => {
  const outside = await directory({ secret: "secret" });
  const dir = await directory({ "agents/dev/config.toml": "", "shared/SKILL.md": "Do it." });
  await symlink(join(dir, "shared/SKILL.md"), join(dir, "agents/dev/SKILL.md"));
  expect((await readAgent(dir, "dev"))?.skill).toBe("Do it.");
  await rm(join(dir, "agents/dev/SKILL.md"));
  await symlink(join(outside, "secret"), join(dir, "agents/dev/SKILL.md"));
  expect(JSON.stringify(await readAgent(dir, "dev"))).not.toContain('"secret"');
  expect(await problemsOf(dir)).toEqual([
    "error: agents/dev/SKILL.md  is a link that leads out of the project; put a copy there instead",
  ]);
});

test("readAgent reports a pipe in place of a file without waiting for data", async () => {
  const dir = await directory({ "agents/dev/config.toml": "" });
  await promisify(execFile)("mkfifo", [join(dir, "agents/dev/SKILL.md")]);
  expect(await problemsOf(dir)).toEqual([
    "error: agents/dev/SKILL.md  is not a regular file; put a file there",
  ]);
});

test("readBareSkill returns null unless the directory has a SKILL.md and no config.toml", async () => {
  const dir = await directory({
    "agents/bare/SKILL.md": "Do it.",
    "agents/dev/SKILL.md": "Do it.",
    "agents/dev/config.toml": "",
    "agents/empty/notes.md": "",
  });
  const bare = { name: "bare", config: null, skill: "Do it.", problems: [] };
  expect(await readBareSkill(dir, "bare")).toMatchObject(bare);
  for (const name of ["dev", "empty", "nowhere"]) {
    expect(await readBareSkill(dir, name)).toBeNull();
  }
});

test("listAgents lists directories by name, and reports those that can't be agents", async () => {
  const dir = await directory({
    "agents/b/config.toml": "",
    "agents/a-1/config.toml": "",
    "agents/default/config.toml": "",
    "agents/Upper/config.toml": "",
    "agents/.git/config": "",
    "agents/README.md": "",
  });
  const { names, problems } = await listAgents(dir);
  expect(names).toEqual(["a-1", "b"]);
  expect(texts(problems)).toEqual([
    `error: agents/Upper  "Upper" is not an agent's name: expected 1 to 63 of a-z, 0-9 and -, not beginning with -; rename the directory`,
    `error: agents/default  "default" is not an agent's name: this name is reserved; rename the directory`,
  ]);
});

test("listAgents follows a linked agent directory", async () => {
  const dir = await directory({ "shared/config.toml": "", "shared/SKILL.md": "Do it." });
  await mkdir(join(dir, "agents"));
  await symlink(join(dir, "shared"), join(dir, "agents/linked"));
  expect((await listAgents(dir)).names).toEqual(["linked"]);
  expect((await readAgent(dir, "linked"))?.skill).toBe("Do it.");
});

test.each(["0", "a-b-1", "x".repeat(63)])("isAgentName accepts %s", (name) =>
  expect(isAgentName(name)).toBe(true),
);
test.each(["", "-a", "A", "../a", "x".repeat(64), "default", "scheduler", "a\n"])(
  "isAgentName refuses %j",
  (name) => expect(isAgentName(name)).toBe(false),
);
