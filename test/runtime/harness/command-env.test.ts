import { expect, it } from "vitest";
import { commandEnv } from "../../../src/runtime/harness/command-env.ts";
import { aJob } from "./jobs.ts";

it("gives the first credential that sets a variable the say, and nobody the mark of the run", () => {
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

it("has the variables of the agent's config, after those of credentials", () => {
  const written = { network: {}, payloadFile: null, files: {}, commands: null };
  const token = { type: "t", instance: "one", fields: {}, env: { TOKEN: "secret" } };
  const job = aJob("/w", { env: { LOG_LEVEL: "debug", TOKEN: "plain" }, credentials: [token] });
  expect(commandEnv(job, { PATH: "/bin" }, written)).toMatchObject({
    PATH: "/bin",
    LOG_LEVEL: "debug",
    TOKEN: "secret",
  });
});

it("puts the agent's own commands first on the PATH, and tells them where the run is", () => {
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
