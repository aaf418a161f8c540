import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeCredentialFiles } from "../../../src/runtime/harness/run-phases.ts";
import { aJob } from "./jobs.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { perTest } from "../../helpers/per-test.ts";

const workDir = perTest(tempDir);

const credential = {
  type: "git_ssh",
  instance: "work",
  fields: { private_key: "KEY", known_hosts: "HOSTS", email: "a@b" },
  env: {},
  fileEnv: { GIT_SSH_COMMAND: "ssh -i '{private_key}' -o UserKnownHostsFile='{known_hosts}'" },
};

test("a credential that works as a file is written for its own user only, and a variable names its place", async () => {
  const env = await writeCredentialFiles(aJob(workDir(), { credentials: [credential] }));
  const dir = join(workDir(), ".credentials", "git_ssh-work");
  expect(env).toEqual({
    GIT_SSH_COMMAND: `ssh -i '${dir}/private_key' -o UserKnownHostsFile='${dir}/known_hosts'`,
  });
  expect(await readFile(join(dir, "private_key"), "utf8")).toBe("KEY\n");
  expect((await stat(join(dir, "private_key"))).mode & 0o777).toBe(0o600);
  expect((await stat(dir)).mode & 0o777).toBe(0o700);
  await expect(stat(join(dir, "email"))).rejects.toThrow("ENOENT");
});

test("a credential that works as a file gets the fixed texts of its type as further files", async () => {
  const shared = {
    ...credential,
    fileEnv: { GIT_SSH_COMMAND: "ssh -o GlobalKnownHostsFile='{usual_hosts}'" },
    texts: { usual_hosts: "HOSTS OF ALL" },
  };
  await writeCredentialFiles(aJob(workDir(), { credentials: [shared] }));
  const path = join(workDir(), ".credential-texts", "git_ssh-work", "usual_hosts");
  expect(await readFile(path, "utf8")).toBe("HOSTS OF ALL\n");
});

test("a credential that works as a file leaves nothing behind without a credential", async () => {
  const { fileEnv, ...plain } = credential;
  expect(fileEnv).toBeDefined();
  expect(await writeCredentialFiles(aJob(workDir(), { credentials: [plain] }))).toEqual({});
  await expect(stat(join(workDir(), ".credentials"))).rejects.toThrow("ENOENT");
});
