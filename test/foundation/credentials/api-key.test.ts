import { homedir } from "node:os";
import { join, resolve, dirname } from "node:path";
import { homeDir } from "../../../src/foundation/credentials/read-secret.ts";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { ensureApiKey, regenerateApiKey } from "../../../src/foundation/credentials/api-key.ts";
import { homeWith, refusal } from "./home.ts";

const keyFile = (home: string) => join(home, "credentials/gateway_api_key/default/key");

test("ensureApiKey makes a key of 256 bits that only its owner can read", async () => {
  const home = join(await homeWith({}), "new", "home");
  const made = await ensureApiKey(home);
  expect(made).toEqual({
    key: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) as string,
    path: keyFile(home),
    created: true,
  });
  expect(await readFile(made.path, "utf8")).toBe(`${made.key}\n`);
  expect((await stat(made.path)).mode & 0o777).toBe(0o600);
  for (let dir = dirname(made.path); dir !== dirname(home); dir = dirname(dir)) {
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
  }
});

test("ensureApiKey gives concurrent callers the same key", async () => {
  const home = await homeWith({});
  const all = await Promise.all(Array.from({ length: 20 }, () => ensureApiKey(home)));
  expect(new Set(all.map(({ key }) => key)).size).toBe(1);
  expect(all.filter(({ created }) => created)).toHaveLength(1);
  expect(await readdir(dirname(keyFile(home)))).toEqual(["key"]);
});

test("ensureApiKey accepts a key chosen by a person", async () => {
  const home = await homeWith({ "gateway_api_key/default/key": "correct-horse-battery\n" });
  expect((await ensureApiKey(home)).key).toBe("correct-horse-battery");
});

test.each(["", "short\n", "has blanks in the middle", "zwölf Boxkämpfer jagen"])(
  "ensureApiKey rejects %j as a key without repeating it",
  async (text) => {
    const home = await homeWith({ "gateway_api_key/default/key": text });
    const { message, hint } = await refusal(ensureApiKey(home));
    expect(message).toBe(
      `${keyFile(home)} contains no usable key: expected 16 to 512 ASCII characters`,
    );
    expect(hint).toMatch(/delete the file/);
  },
);

test("ensureApiKey refuses a key that others can read", async () => {
  const home = await homeWith({ "gateway_api_key/default/key": "correct-horse-battery" });
  await chmod(keyFile(home), 0o644);
  expect((await refusal(ensureApiKey(home))).hint).toBe(`chmod 600 ${keyFile(home)}`);
});

test("ensureApiKey reports a path that can't be written", async () => {
  const home = await homeWith({});
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "credentials"), "", { mode: 0o600 });
  const { message, code } = await refusal(ensureApiKey(home));
  expect(code).toBe("api_key");
  expect(message).toContain(`${keyFile(home)} can't be written`);
});

test("regenerateApiKey replaces the key, even an unusable one", async () => {
  const home = await homeWith({ "gateway_api_key/default/key": "" });
  const first = await regenerateApiKey(home);
  const second = await regenerateApiKey(home);
  expect(second.key).not.toBe(first.key);
  expect(await ensureApiKey(home)).toEqual({ ...second, created: false });
  expect((await stat(second.path)).mode & 0o777).toBe(0o600);
  expect(await readdir(dirname(second.path))).toEqual(["key"]);
});

test.each([
  [{}, join(homedir(), ".almanac")],
  [{ AL_HOME: "" }, join(homedir(), ".almanac")],
  [{ AL_HOME: "/srv/al" }, "/srv/al"],
  [{ AL_HOME: "al" }, resolve("al")],
])("homeDir of %j is %s", (env, path) => expect(homeDir(env)).toBe(path));
