import { expect, it } from "vitest";
import { jobRedactor } from "../../src/credentials/job-redactor.ts";
import { aJob, aModel } from "../harness/jobs.ts";

it("takes a job's credentials and its models' keys out, and leaves what is no secret", () => {
  const fields = {
    private_key: "line-one-of-the-key\nline-two-of-the-key",
    email: "dev@example.com",
  };
  const redact = jobRedactor(
    aJob("/w", {
      models: [aModel("main", "http://127.0.0.1:1", { key: "sk-1234567890" })],
      credentials: [{ type: "git_ssh", instance: "default", fields, env: {} }],
    }),
  );
  expect(
    redact({ a: ["sk-1234567890 line-two-of-the-key"], b: "dev@example.com", c: 5, d: null }),
  ).toEqual({ a: ["[redacted] [redacted]"], b: "dev@example.com", c: 5, d: null });
});

it("takes the headers of models out that hold a secret by their name", () => {
  const headers = { "Helicone-Auth": "Bearer sk-helicone-1", "x-team": "platform" };
  const redact = jobRedactor(
    aJob("/w", { models: [aModel("main", "http://127.0.0.1:1", { headers })] }),
  );
  expect(redact("sk-helicone-1 of platform")).toBe("[redacted] of platform");
});
