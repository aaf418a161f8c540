/* oxlint-disable max-lines -- a table */
/** A defence taken away by hand: at least one of the tests must fail. */
export interface Mutation extends Where {
  /** The promise that the defence keeps. */
  readonly defence: string;
  /** Text that is in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Test file, from the root; one of its tests fails. */
  readonly test: string;
}

/** Where defences are, and which tests notice that they are gone. */
interface Where {
  /** The file that is changed, from the root of the checkout. */
  readonly file: string;
  /** By default the file at the same path in `test`. */
  readonly test?: string;
  /** Only tests whose name contains this text run. */
  readonly only?: string;
  /** True if the tests run the built program, which is then built again. */
  readonly built?: boolean;
}

/** By the promise: the text that keeps it, and the text in its place. */
type Defences = Readonly<Record<string, readonly [find: string, replace: string]>>;

const gateway = "src/interfaces/gateway";
const ofGateway = "test/interfaces/gateway";
const runApi = "src/runtime/run-api";
const ofRunApi = "test/runtime/run-api";
const runners = "src/runtime/runners";
const ofRunners = "test/runtime/runners";
const closedNetwork = `${ofRunners}/host-user/closed-network.system.test.ts`;
const doors = "test/faults/doors";

/** The defences that keep a promise of SECURITY.md. */
const table: readonly (readonly [Where, Defences])[] = [
  [
    { file: `${gateway}/token-limits.ts`, test: "test/sameness/surfaces.test.ts" },
    {
      "an API token opens only the routes of its scopes": [
        'if (scope === "any" || token.scopes.includes(scope)) return;',
        "return;",
      ],
    },
  ],
  [
    { file: `${gateway}/token-limits.ts`, test: `${ofGateway}/token-routes.test.ts` },
    {
      "an API token for some agents asks about these only": [
        "if (route.isAbout?.(request, isMine) ?? isAboutNamed(request, named, isMine)) return;",
        "if (agents.length > 0) return;",
      ],
    },
  ],
  [
    { file: `${gateway}/create-app.ts`, test: `${ofGateway}/token-routes.test.ts` },
    {
      "an API token for some agents sees no rows about others": [
        "isMine === null || isReply(answer) ? answer",
        "isMine !== null || isReply(answer) ? answer",
      ],
    },
  ],
  [
    { file: `${gateway}/auth.ts`, test: `${ofGateway}/app.test.ts` },
    {
      "a page of another origin can't use an operator's session": [
        "  if (isRefused) {",
        "  if (isRefused && !isStream && isSafe) {",
      ],
    },
  ],
  [
    { file: "src/runtime/agents/edit-file.ts" },
    {
      "an edit by the gateway is not written through a link out of the agent's directory": [
        "if (dirname(file) !== own)",
        "if (file === own)",
      ],
      "an edit by the gateway overwrites no edit on disk": [
        "if (hash !== hashOf(",
        'if (hash === "" && hash !== hashOf(',
      ],
      "files are read-only by [gateway].edit = false": [
        "if (!project.gateway.edit)",
        "if (!project.gateway.edit && dryRun)",
      ],
    },
  ],
  [
    { file: `${gateway}/known-hosts.ts`, test: `${ofGateway}/app.test.ts` },
    {
      "requests with an unknown host name are refused": [
        "if (known.has(",
        "if (known.size > 0 || known.has(",
      ],
    },
  ],
  [
    {
      file: `${gateway}/known-hosts.ts`,
      test: `${doors}/http/hosts.test.ts`,
      only: "two names",
      built: true,
    },
    {
      "requests with two Host headers are refused": [
        "hostLines(request) > 1",
        "hostLines(request) > 9",
      ],
    },
  ],
  [
    { file: "src/features/webhooks/authenticate.ts" },
    {
      "web pages can't trigger an unsigned webhook": [
        "if (!isFromPage(delivery.headers)) return",
        "return",
      ],
    },
  ],
  [
    {
      file: "src/features/webhooks/authenticate.ts",
      test: "test/features/webhooks/receive.test.ts",
    },
    {
      "deliveries with a wrong signature are refused": [
        "if (verdict.ok) return",
        "if (verdict.ok || secret !== '') return",
      ],
    },
  ],
  [
    {
      file: "src/features/webhooks/hmac-sender.ts",
      test: "test/features/webhooks/hmac-sender.test.ts",
    },
    {
      "old deliveries of a generic source are refused": [
        "if (time === undefined) return valid",
        "if (time !== null) return valid",
      ],
    },
  ],
  [
    {
      file: `${gateway}/routes/login.ts`,
      test: `${doors}/http/sessions.test.ts`,
      only: "attacker's own session",
      built: true,
    },
    {
      "the login ends a session that an attacker planted": [
        "deps.sessions.end(id);\n  const isSecure",
        "void id;\n  const isSecure",
      ],
    },
  ],
  [
    { file: `${gateway}/routes/login.ts` },
    {
      "the logout ends the session of a stolen cookie": [
        "for (const id of ended) deps.sessions.end(id);",
        "void ended;",
      ],
      "requests from other sites carry no session cookie": [
        'sameSite: "strict"',
        'sameSite: "none"',
      ],
    },
  ],
  [
    { file: `${gateway}/routes/login.ts`, test: `${ofGateway}/routes/login-link.test.ts` },
    { "a login link works once": ["      deps.loginLinks.use(token);\n", ""] },
  ],
  [
    { file: `${runApi}/run-sockets.ts`, test: `${ofRunApi}/egress/authentication.test.ts` },
    {
      "a tunnel requires the token of its run": [
        "carriesToken(login, socket.tokens.tokenHash)",
        '(login ?? "") !== ""',
      ],
    },
  ],
  [
    { file: `${gateway}/active-key.ts` },
    { "a new key ends all sessions": ["    sessions.endAll();\n", ""] },
  ],
  [
    { file: "eslint.config.js", test: `${doors}/compared-secrets.test.ts` },
    {
      "a lint rule demands comparison of secrets in constant time": [
        '["error", ...comparedSecrets, spreadLiterals, subscriptions]',
        '["error", spreadLiterals, subscriptions]',
      ],
    },
  ],
  [
    { file: "src/foundation/contracts/params.ts", test: `${doors}/fuzz/routes.test.ts` },
    {
      "agent names can't lead out of the project": [
        "if (agentName.test(name)) return name;",
        "if (name !== null) return name;",
      ],
    },
  ],
  [
    {
      file: "src/interfaces/dashboard/send-page.tsx",
      test: `${ofGateway}/app.test.ts`,
    },
    {
      "pages run only their own script": [
        "script-src ${script?.source ?? \"'none'\"}",
        "script-src 'unsafe-inline'",
      ],
    },
  ],
  [
    {
      file: "src/foundation/contracts/plain-text.ts",
      test: "test/features/alerts/email.test.ts",
    },
    {
      "an alert by e-mail escapes text in its markup": [
        "(character) => entities[character] ?? character",
        "(character) => character",
      ],
    },
  ],
  [
    {
      file: "src/interfaces/cli/logs/log-line.ts",
      test: `${doors}/terminal/control-characters.test.ts`,
      built: true,
    },
    {
      "control sequences in logs don't reach the terminal": ["plain(entry.msg)", "entry.msg"],
    },
  ],
  [
    { file: `${gateway}/key-guesses.ts` },
    {
      "key guesses are slowed down": ["if (before >= answeredAtOnce) await wait(lateMs);", ""],
    },
  ],
  [
    { file: `${gateway}/server.ts` },
    {
      "another user's program can't listen at ::1 in place of the gateway": [
        "      await listenOnOther(port);\n",
        "",
      ],
    },
  ],
  [
    {
      file: `${gateway}/create-app.ts`,
      test: `${doors}/http/slow.test.ts`,
      only: "which are 10 s and 30 s",
      built: true,
    },
    {
      "slow requests are cut off": ["headersTimeout: 10_000", "headersTimeout: 60_000"],
    },
  ],
  [
    {
      file: `${gateway}/create-app.ts`,
      test: `${doors}/http/strangers.test.ts`,
      only: "ahead of their answers",
      built: true,
    },
    {
      "the gateway closes connections that pipeline too many requests": [
        "{ ...slowRequests, ...limitOpenRequests() }",
        "{ ...slowRequests, ...limitOpenRequests(1_000) }",
      ],
    },
  ],
  [
    {
      file: `${runApi}/run-socket.ts`,
      test: `${ofRunApi}/hostile.test.ts`,
      only: "pipelined requests",
    },
    {
      "a run's socket closes connections that pipeline too many requests": [
        "limitOpenRequests(2, refuseChunked)",
        "limitOpenRequests(1_000, refuseChunked)",
      ],
    },
  ],
  [
    {
      file: "src/features/webhooks/receive.ts",
      test: "test/features/webhooks/receive-anything.test.ts",
      only: "before parsing",
    },
    {
      "unsigned bodies with too many JSON values are not parsed": [
        "source.credential === null ? whyTooMuch(delivery) : null",
        "source.credential === undefined ? whyTooMuch(delivery) : null",
      ],
    },
  ],
  [
    {
      file: "src/foundation/credentials/broker-credentials.ts",
      test: "test/e2e/brokered-secrets.test.ts",
      only: "no byte",
    },
    {
      "runs get a sentinel in place of a secret that is bound to hosts": [
        "fields[field] = sentinel;",
        "fields[field] = secret;",
      ],
    },
  ],
  [
    { file: `${runApi}/egress/broker/substitute.ts` },
    {
      "a secret is sent to its own hosts only": [
        "bindings.filter(({ hosts }) => hosts.includes(host));",
        "bindings.filter(({ hosts }) => hosts.length > 0);",
      ],
    },
  ],
  [
    {
      file: `${runApi}/egress/broker/sentinel-guard.ts`,
      test: `${ofRunApi}/egress/broker/intercept.test.ts`,
    },
    {
      "sentinels in request bodies are refused": [
        "if (bytes.includes(mark)) return done(this.#refusal());",
        "if (bytes.length < 0) return done(this.#refusal());",
      ],
    },
  ],
  [
    {
      file: `${runApi}/egress/forward-http.ts`,
      test: `${ofRunApi}/egress/broker/intercept.test.ts`,
    },
    {
      "sentinels are refused without TLS": [
        "  assertNoSentinel(request, asked, path);\n",
        "  void assertNoSentinel;\n",
      ],
    },
  ],
  [
    {
      file: `${runApi}/egress/broker/exchange.ts`,
      test: `${ofRunApi}/egress/broker/intercept.test.ts`,
    },
    {
      "a secret that a host repeats is masked": [
        "maskedBytes(bytes, masks)",
        "maskedBytes(bytes, masks.slice(0, 0))",
      ],
    },
  ],
  [
    { file: `${runners}/host-user/isolation.ts`, test: closedNetwork, only: "does not start if" },
    {
      "a run that needs a closed network does not start with an open one": [
        'if (network === "closed") return',
        'if (network === "open") return',
      ],
    },
  ],
  [
    {
      file: `${runners}/host-user/isolation.ts`,
      test: closedNetwork,
      only: "sees only the loopback",
    },
    {
      "a closed run can't use the machine's network": ['["--net", "--mount"]', '["--mount"]'],
    },
  ],
  [
    { file: `${runApi}/egress/decide.ts`, test: `${ofRunApi}/egress/tunnels.test.ts` },
    {
      "a run reaches listed hosts only": [
        "if (entries.length === 0) throw",
        "if (entries.length === 0 && allow.length === 0) throw",
      ],
    },
  ],
  [
    {
      file: `${runApi}/egress/addresses.ts`,
      test: `${ofRunApi}/egress/tunnels.test.ts`,
      only: "a name whose address",
    },
    {
      "loopback and metadata addresses are refused after name resolution": [
        'if (address.includes("%") || isRefused(address)) return "refused_address";',
        'if (address.includes("%")) return "refused_address";',
      ],
      "private networks require an entry marked private": [
        "return needsEntry && !isPrivate ?",
        "return needsEntry && own.size === 0 && !isPrivate ?",
      ],
    },
  ],
  [
    {
      file: `${runApi}/egress/admit.ts`,
      test: `${ofRunApi}/egress/tunnels.test.ts`,
      only: "forbidden addresses",
    },
    {
      "a host is dialled at the address that was checked": [
        "const kept = addresses.filter((_address, index) => problems[index] === null);",
        "const kept = problems.includes(null) ? addresses : [];",
      ],
    },
  ],
  [
    { file: `${runApi}/egress/client-hello.ts`, test: `${ofRunApi}/egress/server-names.test.ts` },
    {
      "a tunnel serves only the host that it was opened for": [
        "if ((serverName?.toLowerCase() ?? null) === expected) return null;",
        "if (serverName !== null || expected === null) return null;",
      ],
    },
  ],
  [
    { file: "src/runtime/runs/prepare-job.ts" },
    {
      "model keys stay outside of runs": [
        "filter(([key]) => !outside.includes(key))",
        'filter(([key]) => key !== "credential")',
      ],
    },
  ],
  [
    { file: "src/foundation/config/skill.ts" },
    {
      "front matter runs no code": [
        'if (first.trimEnd() !== "---")',
        'if (first.trimEnd() === "")',
      ],
    },
  ],
  [
    {
      file: "src/foundation/files/run-git.ts",
      test: "test/features/skills/fetch-repository.test.ts",
      only: "without running the program",
    },
    {
      "git transports that run programs are refused": ['"https:ssh:file"', '"https:ssh:file:ext"'],
    },
  ],
  [
    { file: "src/features/skills/pick-files.ts", only: "a link" },
    {
      "symbolic links in a skill are not followed": [
        'if (kind === "link") throw',
        'if (kind === "submodule") throw',
      ],
    },
  ],
  [
    {
      file: `${runners}/host-user/run-files.ts`,
      test: `${doors}/shared-folders.test.ts`,
      only: "swapped",
    },
    {
      "a run's log is not written through a planted link": [
        "O_CREAT | O_EXCL | O_NOFOLLOW",
        "O_CREAT",
      ],
    },
  ],
  [
    { file: `${runApi}/app.ts`, test: `${ofRunApi}/run-sockets.test.ts` },
    {
      "a run socket accepts its own run's token only": [
        "if (!carriesToken(headers.authorization, isClaim ? ticketHash : tokenHash))",
        "if (headers.authorization === undefined)",
      ],
    },
  ],
  [
    { file: `${runApi}/run-socket.ts`, test: `${ofRunApi}/run-sockets.test.ts` },
    { "a run's token expires at its end": ["    this.ended = how;\n", "    void how;\n"] },
  ],
  [
    {
      file: `${runners}/container/container-options.ts`,
      test: `${ofRunners}/container/isolation.system.test.ts`,
    },
    {
      "containers have no capabilities": ['CapDrop: ["ALL"]', "CapDrop: []"],
      "a container's root file system is read-only": [
        "ReadonlyRootfs: true",
        "ReadonlyRootfs: false",
      ],
      "the number of a container's processes is limited": [
        "PidsLimit: pidsLimit",
        "PidsLimit: 100_000",
      ],
    },
  ],
  [
    {
      file: `${runApi}/model-gateway/forward-call.ts`,
      test: `${ofRunApi}/model-gateway/echoed-secrets.test.ts`,
    },
    {
      "a model key that a provider repeats is masked": [
        "return withoutSecrets(answer, secretsOf(model));",
        "return withoutSecrets(answer, secretsOf(model).slice(1, 1));",
      ],
    },
  ],
  [
    {
      file: `${runApi}/model-gateway/plan-call.ts`,
      test: `${ofRunApi}/model-gateway/request-fields.test.ts`,
    },
    {
      "model requests with undocumented fields are refused": [
        "? noFields : null;",
        '? noFields : "json";',
      ],
    },
  ],
  [
    { file: `${runApi}/shares.ts` },
    { "one run can't take the share of others": ["if (wanted > perOwner) return false;", ""] },
  ],
];

export const mutations: readonly Mutation[] = table.flatMap(([where, defences]) => {
  const test = where.test ?? where.file.replace(/^src(.*)\.ts$/, "test$1.test.ts");
  return Object.entries(defences).map(([defence, [find, replace]]) => {
    return { ...where, test, defence, find, replace };
  });
});
