import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { loadCredential } from "../../../../src/foundation/credentials/load-credential.ts";
import { onTerminal, whyNoTerminal } from "../terminal.ts";
import { importFolders, type Imported } from "./run-import.ts";
import { currentProject, smallProject, store, writeFiles } from "./their-projects.ts";
import { noteSkipped } from "../../../helpers/note-skipped.ts";

const noTerminal = whyNoTerminal();
noteSkipped("al import on a terminal", noTerminal);

const folders = importFolders();

describe("al import", () => {
  test("refuses an existing directory, the source itself, and a directory that is not a project", async () => {
    const { cli, source, target } = folders();
    writeFiles(source, smallProject);
    writeFiles(target, { "notes.txt": "mine" });
    await cli.fails(
      `import ${source} --to ${target} --yes`,
      `${target} already exists; nothing was written`,
    );
    expect(readdirSync(target)).toEqual(["notes.txt"]);
    await cli.fails(
      `import ${source} --to ${source}/new --yes`,
      "is in the project that is imported",
      2,
    );
    await cli.failure(`import ${cli.home} --to ${target}-2 --yes`, 2);
  });

  test("shows the changes, and writes nothing without consent", async () => {
    const { cli, source, target, line } = folders();
    writeFiles(source, currentProject);
    const stderr = await cli.failure(line, 2);
    expect(stderr).toContain("--yes is missing: nothing was written");
    expect(stderr).toContain("agents/worker/SKILL.md:10");
    expect(existsSync(target)).toBe(false);
  });

  test("refuses a config that is not TOML, with its place", async () => {
    const { cli, source, target, line } = folders();
    writeFiles(source, { ...smallProject, "config.toml": "a = = 1\n" });
    await cli.fails(`${line} --yes`, `${join(source, "config.toml")}: `);
    expect(existsSync(target)).toBe(false);
  });

  test.skipIf(noTerminal !== null)("asks before it writes, and before it copies", async () => {
    const { cli, source, target, line } = folders();
    writeFiles(source, smallProject);
    writeFiles(join(cli.home, ".action-llama/credentials"), {
      "anthropic_key/default/token": "sk-ant-0123456789\n",
    });
    const terminal = onTerminal(cli, line);
    await terminal.until(/Write .*ours\?/);
    expect(existsSync(target)).toBe(false);
    terminal.line("y");
    await terminal.answer(["Copy these credentials?", "y"]);
    expect(await terminal.ended).toBe(0);
    expect(existsSync(join(target, "agents/reporter/config.toml"))).toBe(true);
    expect(await loadCredential(cli.home, "anthropic_key")).toMatchObject({
      fields: { key: "sk-ant-0123456789" },
    });
  });
});

describe("credentials that an imported project needs", () => {
  const theirs = () => join(folders().cli.home, "../store");
  beforeEach(() => {
    writeFiles(folders().source, currentProject);
    writeFiles(theirs(), store);
  });

  /** Stores a credential of ours. */
  const add = (name: string, value: string) =>
    folders().cli.output(`creds add ${name} --from-file ${folders().cli.write("secret", value)}`);

  test("are copied on demand, for their owner only, under their new names", async () => {
    const { home } = folders().cli;
    const { copied, edits } = await folders().imported(`--credentials ${theirs()}`);
    expect([...copied].sort()).toEqual([
      "cloudflare_token/token",
      "git_ssh:bot/email",
      "git_ssh:bot/name",
      "git_ssh:bot/private_key",
      "github_token/token",
      "github_webhook_secret:Acme/secret",
      "openai_key/key",
    ]);
    expect(await loadCredential(home, "git_ssh:bot")).toMatchObject({
      fields: {
        name: "Bot",
        email: "bot@example.com",
        private_key: (store["git_ssh/bot/id_rsa"] ?? "").trim(),
      },
    });
    const modeOf = (path: string) => statSync(join(home, "credentials", path)).mode & 0o777;
    expect(["openai_key/default/key", "openai_key/default", "openai_key", ""].map(modeOf)).toEqual([
      0o600, 0o700, 0o700, 0o700,
    ]);
    expect(readFileSync(join(home, "credentials/openai_key/default/key"), "utf8")).toBe(
      "sk-0123456789\n",
    );
    expect(readdirSync(join(home, "credentials"))).not.toContain("linear_token");
    expect(edits.filter(({ file }) => file === null).map(({ fix }) => fix)).toEqual([
      "al creds add anthropic_key",
      "al creds add sentry_client_secret",
      "al creds add discord --field <field>",
    ]);
  });

  test("are not copied without consent; the commands for it are named, and work", async () => {
    const { cli, line } = folders();
    writeFiles(join(cli.home, "../.action-llama/credentials"), store);
    // HOME, where their store is looked for, is that of a process.
    const { stdout } = await cli.process(`${line} --yes --json`);
    const { copied, edits } = JSON.parse(stdout) as Imported;
    expect(copied).toEqual([]);
    expect(existsSync(join(cli.home, "credentials"))).toBe(false);
    const commands = edits.filter(({ message }) => message.includes("was not copied"));
    expect(commands).toHaveLength(7);
    for (const { fix } of commands) await cli.output((fix ?? "").replace(/^al /, ""));
    expect(await loadCredential(cli.home, "git_ssh:bot")).toMatchObject({
      fields: { name: "Bot" },
    });
  });

  test("are not listed if they are stored here", async () => {
    await add("anthropic_key", "sk-ant-0123456789");
    await add("openai_key", "sk-other-0123456789");
    const { edits } = await folders().imported();
    const fixes = edits.map(({ fix }) => fix ?? "").join("\n");
    expect(fixes).toContain("al creds add sentry_client_secret");
    expect(fixes).not.toMatch(/creds add (anthropic|openai)_key/);
  });

  test("are kept if they have another value here", async () => {
    await add("github_token", "mine-0123456789");
    const { copied, edits } = await folders().imported(`--credentials ${theirs()}`);
    expect(copied).not.toContain("github_token/token");
    expect(await loadCredential(folders().cli.home, "github_token")).toMatchObject({
      fields: { token: "mine-0123456789" },
    });
    expect(edits.find(({ message }) => message.includes("another value"))?.fix).toBe(
      `al creds add github_token --field token --from-file ${theirs()}/github_token/default/token --replace`,
    );
  });
});
