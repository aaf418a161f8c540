import type { Mutation } from "../mutation.ts";

const broker = "src/run-api/egress/broker";
const tested = (name: string) => [`test/run-api/egress/broker/${name}.test.ts`];

/** What keeps a secret outside of a run that uses it. */
export const brokering: readonly Mutation[] = [
  {
    defence: "a run has a sentinel in place of each secret that is bound to hosts",
    file: "src/credentials/broker-credentials.ts",
    find: "fields[field] = sentinel;",
    replace: "fields[field] = secret;",
    tests: ["test/e2e/brokered-secrets.test.ts"],
    only: "no byte",
  },
  {
    defence: "an adopted run's sentinels and authority are those that it started with",
    file: "src/contracts/derived-bytes.ts",
    find: 'createHmac("sha256", projectKey)',
    replace: 'createHmac("sha256", `${projectKey} ${process.pid}`)',
    tests: ["test/e2e/brokered-secrets.test.ts"],
    only: "next scheduler",
  },
  {
    defence: "a run's sentinels are of no use to another run",
    file: "src/contracts/sentinel.ts",
    find: '"sentinel", instanceId, type,',
    replace: '"sentinel", type,',
    tests: ["test/credentials/broker-credentials.test.ts"],
  },
  {
    defence: "a run's authority is trusted by no other run",
    file: `${broker}/authority-key.ts`,
    find: '"authority of a run", instanceId, attempt',
    replace: '"authority of a run", attempt',
    tests: tested("run-authority"),
  },
  {
    defence: "a run's authority is good for the bound hosts alone",
    file: `${broker}/certificate.ts`,
    find: '    extension(x509.id_ce_nameConstraints, constraints, "critical"),\n',
    replace: '    ...[constraints].slice(1).map((one) => extension("", one)),\n',
    tests: tested("run-authority"),
  },
  {
    defence: "a secret is put into requests to its own hosts and no others",
    file: `${broker}/substitute.ts`,
    find: "bindings.filter(({ hosts }) => hosts.includes(host));",
    replace: "bindings.filter(({ hosts }) => hosts.length > 0);",
    tests: tested("substitute"),
  },
  {
    defence: "a sentinel in an address does not leave",
    file: `${broker}/substitute.ts`,
    find: '  assertNone("the address", url);\n',
    replace: "",
    tests: tested("substitute"),
  },
  {
    defence: "a sentinel in a body does not leave",
    file: `${broker}/sentinel-guard.ts`,
    find: "if (bytes.includes(mark)) return done(this.#refusal());",
    replace: "if (bytes.length < 0) return done(this.#refusal());",
    tests: tested("intercept"),
  },
  {
    defence: "a sentinel that comes in pieces does not leave",
    file: `${broker}/sentinel-guard.ts`,
    find: "bytes.length - begun(bytes, mark)",
    replace: "bytes.length - 0 * begun(bytes, mark)",
    tests: tested("intercept"),
    only: "in pieces",
  },
  {
    defence: "a sentinel does not leave without TLS",
    file: "src/run-api/egress/forward-http.ts",
    find: "  assertNoSentinel(request, asked, path);\n",
    replace: "  void assertNoSentinel;\n",
    tests: tested("through-egress"),
  },
  {
    defence: "an opened tunnel serves its host alone",
    file: `${broker}/request-head.ts`,
    find: "if (isPath && asked === host) return;",
    replace: "if (isPath && asked !== null) return;",
    tests: tested("intercept"),
  },
  {
    defence: "an opened tunnel's host is named once",
    file: "src/run-api/egress/forward-headers.ts",
    find: 'filter(([name]) => name.toLowerCase() !== "host")',
    replace: "filter(([name]) => name.length > 0)",
    tests: tested("intercept"),
    only: "second Host",
  },
  {
    defence: "a host whose certificate is not its own gets no secret",
    file: `${broker}/upstream.ts`,
    find: "rejectUnauthorized: true",
    replace: "rejectUnauthorized: false",
    tests: tested("intercept"),
  },
  {
    defence: "a secret that a host repeats reaches no run",
    file: `${broker}/pass-answer.ts`,
    find: "maskedBytes(bytes, masks)",
    replace: "maskedBytes(bytes, masks.slice(0, 0))",
    tests: tested("intercept"),
  },
  {
    defence: "a secret that a host repeats compressed reaches no run",
    file: `${broker}/pass-answer.ts`,
    find: "hasBody ? decoded(answer, headers).body : answer",
    replace: 'hasBody ? decoded(answer, { ...headers, "content-encoding": "" }).body : answer',
    tests: tested("intercept"),
    only: "compressed",
  },
];
