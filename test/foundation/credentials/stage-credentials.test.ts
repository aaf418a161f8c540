import {
  setsVariable,
  stageCredentials,
} from "../../../src/foundation/credentials/stage-credentials.ts";

const credential = (type: string, fields: Record<string, string>, instance = "default") => ({
  type,
  instance,
  fields,
});
const envs = (...credentials: ReturnType<typeof credential>[]) =>
  stageCredentials(credentials).map(({ env }) => env);

test("stageCredentials sets <TYPE>_<FIELD> for other types and other fields", () => {
  expect(envs(credential("my-db", { pass: "p", "user-name": "u" }))).toEqual([
    { MY_DB_PASS: "p", MY_DB_USER_NAME: "u" },
  ]);
  expect(envs(credential("openai_key", { key: "k", org: "o" }))).toEqual([
    { OPENAI_API_KEY: "k", OPENAI_KEY_ORG: "o" },
  ]);
  expect(envs(credential("2fa", { toString: "x" }))).toEqual([{ _2FA_TOSTRING: "x" }]);
});

test("stageCredentials sets variables to the paths of keys that only work as files", () => {
  const own = { private_key: "k", email: "a@b" };
  const [staged] = stageCredentials([credential("git_ssh", own)]);
  expect(staged?.env).toEqual({ GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_EMAIL: "a@b" });
  expect(staged?.fileEnv).toEqual({
    GIT_SSH_COMMAND:
      "ssh -F none -i '{private_key}' -o IdentitiesOnly=yes -o BatchMode=yes -o GlobalKnownHostsFile='{usual_hosts} /etc/ssh/ssh_known_hosts' -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile='{accepted_hosts}'",
  });
  expect(Object.keys(staged?.texts ?? {})).toEqual(["usual_hosts", "accepted_hosts"]);
  const known = stageCredentials([credential("git_ssh", { ...own, known_hosts: "h" })]);
  expect(known[0]?.fileEnv?.GIT_SSH_COMMAND).toContain(
    "-o StrictHostKeyChecking=yes -o UserKnownHostsFile='{known_hosts}'",
  );
  const account = stageCredentials([credential("gcp_service_account", { key_file: "{}" })]);
  expect(account[0]?.fileEnv).toEqual({ GOOGLE_APPLICATION_CREDENTIALS: "{key_file}" });
});

test("stageCredentials sets GIT_SSH_COMMAND for the first of two SSH keys, and a longer variable for each", () => {
  const key = { private_key: "k" };
  const [first, second] = stageCredentials([
    credential("git_ssh", key),
    credential("git_ssh", key, "work"),
    credential("git", { ssh_command: "own" }),
  ]);
  expect(Object.keys(first?.fileEnv ?? {})).toEqual(["GIT_SSH_COMMAND", "GIT_SSH_DEFAULT_COMMAND"]);
  expect(Object.keys(second?.fileEnv ?? {})).toEqual(["GIT_SSH_WORK_COMMAND"]);
});

test("stageCredentials sets the usual variable for the first of two credentials of a type, and a longer one for each", () => {
  const [first, second] = envs(
    credential("github_token", { token: "1" }),
    credential("github_token", { token: "2" }, "work"),
  );
  expect(first).toEqual({ GITHUB_TOKEN: "1", GH_TOKEN: "1", GITHUB_TOKEN_DEFAULT_TOKEN: "1" });
  expect(second).toEqual({ GITHUB_TOKEN_WORK_TOKEN: "2" });
});

test("stageCredentials tells git the host and variable of each token", () => {
  const tokens = stageCredentials([
    credential("github_token", { token: "1" }),
    credential("github_token", { token: "2", host: "git.example.org" }, "work"),
    credential("gitlab_token", { token: "3" }),
    credential("npm_token", { token: "4" }),
  ]);
  expect(tokens.map(({ git }) => git)).toEqual([
    { url: "https://github.com", username: "x-access-token", variable: "GITHUB_TOKEN" },
    {
      url: "https://git.example.org",
      username: "x-access-token",
      variable: "GITHUB_TOKEN_WORK_TOKEN",
    },
    { url: "https://gitlab.com", username: "oauth2", variable: "GITLAB_TOKEN" },
    undefined,
  ]);
});

test.each([
  ["github_token:work", "GITHUB_TOKEN_WORK_TOKEN", true],
  ["git_ssh", "GIT_SSH_COMMAND", true],
  ["my-db", "MY_DB_PASSWORD", true],
  ["github_token", "GITHUB_TOKENS", false],
  ["aws", "AWS_PAGER", false],
  ["my-db", "DATABASE", false],
])("the credential %s sets the variable %s: %s", (reference, variable, isSet) =>
  expect(setsVariable(reference, variable)).toBe(isSet),
);
