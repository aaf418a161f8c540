import { cliProject } from "./fake-operator.ts";

const cli = cliProject();

test("al token marks a token that has expired", async () => {
  const at = new Date(2026, 10, 22, 12, 0, 0).toISOString();
  const times = { lastUsedAt: null, createdAt: at, expiresAt: at, expired: true };
  const token = { name: "old", scopes: ["read"], agents: ["dev", "cat"], ...times };
  await cli.serve({ "GET /api/tokens": { tokens: [token] } });
  await cli.prints("token", /^Token .+\nold +read +dev,cat +never .* expired\n$/);
});
