import { execFile } from "node:child_process";
import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { loadCredential } from "../../../src/foundation/credentials/load-credential.ts";
import { homeWith, refusal } from "./home.ts";

test("loadCredential loads the default instance and named ones, without trailing line ends", async () => {
  const home = await homeWith({
    "github_token/default/token": "one\n",
    "github_token/work/token": "two\r\n\n",
  });
  expect(await loadCredential(home, "github_token")).toEqual({
    type: "github_token",
    instance: "default",
    fields: { token: "one" },
  });
  expect((await loadCredential(home, "github_token:work")).fields).toEqual({ token: "two" });
});

test("loadCredential loads any type with any fields, and keeps inner line ends", async () => {
  const home = await homeWith({
    "own/default/user": "me",
    "own/default/pass": "a\nb\n",
    "own/default/.hidden": "x",
  });
  expect((await loadCredential(home, "own")).fields).toEqual({ pass: "a\nb", user: "me" });
});

test("loadCredential reports a missing field and where to put it", async () => {
  const home = await homeWith({ "openai_key/default/note": "x", "groq_key/default/key": "\n" });
  const store = join(home, "credentials");
  const none = await refusal(loadCredential(home, "github_token:work"));
  expect(none.message).toBe(
    `credential github_token:work is missing: there is no ${store}/github_token/work`,
  );
  expect(none.hint).toBe("Store it with `al creds add github_token:work`.");
  expect((await refusal(loadCredential(home, "openai_key"))).message).toBe(
    `credential openai_key is missing: ${store}/openai_key/default lacks its field key, or it is empty`,
  );
  expect((await refusal(loadCredential(home, "gitub_tokn"))).message).toMatch(
    /there is no .*gitub_tokn\/default \(did you mean "github_token"\?\)$/,
  );
  expect((await refusal(loadCredential(home, "groq_key"))).code).toBe("missing_credential");
  expect((await refusal(loadCredential(`${home}/nowhere`, "own"))).code).toBe("missing_credential");
});

async function suggestionFor(wanted: string): Promise<string | undefined> {
  const home = await homeWith({
    "github_token/work/token": "x",
    "gh_token/default/token": "x",
    "openai_key/default/key": "x",
  });
  const { message } = await refusal(loadCredential(home, wanted));
  return /did you mean "(.+)"\?/.exec(message)?.[1];
}

test.each([
  ["gh_tokn", "gh_token"],
  ["github_token:wrok", "github_token:work"],
  ["github_token", "github_token:work"],
])("loadCredential of the missing credential %s suggests %s", async (wanted, near) =>
  expect(await suggestionFor(wanted)).toBe(near),
);

test.each(["640", "604", "620"])(
  "loadCredential rejects a file with mode %s, with a fix",
  async (mode) => {
    const home = await homeWith({ "own/default/pass": "canary" });
    const path = join(home, "credentials/own/default/pass");
    await chmod(path, Number.parseInt(mode, 8));
    const error = await refusal(loadCredential(home, "own"));
    expect(error.message).toBe(`${path} is open to other users (mode ${mode})`);
    expect(error.hint).toBe(`chmod 600 ${path}`);
    await promisify(execFile)("/bin/sh", ["-c", error.hint ?? ""]);
    expect((await loadCredential(home, "own")).fields.pass).toBe("canary");
  },
);

test.each(["", "/own", "/own/default"])(
  "loadCredential rejects a directory that others can read: credentials%s",
  async (dir) => {
    const home = await homeWith({ "own/default/pass": "canary" });
    const path = join(home, `credentials${dir}`);
    await chmod(path, 0o755);
    expect((await refusal(loadCredential(home, "own"))).hint).toBe(`chmod 700 ${path}`);
  },
);

test.each(["../own", "own:..", "Own", "own:", "", "own:a:b", "own/default"])(
  "loadCredential refuses the reference %j",
  async (reference) => {
    const home = await homeWith({ "own/default/pass": "canary" });
    expect((await refusal(loadCredential(home, reference))).code).toBe("invalid_credential");
  },
);

test("loadCredential follows only links that stay inside the credentials directory", async () => {
  const home = await homeWith({ "own/default/pass": "inside", "own/other/x": "x" });
  const dir = join(home, "credentials/own/other");
  await symlink("../default/pass", join(dir, "linked"));
  expect((await loadCredential(home, "own:other")).fields.linked).toBe("inside");
  await writeFile(join(home, "secret"), "canary", { mode: 0o600 });
  await symlink(join(home, "secret"), join(dir, "away"));
  const error = await refusal(loadCredential(home, "own:other"));
  expect(error.message).toMatch(/other\/away is a link that leads out of/);
  await rm(join(dir, "away"));
  await symlink("nowhere", join(dir, "broken"));
  expect((await loadCredential(home, "own:other")).fields).not.toHaveProperty("broken");
});

test("loadCredential rejects a field that is not a small file", async () => {
  const home = await homeWith({ "own/big/pass": "x".repeat(64 * 1024 + 1), "own/dir/x": "x" });
  expect((await refusal(loadCredential(home, "own:big"))).message).toMatch(/has 65537 bytes/);
  await mkdir(join(home, "credentials/own/dir/pass"), { mode: 0o700 });
  expect((await refusal(loadCredential(home, "own:dir"))).message).toMatch(/not a regular file/);
});

test("loadCredential rejects a file with an invalid field name", async () => {
  const home = await homeWith({ "own/default/pass": "x", "own/default/pass~": "x" });
  expect((await refusal(loadCredential(home, "own"))).message).toMatch(/pass~ is not a field/);
});
