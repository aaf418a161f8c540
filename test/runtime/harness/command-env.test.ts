import { gitConfigEnv } from "../../../src/foundation/credentials/git-config-env.ts";
import { commandEnv } from "../../../src/runtime/harness/command-env.ts";
import { aJob } from "./jobs.ts";

const bare = { network: {}, payloadFile: null, deliveriesFile: null, files: {}, commands: null };
const credential = (instance: string, env: Record<string, string>) => ({
  type: "t",
  instance,
  fields: {},
  env,
});

test("an agent's commands get variables from the first credential that sets them, then config and network, not from the harness", () => {
  const credentials = [
    credential("one", { TOKEN: "first", HTTPS_PROXY: "http://own" }),
    credential("two", { TOKEN: "second", AL_INSTANCE: "forged" }),
  ];
  const job = aJob("/w", { credentials, env: { LOG_LEVEL: "debug", TOKEN: "plain" } });
  const env = { PATH: "/bin", HOME: "/w", OPENAI_API_KEY: "x", NODE_OPTIONS: "y" };
  const network = { HTTPS_PROXY: "http://proxy" };
  const files = { GIT_SSH_COMMAND: "ssh" };
  expect(commandEnv(job, env, { ...bare, network, files })).toEqual({
    PATH: "/bin",
    HOME: "/w",
    TOKEN: "first",
    HTTPS_PROXY: "http://own",
    LOG_LEVEL: "debug",
    GIT_SSH_COMMAND: "ssh",
    AL_AGENT: "dev",
    AL_INSTANCE: "dev-abcdefgh",
  });
});

test("an agent's commands get the time for which a schedule started the run", () => {
  const trigger = {
    kind: "cron",
    scheduledFor: Date.UTC(2026, 0, 2, 9),
    late: "backfill",
  } as const;
  expect(commandEnv(aJob("/w", { trigger }), {}, bare)).toMatchObject({
    AL_SCHEDULED_AT: "2026-01-02T09:00:00.000Z",
  });
});

const token = (variable: string, host: string) => ({
  type: "github_token",
  instance: "default",
  fields: { token: "s3cret" },
  env: { [variable]: "s3cret" },
  git: { url: `https://${host}`, username: "x-access-token", variable },
});

test("git's config gets the first credential of each host, without the secret", () => {
  const env = gitConfigEnv([
    token("GITHUB_TOKEN", "github.com"),
    token("GITHUB_TOKEN_WORK_TOKEN", "github.com"),
    credential("without a login", {}),
  ]);
  expect(env).toMatchObject({
    GIT_CONFIG_COUNT: "2",
    GIT_CONFIG_KEY_0: "credential.https://github.com.helper",
    GIT_CONFIG_VALUE_0: "",
    GIT_CONFIG_KEY_1: "credential.https://github.com.helper",
  });
  expect(env.GIT_CONFIG_VALUE_1).toContain('"$GITHUB_TOKEN"');
  expect(JSON.stringify(env)).not.toContain("s3cret");
});
