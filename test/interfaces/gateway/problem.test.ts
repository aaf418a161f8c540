import { expect, test } from "vitest";
import { OperationError } from "../../../src/foundation/contracts/operations.ts";
import { UserError } from "../../../src/foundation/errors.ts";
import { problemOf } from "../../../src/interfaces/gateway/problem.ts";

test.each([
  [new UserError("bad_cursor", "no cursor"), 400, "bad_cursor", undefined],
  [new UserError("store_unavailable", "disk full"), 503, "store_unavailable", "5"],
  [new UserError("store_corrupt", "no database"), 503, "store_corrupt", "5"],
  [new OperationError("unreadable_receipt", "which"), 409, "unreadable_receipt", undefined],
  [new OperationError("refused", "queue_full"), 409, "refused", undefined],
  [new OperationError("draining", "stopping"), 503, "draining", "5"],
])("%s is a %i", (error, status, code, retryAfter) => {
  const problem = problemOf(error);
  expect(problem).toMatchObject({ status, code, message: error.message });
  expect(problem.headers["retry-after"]).toBe(retryAfter);
});

test("an error that is no request's fault tells nothing of itself", () => {
  const problem = problemOf(new UserError("socket_failed", "/run/secret.sock"));
  expect(problem).toMatchObject({ status: 500, code: "internal" });
  expect(problem.message).not.toContain("secret");
});
