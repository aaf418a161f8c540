import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { createRunAuthority } from "../../../../../src/runtime/run-api/egress/broker/run-authority.ts";
import { listen } from "../../../../helpers/listen.ts";
import type { RunAuthority } from "../../../../../src/runtime/run-api/egress/broker/run-authority.ts";

const run = promisify(execFile);
const projectKey = "6b".repeat(32);
const host = "api.allowed.test";
const other = "other.test";

function authorityOf(instanceId: string, now = Date.now): Promise<RunAuthority> {
  return createRunAuthority(projectKey, instanceId, now);
}

let dir: string;
let bundle: string;
let authority: RunAuthority;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "al-authority-"));
  bundle = join(dir, "ca.pem");
  authority = await authorityOf("dev-abcdefgh");
  await writeFile(bundle, authority.certificate([host, "10.0.0.7"]));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function leafFor(name: string, by = authority): Promise<string> {
  const own = createServer({
    SNICallback: (asked, done) => done(null, by.contextFor(asked)),
  });
  const port = await listen(own);
  const socket = connect({ port, servername: name, rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const leaf = socket.getPeerX509Certificate()?.toString() ?? "";
  socket.destroy();
  own.close();
  return leaf;
}

async function opensslVerify(leaf: string, name: string, ca = bundle) {
  const path = join(dir, `${name}.pem`);
  await writeFile(path, leaf);
  const strict = ["-x509_strict", "-purpose", "sslserver", "-verify_hostname", name];
  return run("openssl", ["verify", "-CAfile", ca, ...strict, path]).then(
    () => "good",
    (error: unknown) => (error as { readonly stderr: string }).stderr,
  );
}

test("the certificate authority of a run passes the strict checks of OpenSSL", async () =>
  expect(await opensslVerify(await leafFor(host), host)).toBe("good"));

test("the certificate authority of a run is valid for the hosts of its secrets only", async () => {
  const leaf = await leafFor(other);
  expect(await opensslVerify(leaf, other)).toContain("permitted subtree violation");
});

test("the certificate authority of a run differs for each run", async () => {
  const leaf = await leafFor(host, await authorityOf("dev-zzzzzzzz"));
  expect(await opensslVerify(leaf, host)).toContain("unable to get local issuer");
});

test("the certificate authority of a run is the same after a restart, so the run trusts later certificates", async () => {
  const later = await authorityOf("dev-abcdefgh");
  expect(await opensslVerify(await leafFor(host, later), host)).toBe("good");
  const [one, two] = [authority, later].map((a) => new X509Certificate(a.certificate([host])));
  expect(one?.publicKey.export({ type: "spki", format: "pem" })).toBe(
    two?.publicKey.export({ type: "spki", format: "pem" }),
  );
  expect(one?.subject).toBe(two?.subject);
});

test("the certificate authority of a run makes one certificate per host, and a new one before it expires", async () => {
  let now = Date.now();
  const own = await authorityOf("dev-abcdefgh", () => now);
  const first = own.contextFor(host);
  expect(own.contextFor(host)).toBe(first);
  now += 29.5 * 24 * 3_600_000;
  expect(own.contextFor(host)).not.toBe(first);
});
