import { isIP } from "node:net";
import fc from "fast-check";
import { allowedHosts } from "../../../../src/foundation/contracts/network-allow.ts";
import { admit } from "../../../../src/runtime/run-api/egress/admit.ts";
import { addressProblem } from "../../../../src/runtime/run-api/egress/addresses.ts";
import {
  readFirstBytes,
  firstDataProblem,
} from "../../../../src/runtime/run-api/egress/client-hello.ts";
import { EgressRefusal, parseAuthority } from "../../../../src/runtime/run-api/egress/decide.ts";
import { parseHttpTarget } from "../../../../src/runtime/run-api/egress/forward-http.ts";
import { helloMessage, records } from "../../../runtime/run-api/egress/hellos.ts";
import { lines, nastyText, part, share } from "./share.ts";

const allow = ["api.allowed.test", "*.wild.test", "db.lan:5432 private", "203.0.113.10"];
const policy = { agent: "dev", allow: allowedHosts(allow), ownPort: 8080, bindings: [] };
/** What the list opens, said once more and in another way: host and port, or the end of a host. */
const opened =
  /^(api\.allowed\.test 443|([a-z0-9_-]+\.)+wild\.test 443|db\.lan 5432|203\.0\.113\.10 443)$/;

const closed =
  "127.0.0.1 0.0.0.0 169.254.169.254 10.0.0.7 192.168.7.7 ::1 fe80::1 ::ffff:127.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: 100.100.100.200 fd00::1 ff02::1".split(
    " ",
  );
const rules = { isPrivate: false, port: 443, ownPort: 8080, own: new Set(["192.168.7.7"]) };

const spellings = lines`api.allowed.test
API.allowed.test.
x.wild.test
wild.test
evilwild.test
a.b.wild.test
db.lan
203.0.113.10
other.test
localhost
*.wild.test
[::1]
::1
[::ffff:203.0.113.10]
0xcb00710a
3405803786
203.0.28938
127.1
0x7f.1
017700000001
[fe80::1%25lo]
203.0.113.10.
①②⑦.0.0.1
api。allowed。test
api.allowed.test%2eother.test
api.allowed.test\.other.test`;
const ends = ".wild.test @api.allowed.test #.wild.test /.wild.test".split(" ");
const hosts = fc.oneof(
  fc.constantFrom(...spellings),
  nastyText,
  fc.ipV4Extended(),
  fc.ipV6().map((address) => `[${address}]`),
  fc.domain(),
  fc.tuple(nastyText, fc.constantFrom(...ends)).map((parts) => parts.join("")),
);
const ports = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(...":443 :443 :443 :80 :22 :5432 :8080 ".split(" ")),
  },
  fc.constantFrom(":443 ", ...":0443 :+443 :1bb :65979 :-1 :443:443 :４４３".split(" ")),
);

test("no spelling of a host and port lets a run reach a host that is not listed", async () => {
  let [asked, passed] = [0, 0];
  const dialled: string[] = [];
  const deps = {
    resolve: (host: string) =>
      Promise.resolve(isIP(host) === 0 ? [...closed, "203.0.113.10"] : [host]),
    dial: (address: string): never => {
      dialled.push(address);
      throw new Error("nothing is dialled here");
    },
    ownAddresses: () => rules.own,
    proxyEnv: {},
    approve: () => Promise.resolve(null),
  };
  const run = { instanceId: "run-1", signal: new AbortController().signal };
  await fc.assert(
    fc.asyncProperty(hosts, ports, fc.boolean(), async (host, port, isPlain) => {
      asked += 1;
      const text = `${host}${port}`;
      const read = isPlain ? parseHttpTarget(`http://${text}/`)?.asked : parseAuthority(text);
      if (read === null || read === undefined) return;
      try {
        const way = await admit(policy, read, isPlain ? "http" : "https", run, deps);
        await way.dial(new AbortController().signal).catch(() => undefined);
      } catch (error) {
        expect(error).toBeInstanceOf(EgressRefusal);
        return;
      }
      passed += 1;
      expect(`${read.host} ${read.port}`).toMatch(opened);
      // But for its case a name is in the text as it is; an address may be written in many ways.
      if (isIP(read.host) === 0) expect(text.toLowerCase()).toContain(read.host);
    }),
    share(60_000),
  );
  expect(asked).toBeGreaterThan(1_000);
  expect(passed).toBeGreaterThan(asked / 100);
  const isPrivate = true;
  for (const address of new Set(dialled)) {
    expect(addressProblem(address, { ...rules, isPrivate, port: 5432 }), address).toBeNull();
  }
}, 120_000);

const names = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ..."api.allowed.test API.ALLOWED.test other.test api.allowed.test.".split(" "),
    ),
  },
  { weight: 2, arbitrary: nastyText.map((text) => text.slice(0, 300)) },
);
const edit = fc.tuple(part, fc.uint8Array({ maxLength: 4 }), fc.integer({ min: 0, max: 4 }));
const edits = fc.array(edit, { maxLength: 3 });

type Edit = readonly [at: number, inserted: Uint8Array, cut: number];
const edited = (bytes: Buffer, [at, inserted, cut]: Edit): Buffer => {
  const from = Math.floor(at * bytes.length);
  return Buffer.concat([bytes.subarray(0, from), inserted, bytes.subarray(from + cut)]);
};

test("no random TLS hello opens a tunnel to another name, or is read differently by another parser", () => {
  let passed = 0;
  fc.assert(
    fc.property(
      fc.array(names, { maxLength: 2 }),
      fc.integer({ min: 1, max: 400 }),
      edits,
      part,
      (list, size, changes, end) => {
        const whole = records(helloMessage({ names: list }), size);
        const bytes = changes.reduce(edited, whole);
        const read = readFirstBytes(bytes);
        // Whatever packets it comes in, it is read as the same, or not yet.
        const early = readFirstBytes(bytes.subarray(0, Math.floor(end * bytes.length)));
        if (early.type !== "incomplete") expect(early).toEqual(read);
        if (read.type !== "hello" || firstDataProblem(read, "api.allowed.test") !== null) return;
        passed += 1;
        expect(read.serverName?.toLowerCase()).toBe("api.allowed.test");
        expect(contentOf(bytes).toLowerCase()).toContain("api.allowed.test");
      },
    ),
    share(40_000),
  );
  expect(passed).toBeGreaterThan(100);
}, 120_000);

/** The bytes without the headers of records. */
function contentOf(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at + 5 <= bytes.length;) {
    const size = bytes.readUInt16BE(at + 3);
    parts.push(bytes.subarray(at + 5, at + 5 + size));
    at += 5 + size;
  }
  return Buffer.concat(parts).toString("latin1");
}
