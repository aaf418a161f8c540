import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { X509Certificate } from "node:crypto";
import { doorIdentity } from "../../../../src/runtime/cluster/door/door-identity.ts";
import { like } from "../../../helpers/like.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { testCertificate } from "../../../helpers/certificate.ts";

const { key, cert } = testCertificate;
const aPath = () => join(tempDir(), "door.pem");

test("the door's key and certificate are made once, for the scheduler's user only", async () => {
  const path = aPath();
  const made = await doorIdentity(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await doorIdentity(path)).toEqual(made);
  expect((await doorIdentity(aPath())).certificate).not.toBe(made.certificate);
});

test("the door's certificate is valid for a machine whose clock is years behind or ahead", async () => {
  const { validFromDate, validToDate } = new X509Certificate(
    (await doorIdentity(aPath())).certificate,
  );
  expect(validFromDate.getFullYear()).toBeLessThan(new Date().getFullYear() - 8);
  expect(validToDate.getFullYear()).toBeGreaterThan(new Date().getFullYear() + 90);
});

test.each<[string, (path: string) => unknown]>([
  ["an empty file", (path) => writeFileSync(path, "")],
  ["half of a file", (path) => writeFileSync(path, key + cert.slice(0, 300))],
  ["another text", (path) => writeFileSync(path, "hello\n")],
  [
    "a certificate of another key",
    async (path) => writeFileSync(path, (await doorIdentity(aPath())).key + cert),
  ],
  ["a folder", (path) => mkdirSync(path)],
])("doorIdentity rejects %s with an error that names its path", async (_what, make) => {
  const path = aPath();
  await make(path);
  await expect(doorIdentity(path)).rejects.toMatchObject({
    code: "door_identity",
    message: like(path),
  });
});
