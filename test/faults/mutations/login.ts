import type { Mutation } from "../mutation.ts";

/** What keeps a login link from logging in more than the one who made it. */
export const login: readonly Mutation[] = [
  {
    defence: "a login link logs in once",
    file: "src/gateway/routes/login-link.ts",
    find: "      deps.loginLinks.use(token);\n",
    replace: "",
    tests: ["test/gateway/routes/login-link.test.ts"],
  },
  {
    defence: "a login link is good for 10 minutes",
    file: "src/gateway/login-links.ts",
    find: 'now() < link.expiresAt ? "good" : "expired"',
    replace: '"good"',
    tests: ["test/gateway/login-links.test.ts", "test/gateway/routes/login-link.test.ts"],
  },
  {
    defence: "another API key ends all login links",
    file: "src/gateway/login-links.ts",
    find: 'createHmac("sha256", apiKey())',
    replace: 'createHmac("sha256", "")',
    tests: ["test/gateway/login-links.test.ts"],
  },
  {
    defence: "a session makes no login link, and so does not renew itself",
    file: "src/gateway/app.ts",
    find: "      loginRoutes(scope, deps);\n",
    replace: "      loginRoutes(scope, deps);\n      createLoginLinkRoute(scope, deps);\n",
    tests: ["test/gateway/routes/login-link.test.ts"],
  },
  {
    defence: "the link of al open is in no program's arguments",
    file: "src/cli/operator/open-dashboard.ts",
    find: "openInBrowser(page, opener, env)",
    replace: "openInBrowser(link.url, opener, env)",
    tests: ["test/cli/open.test.ts"],
    built: true,
  },
];
