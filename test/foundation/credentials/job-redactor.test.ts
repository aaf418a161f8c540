import { expect, it } from "vitest";
import { jobRedactor } from "../../../src/foundation/credentials/job-redactor.ts";
import { aJob } from "../../runtime/harness/jobs.ts";

it("takes a job's credentials and its token out, and leaves what is no secret", () => {
  const fields = {
    private_key: "line-one-of-the-key\nline-two-of-the-key",
    email: "dev@example.com",
  };
  const redact = jobRedactor(
    aJob("/w", {
      channel: { socket: "/s", token: "the-run-token" },
      credentials: [{ type: "git_ssh", instance: "default", fields, env: {} }],
    }),
  );
  expect(
    redact({ a: ["the-run-token line-two-of-the-key"], b: "dev@example.com", c: 5, d: null }),
  ).toEqual({ a: ["[redacted] [redacted]"], b: "dev@example.com", c: 5, d: null });
});
