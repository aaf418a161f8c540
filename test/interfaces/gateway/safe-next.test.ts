import { basePathOf } from "../../../src/interfaces/gateway/request-base.ts";
import { safeNext } from "../../../src/interfaces/gateway/routes/login.ts";

test.each(["/dashboard", "/dashboard/agents/dev/logs?instance=dev-a", "/loginish", "/"])(
  "the login leads to %s",
  (next) => expect(safeNext(next, "/home")).toBe(next),
);

test.each([
  "//evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "https://evil.example/",
  "/\t/evil.example",
  "/\n/evil.example",
  "/.//evil.example",
  "/a/..//evil.example",
  "javascript:alert(1)",
  "",
  "dashboard",
  "/login?next=/",
  "/logout",
  "/%6cogout",
  "/l%6Fgin?next=/",
  "/a/%2e%2e/%6Cogout",
  "/%E0%A4%A",
  undefined,
  ["/dashboard"],
])("the login does not lead to %j", (next) => expect(safeNext(next, "/home")).toBe("/home"));

describe("below the base path /al the login", () => {
  const nextBelow = (next: string): string =>
    basePathOf("https://a.test/al")(() => safeNext(next, "/home"));

  test.each(["/al/dashboard", "/dashboard", "/x/../al/dashboard", "/al/al/dashboard"])(
    "leads from %s to the dashboard",
    (next) => expect(nextBelow(next)).toBe("/dashboard"),
  );

  test.each([
    "/al/logout",
    "/./al/logout",
    "/al/al/logout",
    "/al/./al/login",
    "/%61l/logout",
    "/al//evil.example",
    "/./al//evil.example",
  ])("does not lead to %s", (next) => expect(nextBelow(next)).toBe("/home"));
});
