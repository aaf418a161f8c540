import { expect, it } from "vitest";
import { gitConfigEnv } from "../../../src/runtime/harness/command-env.ts";

const token = (variable: string, host: string) => ({
  type: "github_token",
  instance: "default",
  fields: { token: "s3cret" },
  env: { [variable]: "s3cret" },
  git: { url: `https://${host}`, username: "x-access-token", variable },
});

it("tells git one login for a host, the first one, and no secret", () => {
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

it("leaves git alone without a login", () => {
  expect(gitConfigEnv([])).toEqual({});
});
