import { UserError } from "../../../src/foundation/errors.ts";
import { problemOf } from "../../../src/interfaces/gateway/problem.ts";

test.each([
  [new UserError("bad_cursor", "no cursor"), 400, "bad_cursor", undefined],
  [new UserError("store_unavailable", "disk full"), 503, "store_unavailable", "5"],
  [new UserError("store_corrupt", "no database"), 503, "store_corrupt", "5"],
  [new UserError("unreadable_receipt", "which"), 409, "unreadable_receipt", undefined],
  [new UserError("unsafe_credential", "open to others"), 409, "unsafe_credential", undefined],
  [new UserError("unreadable_file", "which"), 409, "unreadable_file", undefined],
  [new UserError("refused", "queue_full"), 409, "refused", undefined],
  [new UserError("draining", "stopping"), 503, "draining", "5"],
])("the problem %s has the status %i", (error, status, code, retryAfter) => {
  const problem = problemOf(error);
  expect(problem).toMatchObject({ status, code, message: error.message });
  expect(problem.headers["retry-after"]).toBe(retryAfter);
});

test("an internal error is a 500 that hides its message", () => {
  const problem = problemOf(new UserError("socket_failed", "/run/secret.sock"));
  expect(problem).toMatchObject({ status: 500, code: "internal" });
  expect(problem.message).not.toContain("secret");
});
