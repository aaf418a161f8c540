import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { cliProject } from "./fake-operator.ts";
import { onTerminal, whyNoTerminal } from "./terminal.ts";
import { noteSkipped } from "../../helpers/note-skipped.ts";

const secret = "hush-hush-0123456789";
const noTerminal = whyNoTerminal();
noteSkipped("al creds on a terminal", noTerminal);

const cli = cliProject();
const pathOf = (path: string) => join(cli.home, "credentials", path);
const read = (path: string) => readFileSync(pathOf(path), "utf8");
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const key = "anthropic_key/default/key";

/** Stores a secret from a file. */
const add = (args: string, value = secret) =>
  cli.al(`creds add ${args} --from-file ${cli.write("secret", value)}`);

describe("al creds add", () => {
  test("stores the input for the owner only, and never prints it", async () => {
    const { code, stdout, stderr } = await cli.bash(`echo ${secret} | $AL creds add anthropic_key`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("anthropic_key is stored; the scheduler uses it for models");
    expect(stdout).not.toContain(secret);
    expect(read(key)).toBe(`${secret}\n`);
    expect(modeOf(pathOf(key))).toBe("600");
    for (let dir = dirname(pathOf(key)); dir !== dirname(cli.home); dir = dirname(dir)) {
      expect([dir, modeOf(dir)]).toEqual([dir, "700"]);
    }
  });

  test("keeps the line breaks of a file", async () => {
    await add("git_ssh", "-----BEGIN-----\nabc\n-----END-----\n");
    expect(read("git_ssh/default/private_key")).toBe("-----BEGIN-----\nabc\n-----END-----\n");
  });

  test.each([
    ["ab1de", "a secret of fewer than 6 characters is not redacted in logs\n"],
    ["ab1de2", ""],
  ])("prints for the secret %s the note %j", async (value, note) => {
    const { stderr } = await add("foo_token --field v", value);
    expect(stderr.replace(/^foo_token is not a known type.*\n/, "")).toBe(note);
  });

  test("replaces a credential only with --replace", async () => {
    await add("github_token:bot");
    const again = await add("github_token:bot", "another-0123456789");
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("--replace");
    expect(read("github_token/bot/token")).toBe(`${secret}\n`);
    await add("github_token:bot --replace", "another-0123456789");
    expect(read("github_token/bot/token")).toBe("another-0123456789\n");
  });

  test("requires the field if the type has several, and names missing fields", async () => {
    const none = await add("aws");
    expect(none.code).toBe(2);
    expect(none.stderr).toContain("--field is missing");
    const first = await add("aws --field access_key_id");
    expect(first.stderr).toContain("Not complete yet: aws also needs `secret_access_key`.");
    expect((await add("aws --field secret_access_key")).stderr).toBe("");
  });

  test("makes the credentials directory private if others could read it", async () => {
    mkdirSync(pathOf("anthropic_key"), { recursive: true, mode: 0o755 });
    chmodSync(pathOf(""), 0o755);
    expect((await add("anthropic_key")).stderr).toBe("");
    expect(modeOf(pathOf(""))).toBe("700");
  });

  test("refuses an empty secret", async () => {
    const { code, stderr } = await add("anthropic_key", "\n");
    expect(code).toBe(1);
    expect(stderr).toContain("empty");
    expect(existsSync(pathOf(key))).toBe(false);
  });

  test.each([`anthropic_key ${secret}`, `sk-${secret}!`])(
    "does not repeat the secret in the arguments %s",
    async (args) => {
      const { code, stdout, stderr } = await cli.al(`creds add ${args}`);
      expect(code).toBe(2);
      expect(stdout + stderr).not.toContain("hush");
    },
  );

  test.skipIf(noTerminal !== null)("asks on a terminal without showing the input", async () => {
    const terminal = onTerminal(cli, "creds add anthropic_key");
    await terminal.answer(["Anthropic", secret]);
    expect(await terminal.ended).toBe(0);
    expect(terminal.shown()).not.toContain("hush");
    expect(read(key)).toBe(`${secret}\n`);
  });
});

describe("al creds ls", () => {
  test("reports why a credential can't be used", async () => {
    await add("anthropic_key");
    chmodSync(pathOf(key), 0o644);
    const { stdout, stderr } = await cli.al("creds ls");
    expect(stdout).toContain("key 644");
    expect(stderr).toMatch(/open to other users \(mode 644\) \(chmod 600/);
  });
});

describe("al creds rm", () => {
  beforeEach(() => add("anthropic_key"));

  test("removes a credential with its directories", async () => {
    expect(await cli.output("creds rm anthropic_key --yes")).toContain("removed");
    expect(existsSync(pathOf("anthropic_key"))).toBe(false);
  });

  test.skipIf(noTerminal !== null).each([
    ["keeps", "n", 1, true],
    ["removes", "y", 0, false],
  ])(
    "on a terminal %s the credential after the answer %s, and exits with %i",
    async (_does, answer, code, isStored) => {
      const terminal = onTerminal(cli, "creds rm anthropic_key");
      await terminal.answer(["permanently?", answer]);
      expect(await terminal.ended).toBe(code);
      expect(existsSync(pathOf(key))).toBe(isStored);
    },
  );
});
