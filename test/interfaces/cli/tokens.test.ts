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
