import { join, resolve } from "node:path";
import * as parser from "@typescript-eslint/parser";
import { ESLint, Linter } from "eslint";

const root = resolve(import.meta.dirname, "../../..");
const project = new ESLint({ cwd: root });

/** How often the project's own rules for a file object to a piece of code where secrets are compared. */
async function objections(code: string, file = "src/interfaces/gateway/auth.ts"): Promise<number> {
  const config = (await project.calculateConfigForFile(join(root, file))) as Linter.Config;
  const rule = config.rules?.["no-restricted-syntax"] ?? "off";
  // Without types, which this rule does not ask for: finding them takes longer than all else.
  const messages = new Linter().verify(code, {
    languageOptions: { parser },
    rules: { "no-restricted-syntax": rule },
  });
  expect(messages.filter(({ fatal }) => fatal)).toEqual([]);
  return messages.filter(({ message }) => /timingSafeEqual/.test(message)).length;
}

test.each([
  "if (a.given === a.apiKey) a.in();",
  "if (a.token !== a.expected) a.out();",
  "if (a.signature == a.given) a.in();",
  "const { secret, given } = a; if (given === secret) a.in();",
  "const ok = a.digest.equals(a.given);",
  "const ok = Buffer.compare(a.given, a.hmac) === 0;",
  "const ok = a.password.localeCompare(a.given);",
])("the rule for comparing secrets reports %s", async (code) => {
  expect(await objections(code)).toBe(1);
});

test.each([
  'if (a.token === "" || a.token === undefined || a.token === null) a.out();',
  "if (timingSafeEqual(a.token, a.given)) a.in();",
  "if (a.keys === a.others) a.in();",
])("the rule for comparing secrets accepts %s", async (code) => {
  expect(await objections(code)).toBe(0);
});

test("the rule for comparing secrets holds wherever untrusted input is compared", async () => {
  for (const file of [
    "src/runtime/run-api/socket-dir.ts",
    "src/features/webhooks/signature.ts",
    "src/features/models/scripted.ts",
    "src/interfaces/gateway/routes/login.ts",
  ]) {
    expect(await objections("if (a.given === a.secret) a.in();", file), file).toBe(1);
  }
});
