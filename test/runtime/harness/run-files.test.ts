import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeCredentialFiles } from "../../../src/foundation/credentials/credential-files.ts";
import { aJob } from "./jobs.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { perTest } from "../../helpers/per-test.ts";

const workDir = perTest(tempDir);

const credential = {
  type: "git_ssh",
  instance: "work",
  fields: { private_key: "KEY", known_hosts: "HOSTS", email: "a@b" },
  env: {},
  fileEnv: {
    GIT_SSH_COMMAND: "ssh -i '{private_key}' -o GlobalKnownHostsFile='{usual_hosts}'",
  },
  texts: { usual_hosts: "HOSTS OF ALL" },
};

test("a credential is written to files that only the run's user can read, and variables contain the paths", async () => {
  const env = await writeCredentialFiles(aJob(workDir(), { credentials: [credential] }));
  const dir = join(workDir(), ".credentials", "git_ssh-work");
  const texts = join(workDir(), ".credential-texts", "git_ssh-work");
  expect(env).toEqual({
    GIT_SSH_COMMAND: `ssh -i '${dir}/private_key' -o GlobalKnownHostsFile='${texts}/usual_hosts'`,
  });
  expect(await readdir(dir)).toEqual(["private_key"]);
  expect(await readFile(join(dir, "private_key"), "utf8")).toBe("KEY\n");
  expect((await stat(join(dir, "private_key"))).mode & 0o777).toBe(0o600);
  expect((await stat(dir)).mode & 0o777).toBe(0o700);
  expect(await readFile(join(texts, "usual_hosts"), "utf8")).toBe("HOSTS OF ALL\n");
});
