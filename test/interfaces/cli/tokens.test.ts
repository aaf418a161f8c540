import type { TokenView } from "../../../src/features/tokens/token-report.ts";
import { cliProject, refusal } from "./fake-operator.ts";

const cli = cliProject();
const secret = `al_${"x".repeat(43)}`;
const at = new Date(2026, 10, 22, 12, 0, 0).toISOString();
const token: TokenView = {
  name: "claude",
  scopes: ["read", "trigger"],
  agents: null,
  lastUsedAt: null,
  createdAt: at,
  expiresAt: at,
  expired: false,
};
let tokens: readonly TokenView[];
let asked: unknown[];
beforeEach(async () => {
  tokens = [token];
  asked = [];
  await cli.serve({
    "GET /api/tokens": () => ({ tokens }),
    "POST /api/tokens": ({ body }) => {
      asked.push(body);
      return { ...token, ...(body as object), token: secret };
    },
    "POST /api/tokens/claude/remove": { success: true, name: "claude" },
    "POST /api/tokens/none/remove": refusal(404, "unknown_token", 'There is no token "none".'),
  });
});

test("al token new prints only the token on standard output", async () => {
  const ran = await cli.al("token new claude --scope 'read, trigger'");
  expect(ran).toMatchObject({ code: 0, stdout: `${secret}\n` });
  expect(ran.stderr).toContain("read, trigger of all agents, for 90 days");
  const ci = await cli.json("token new ci --scope answer --agents dev,cat --days 7");
  expect(ci).toMatchObject({ token: secret });
  expect(asked).toEqual([
    { name: "claude", scopes: ["read", "trigger"], agents: null, days: 90 },
    { name: "ci", scopes: ["answer"], agents: ["dev", "cat"], days: 7 },
  ]);
});

test.each([
  ["new ci", 2, "--scope <scopes>"],
  ["new ci --scope reed", 2, "there is no scope reed\nhint: scopes: read, trigger"],
  ["new ci --scope ,", 2, "--scope is empty"],
  ["new ci --scope read --days 367", 2, "a whole number from 1 to 366"],
  ["rm none", 1, 'There is no token "none".'],
])("al token %s exits with %i and prints %j", async (args, code, text) => {
  await cli.fails(`token ${args}`, text, code);
  expect(asked).toEqual([]);
});

test("al token lists the tokens, and removes one", async () => {
  tokens = [token, { ...token, name: "old", agents: ["dev", "cat"], expired: true }];
  await cli.prints(
    "token",
    /^Token .+\nclaude +read,trigger +all +never .*\nold +read,trigger +dev,cat +never .* expired\n$/,
  );
  await cli.prints("token rm claude", "removed the API token claude\n");
  tokens = [];
  await cli.prints("token", "");
});
