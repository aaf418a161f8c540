import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { X509Certificate } from "node:crypto";
import { doorIdentity } from "../../../../src/runtime/cluster/door/door-identity.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { testCertificate } from "../../../helpers/certificate.ts";

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

test.each([
  ["nothing", ""],
  ["half of it", testCertificate.key + testCertificate.cert.slice(0, 300)],
  ["something else", "hello\n"],
])("a file of the door with %s is an error that names it", async (_what, content) => {
  const path = aPath();
  writeFileSync(path, content);
  await expect(doorIdentity(path)).rejects.toMatchObject({
    code: "door_identity",
    message: `${path} does not hold the key and the certificate of the door`,
  });
});

test("another key's certificate, or a folder in place of the door's file, is an error", async () => {
  const path = aPath();
  const { key } = await doorIdentity(aPath());
  writeFileSync(path, key + testCertificate.cert);
  await expect(doorIdentity(path)).rejects.toMatchObject({ code: "door_identity" });
  await expect(doorIdentity(join(path, ".."))).rejects.toMatchObject({ code: "door_identity" });
});
