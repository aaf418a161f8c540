import type { Mutation } from "../mutation.ts";

/** What keeps a login to the one who made it: links, cookies and guessed keys. */
export const login: readonly Mutation[] = [
  {
    defence: "a login link logs in once",
    file: "src/interfaces/gateway/routes/login-link.ts",
    find: "      deps.loginLinks.use(token);\n",
    replace: "",
    tests: ["test/interfaces/gateway/routes/login-link.test.ts"],
  },
  {
    defence: "a login link is good for 10 minutes",
    file: "src/interfaces/gateway/login-links.ts",
    find: 'now() < link.expiresAt ? "good" : "expired"',
    replace: '"good"',
    tests: [
      "test/interfaces/gateway/login-links.test.ts",
      "test/interfaces/gateway/routes/login-link.test.ts",
    ],
  },
  {
    defence: "another API key ends all login links",
    file: "src/interfaces/gateway/login-links.ts",
    find: 'createHmac("sha256", apiKey())',
    replace: 'createHmac("sha256", "")',
    tests: ["test/interfaces/gateway/login-links.test.ts"],
  },
  {
    defence: "a session makes no login link, and so does not renew itself",
    file: "src/interfaces/gateway/app.ts",
    find: "      loginRoutes(scope, deps, checkKey);\n",
    replace:
      "      loginRoutes(scope, deps, checkKey);\n      createLoginLinkRoute(scope, deps);\n",
    tests: ["test/interfaces/gateway/routes/login-link.test.ts"],
  },
  {
    defence: "the link of al open is in no program's arguments",
    file: "src/interfaces/cli/operator/open-dashboard.ts",
    find: "openInBrowser(page, opener, env)",
    replace: "openInBrowser(link.url, opener, env)",
    tests: ["test/interfaces/cli/open.test.ts"],
    built: true,
  },
  {
    defence: "a login at localhost leaves no session cookie that other ports get",
    file: "src/interfaces/gateway/private-host.ts",
    find: "return isDirect && ",
    replace: "return !isDirect && ",
    tests: ["test/interfaces/dashboard/private-host.test.ts"],
    only: "ends on the private host",
  },
  {
    defence: "who has no key is not shown the private host",
    file: "src/interfaces/gateway/private-host.ts",
    find: 'createHash("sha256").update(privateHost).digest("hex").slice(0, 16)',
    replace: "privateHost",
    tests: ["test/interfaces/dashboard/private-host.test.ts"],
    only: "no answer to a client",
  },
  {
    defence: "a cookie that another port planted locks nobody out",
    file: "src/interfaces/gateway/auth.ts",
    find: ".slice(-maxCookies)",
    replace: ".slice(0, 1)",
    tests: ["test/interfaces/dashboard/private-host.test.ts"],
    only: "planted cookies or not",
  },
  {
    defence: "no program of another user answers for localhost at ::1",
    file: "src/interfaces/gateway/server.ts",
    find: "      await listenOnOther(port);\n",
    replace: "",
    tests: ["test/interfaces/gateway/server.test.ts"],
  },
  {
    defence: "guessing the key is slowed down",
    file: "src/interfaces/gateway/key-guesses.ts",
    find: "if (before >= answeredAtOnce) await wait(lateMs);",
    replace: "",
    tests: [
      "test/interfaces/gateway/key-guesses.test.ts",
      "test/interfaces/gateway/routes/login.test.ts",
    ],
  },
  {
    defence: "the keys that strangers can try are limited, over all addresses",
    file: "src/interfaces/gateway/key-guesses.ts",
    find: " || ofAll >= maxOfAll",
    replace: "",
    tests: ["test/interfaces/gateway/key-guesses.test.ts"],
  },
  {
    defence: "a guesser at the same address does not keep the owner out of the private host",
    file: "src/interfaces/gateway/key-guesses.ts",
    find: "isFull && !isOnPrivateHost(request, deps)",
    replace: "isFull",
    tests: ["test/interfaces/gateway/key-guesses.test.ts"],
  },
  {
    defence: "nobody is logged out by the address that a login leads to",
    file: "src/interfaces/gateway/routes/login.ts",
    find: "decodeURIComponent(path)",
    replace: "path",
    tests: ["test/interfaces/gateway/safe-next.test.ts"],
  },
];
