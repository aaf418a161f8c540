import { commandEnv, gitConfigEnv } from "../../../src/runtime/harness/command-env.ts";
import { aJob } from "./jobs.ts";

const bare = { network: {}, payloadFile: null, files: {}, commands: null };
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

test("an agent's commands get the run's socket, and a PATH that begins with the folder of Almanac's own commands", () => {
  const written = { ...bare, commands: { binDir: "/w/.al/bin", path: "/w/.al/run.sock" } };
  const job = aJob("/w", { channel: { socket: "/s/channel.sock", token: "s3cret" } });
  expect(commandEnv(job, { PATH: "/bin" }, written)).toEqual({
    PATH: "/w/.al/bin:/bin",
    AL_RUN_SOCKET: "/w/.al/run.sock",
    AL_AGENT: "dev",
    AL_INSTANCE: "dev-abcdefgh",
  });
  expect(commandEnv(job, {}, written).PATH).toBe("/w/.al/bin:/usr/local/bin:/usr/bin:/bin");
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
