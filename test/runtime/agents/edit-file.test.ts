import { chmodSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { symlinkSync, writeFileSync } from "node:fs";
import { allowHostSchema } from "../../../src/foundation/contracts/run-hosts.ts";
import type { EditableFile } from "../../../src/foundation/contracts/file-edits.ts";
import { agentProject } from "./agent-project.ts";

const config = "agents/dev/config.toml";
const skill = "agents/dev/SKILL.md";
const dev = `# What starts it
schedule = "0 9 * * *" # every morning
models = ["main"]
credentials = []
`;
const secret = "ghp_0123456789abcdef0123456789abcdef0123";
const url = "https://hc-ping.com/5f6e1f0a";

async function setUp(files: Partial<Parameters<typeof agentProject>[0]> = {}) {
  const opened = await agentProject({ dev, ...files });
  const { edits } = opened;
  const shown = async (name: EditableFile = "config.toml") => {
    const { files: all } = await edits.agentFiles("dev");
    const file = all.find((one) => one.name === name);
    if (file === undefined) throw new Error(`no ${name}`);
    return { ...file, text: file.text ?? "" };
  };
  /** Edits the file as it is shown now. */
  const edit = async (
    change: (text: string) => string,
    file: EditableFile = "config.toml",
    dryRun = false,
  ) => {
    const { text, hash } = await shown(file);
    return edits.editFile("dev", { file, text: change(text), hash, dryRun });
  };
  const editSkill = (change: (text: string) => string) => edit(change, "SKILL.md");
  return { ...opened, shown, edit, editSkill };
}

const hourly = (text: string): string => text.replace("0 9 * * *", "0 * * * *");
const refused = { code: "refused" };
const conflict = { code: "conflict", status: 409 };

test("an edit is shown before it is written in one step; the file's mode stays, and the log has it", async () => {
  const { edit, pathOf, read, context } = await setUp();
  chmodSync(pathOf(config), 0o666);
  const change = `--- ${config}\n+++ ${config}\n@@ -1,4 +1,4 @@\n # What starts it\n-schedule = "0 9 * * *" # every morning\n+schedule = "0 * * * *" # every morning\n models = ["main"]\n credentials = []\n`;
  const answer = { success: true, agent: "dev", file: config, change };
  const next = expect.any(Array) as unknown;
  expect(await edit(hourly, "config.toml", true)).toEqual({ ...answer, written: false, next });
  expect(read(config)).toBe(dev);
  expect(await edit(hourly)).toEqual({ ...answer, written: true, next });
  expect(read(config)).toBe(hourly(dev));
  expect(statSync(pathOf(config)).mode & 0o777).toBe(0o666);
  expect(await edit((text) => text)).toMatchObject({ change: "", written: false });
  expect(context.lines).toEqual([`${config} was edited on the dashboard or via the API`]);
});

test("an edit of a schedule shows the next runs before it is written, with those that calendars leave out", async () => {
  const project = '[calendars.new-year]\ndates = ["2100-01-01"]\n';
  const { edit } = await setUp({ project });
  const entry = '[[schedules]]\nname = "yearly"\ncron = "30 9 1 1 *"\ntimezone = "UTC"\n';
  const { next = [] } = await edit((text) => `${text}${entry}`, "config.toml", true);
  expect(next).toHaveLength(10);
  expect(next.filter(({ leftOut }) => leftOut !== null)).toEqual([]);
  const limited =
    'schedule = "0 0 1 1 *"\n'.replace("schedule", "#") +
    `${entry}calendar = { only = ["new-year"] }\n`;
  const shown = await edit(
    (text) => text.replace(/^schedule.*$/m, "") + limited,
    "config.toml",
    true,
  );
  expect(shown.next).toMatchObject([
    { schedule: "yearly", leftOut: { why: "calendar new-year: outside of it", count: 1 } },
  ]);
  const other = await edit((text) => `${text}scale = 2\n`, "config.toml", true);
  expect(other.next).toBeUndefined();
});

test("an edit of a file that changed on disk meanwhile is refused, and the file stays", async () => {
  const { edits, shown, read, write } = await setUp();
  const { text, hash } = await shown();
  write(config, `${dev}scale = 2\n`);
  const request = { file: "config.toml", text: hourly(text), hash, dryRun: false } as const;
  await expect(edits.editFile("dev", request)).rejects.toMatchObject(conflict);
  expect(read(config)).toBe(`${dev}scale = 2\n`);
});

test("an edit on disk while an edit is checked is not overwritten", async () => {
  const { context, edit, read, write } = await setUp();
  const { redact } = context.redactor;
  context.redactor.redact = (text) => {
    // The difference is made after the check of the hash.
    if (text.includes("0 * * * *")) write(config, `${dev}scale = 2\n`);
    return redact(text);
  };
  await expect(edit(hourly)).rejects.toMatchObject(conflict);
  expect(read(config)).toBe(`${dev}scale = 2\n`);
});

test.each([["an invalid value", "0 9 * * *", "every day", /config\.toml:2:12 .*every day/]])(
  "an edit with %s is refused with its place",
  async (_, found, replacement, message) => {
    const { edit, read } = await setUp();
    const error: unknown = await edit((text) => text.replace(found, replacement)).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: "invalid_config" });
    expect(String(error)).toMatch(message);
    expect(read(config)).toBe(dev);
  },
);

test("an edit may fix one of several errors of a file", async () => {
  const broken = `${dev}scale = "many"\ntimeout = "long"\n`;
  const { edit, editSkill, shown, read } = await setUp({
    dev: broken,
    skill: "---\nname: [\n---\n",
  });
  expect((await shown()).problems).toMatchObject([
    { severity: "error", line: 5, column: 9 },
    { severity: "error", line: 6, column: 11 },
  ]);
  expect((await shown("SKILL.md")).problems).toHaveLength(1);
  await edit((text) => text.replace('"many"', "2"));
  await editSkill(() => "Do it.\n");
  await edit((text) => text.replace('timeout = "long"\n', ""));
  expect(await shown()).toMatchObject({ text: `${dev}scale = 2\n`, problems: [] });
  expect(read(skill)).toBe("Do it.\n");
});

test("edit = false forbids each edit, a host that is allowed included, and everything is still shown", async () => {
  const { edits, edit, shown, read } = await setUp({ project: "[gateway]\nedit = false\n" });
  expect(await edits.agentFiles("dev")).toMatchObject({ isEditable: false });
  expect((await shown()).text).toBe(dev);
  for (const dryRun of [true, false]) {
    const host = allowHostSchema.parse({ host: "evil.test", dryRun });
    for (const attempt of [edit(hourly, "config.toml", dryRun), edits.allowHost("dev", host)])
      await expect(attempt).rejects.toMatchObject({ code: "read_only", status: 403 });
  }
  expect(read(config)).toBe(dev);
});

test("a file is shown without its secrets, and unedited lines keep them", async () => {
  const own = `${dev}\n[hooks]\npre = ["curl -H 'token: ${secret}' x.test"]\n\n[heartbeat]\nurl = "${url}" # pinged\n`;
  const { context, edit, shown, read } = await setUp({ dev: own });
  context.redactor.add([secret]);
  const { text } = await shown();
  expect(text).toContain(`pre = ["curl -H 'token: [redacted]' x.test"]`);
  expect(text).toContain('url = "[redacted]" # pinged');
  const scaled = (before: string) => hourly(before).replace("\n[hooks]", "scale = 2\n\n[hooks]");
  const { change } = await edit(scaled);
  expect(change).not.toContain("ghp_");
  expect(change).not.toContain(url);
  expect(read(config)).toBe(scaled(own));
  const other = (line: string) => line.replace('"[redacted]" # pinged', '"[redacted]/x"');
  await expect(edit(other)).rejects.toMatchObject({
    code: "refused",
    message: expect.stringMatching(/config\.toml:11 .*represents a secret/) as string,
  });
  await edit((before) => before.replace('"[redacted]" # pinged', `"${url}/new"`));
  expect(read(config)).toContain(`url = "${url}/new"`);
  expect((await shown()).text).not.toContain(url);
});

test("an ambiguous [redacted] is not written, and one of the file's own text is", async () => {
  const { context, editSkill, read, write } = await setUp({ skill: `${secret}\n${secret}2\n` });
  context.redactor.add([secret, `${secret}2`]);
  await expect(editSkill((text) => `${text}Go.\n`)).rejects.toMatchObject(refused);
  write(skill, `t = "[redacted]"\nt = "${secret}"\n`);
  await expect(editSkill((text) => `Go.\n${text}`)).rejects.toMatchObject(refused);
  write(skill, "Write [redacted] for secrets.\n");
  await editSkill((text) => `${text}And [redacted] again.\n`);
  expect(read(skill)).toBe("Write [redacted] for secrets.\nAnd [redacted] again.\n");
});

test("the [redacted] of a secret that is gone is not written", async () => {
  const { context, edits, shown, read, write } = await setUp({ skill: `Use ${secret}.\n` });
  context.redactor.add([secret]);
  const { text } = await shown("SKILL.md");
  write(skill, "Use nothing.\n");
  const { hash } = await shown("SKILL.md");
  const kept = { file: "SKILL.md", text, hash, dryRun: false } as const;
  await expect(edits.editFile("dev", kept)).rejects.toMatchObject(refused);
  expect(read(skill)).toBe("Use nothing.\n");
});

test("unedited lines keep their control characters", async () => {
  const { editSkill, read } = await setUp({ skill: "One.\n\f\n\nTwo.\n\n\u001b[0m\n" });
  await editSkill((text) => text.replace("Two.", "Two.\n\nThree."));
  expect(read(skill)).toBe("One.\n\f\n\nTwo.\n\nThree.\n\n\u001b[0m\n");
});

test("a secret over several lines is hidden, and its file is edited on disk only", async () => {
  const lines = `a\n${secret.slice(0, 20)}\n${secret.slice(20)}\nb\n`;
  const { context, editSkill, shown } = await setUp({ skill: lines });
  context.redactor.add([secret]);
  expect((await shown("SKILL.md")).text).toBe("a\n[redacted]\nb\n");
  await expect(editSkill((text) => `${text}c\n`)).rejects.toThrow("edit the file on disk");
});

test("stored credentials are hidden before a run has loaded them", async () => {
  const { context, shown } = await setUp({ skill: `Use ${secret}.\n` });
  const dir = `${context.home}/credentials/github_token/default`;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(`${dir}/token`, secret, { mode: 0o600 });
  const { text, hash } = await shown("SKILL.md");
  expect(text).toBe("Use [redacted].\n");
  context.redactor.add([secret]);
  expect(await shown("SKILL.md")).toMatchObject({ hash });
});

test("an edit follows a symbolic link inside the agent's directory, and rejects one out of it", async () => {
  const { edits, edit, pathOf, read, write } = await setUp();
  write("shared/config.toml", dev);
  rmSync(pathOf(config));
  symlinkSync(pathOf("shared/config.toml"), pathOf(config));
  await expect(edit(hourly)).rejects.toThrow("leads out of the agent's directory");
  const host = allowHostSchema.parse({ host: "evil.test" });
  await expect(edits.allowHost("dev", host)).rejects.toMatchObject(refused);
  expect(read("shared/config.toml")).toBe(dev);
  rmSync(pathOf(config));
  renameSync(pathOf("shared/config.toml"), pathOf("agents/dev/own.toml"));
  symlinkSync("own.toml", pathOf(config));
  await edit(hourly);
  expect(read("agents/dev/own.toml")).toBe(hourly(dev));
  renameSync(pathOf("agents/dev"), pathOf("agents/two"));
  symlinkSync("two", pathOf("agents/dev"));
  await expect(edit(() => dev)).rejects.toMatchObject(refused);
});

test("an edit over the size that the scheduler reads is rejected, and line ends stay those of the file", async () => {
  const { edit, read, write } = await setUp();
  const large = edit((text) => `${text}# ${"x".repeat(256 * 1024)}\n`);
  await expect(large).rejects.toMatchObject(refused);
  write(config, dev.replaceAll("\n", "\r\n"));
  await edit(hourly);
  expect(read(config)).toBe(hourly(dev).replaceAll("\n", "\r\n"));
});

test("reading the files of a removed agent fails as unknown_agent", async () => {
  const { edits, pathOf } = await setUp();
  rmSync(pathOf("agents/dev"), { recursive: true });
  for (const agent of ["ops", "dev"])
    await expect(edits.agentFiles(agent)).rejects.toMatchObject({ code: "unknown_agent" });
});
