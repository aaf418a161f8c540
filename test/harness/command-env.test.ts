import { expect, it } from "vitest";
import { commandEnv } from "../../src/harness/command-env.ts";
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
      payloadFile: null,
      files: { GIT_SSH_COMMAND: "ssh" },
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
