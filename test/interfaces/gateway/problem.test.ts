import { Problem } from "../../../src/foundation/errors.ts";
import { problemOf } from "../../../src/interfaces/gateway/problem.ts";

test.each([
  ["bad_cursor", 400, undefined],
  ["store_unavailable", 503, "5"],
  ["store_corrupt", 503, "5"],
  ["unreadable_receipt", 409, undefined],
  ["unsafe_credential", 409, undefined],
  ["unreadable_file", 409, undefined],
  ["refused", 409, undefined],
  ["draining", 503, "5"],
])("a problem %s has the status %i", (code, status, retryAfter) => {
  const problem = problemOf(new Problem(code, "why"));
  expect(problem).toMatchObject({ status, code, message: "why" });
  expect(problem.headers["retry-after"]).toBe(retryAfter);
});

test("an internal error is a 500 that hides its message", () => {
  const problem = problemOf(new Problem("socket_failed", "/run/secret.sock"));
  expect(problem).toMatchObject({ status: 500, code: "internal" });
  expect(problem.message).not.toContain("secret");
});
