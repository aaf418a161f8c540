import { commandEnv, gitConfigEnv } from "../../../src/runtime/harness/command-env.ts";
import { aJob } from "./jobs.ts";

test("the first credential that sets a variable wins, and none can set the run's mark", () => {
  const credential = (instance: string, env: Record<string, string>) => ({
    type: "t",
    instance,
    fields: {},
    env,
  });
  const credentials = [
    credential("one", { TOKEN: "first", T_ONE: "1" }),
    credential("two", { TOKEN: "second", AL_INSTANCE: "forged" }),
  ];
  const env = { PATH: "/bin", HOME: "/w", OPENAI_API_KEY: "x", NODE_OPTIONS: "y" };
  expect(
    commandEnv(aJob("/w", { credentials }), env, {
      network: {},
      payloadFile: null,
      files: { GIT_SSH_COMMAND: "ssh" },
      commands: null,
    }),
  ).toEqual({
    PATH: "/bin",
    HOME: "/w",
    TOKEN: "first",
    T_ONE: "1",
    GIT_SSH_COMMAND: "ssh",
    AL_AGENT: "dev",
    AL_INSTANCE: "dev-abcdefgh",
  });
});

test("commands have the variables of the agent's config, after those of credentials", () => {
  const written = { network: {}, payloadFile: null, files: {}, commands: null };
  const token = { type: "t", instance: "one", fields: {}, env: { TOKEN: "secret" } };
  const job = aJob("/w", { env: { LOG_LEVEL: "debug", TOKEN: "plain" }, credentials: [token] });
  expect(commandEnv(job, { PATH: "/bin" }, written)).toMatchObject({
    PATH: "/bin",
    LOG_LEVEL: "debug",
    TOKEN: "secret",
  });
});

test("commands find the agent's own commands first on the PATH, and the run's place", () => {
  const commands = { binDir: "/w/.al/bin", path: "/w/.al/run.sock" };
  const written = { network: {}, payloadFile: null, files: {}, commands };
  const channel = { socket: "/s/channel.sock", token: "s3cret" };
  const job = aJob("/w", { channel });
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

test("git gets one login for a host, the first one, and no secret", () => {
  const env = gitConfigEnv([
    token("GITHUB_TOKEN", "github.com"),
    token("GITHUB_TOKEN_WORK_TOKEN", "github.com"),
    { type: "npm_token", instance: "default", fields: {}, env: {} },
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

test("git is unchanged without a login", () => expect(gitConfigEnv([])).toEqual({}));
