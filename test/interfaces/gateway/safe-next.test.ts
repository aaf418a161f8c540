import { expect, test } from "vitest";
import { safeNext } from "../../../src/interfaces/gateway/routes/login.ts";

test.each(["/dashboard", "/dashboard/agents/dev/logs?instance=dev-a", "/loginish", "/"])(
  "%s is a path of this site",
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
])("%j is not", (next) => expect(safeNext(next, "/home")).toBe("/home"));
