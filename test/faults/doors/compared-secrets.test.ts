import { join, resolve } from "node:path";
import * as parser from "@typescript-eslint/parser";
import { ESLint, Linter } from "eslint";

const root = resolve(import.meta.dirname, "../../..");
const project = new ESLint({ cwd: root });
const objected = "if (a.given === a.secret) a.in();";

/** The project's own rules for a file, without types, which take long to find: this rule does not need them. */
test.each([
  ["if (a.given === a.apiKey) a.in();", 1],
  ["if (a.token !== a.expected) a.out();", 1],
  ["if (a.signature == a.given) a.in();", 1],
  ["const { secret, given } = a; if (given === secret) a.in();", 1],
  ["const ok = a.digest.equals(a.given);", 1],
  ["const ok = Buffer.compare(a.given, a.hmac) === 0;", 1],
  ["const ok = a.password.localeCompare(a.given);", 1],
  ['if (a.token === "" || a.token === undefined || a.token === null) a.out();', 0],
  ["if (timingSafeEqual(a.token, a.given)) a.in();", 0],
  ["if (a.keys === a.others) a.in();", 0],
  [objected, 1, "src/runtime/run-api/socket-dir.ts"],
  [objected, 1, "src/features/webhooks/signature.ts"],
  [objected, 1, "src/features/models/scripted.ts"],
  [objected, 1, "src/interfaces/gateway/routes/login.ts"],
])(
  "the lint rule for comparing secrets reports %s %i times",
  async (code, count, file?: string) => {
    const path = join(root, file ?? "src/interfaces/gateway/auth.ts");
    const config = (await project.calculateConfigForFile(path)) as Linter.Config;
    const rule = config.rules?.["no-restricted-syntax"] ?? "off";
    const rules = { "no-restricted-syntax": rule };
    const messages = new Linter().verify(code, { languageOptions: { parser }, rules });
    expect(messages.filter(({ fatal }) => fatal)).toEqual([]);
    expect(messages.filter(({ message }) => /timingSafeEqual/.test(message))).toHaveLength(count);
  },
);
