import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate authority of a test's own, as a client has to trust it. */
export function certificateAuthority() {
  const dir = mkdtempSync(join(tmpdir(), "al-ca-"));
  const file = (name: string) => join(dir, name);
  const openssl = (...args: readonly string[]) =>
    execFileSync("openssl", args, { stdio: "ignore" });
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const ca = ["-keyout", file("ca.key"), "-out", file("ca.pem"), "-days", "2"];
  openssl("req", "-x509", ...kind, "-subj", "/CN=Test authority", ...ca);
  return {
    /** PEM. */
    cert: readFileSync(file("ca.pem"), "utf8"),
    /** A server's key and certificate for these names, and addresses as `IP:203.0.113.7`. */
    issue: (...names: readonly string[]): { readonly key: string; readonly cert: string } => {
      const [first = ""] = names;
      const all = names.map((name) => (name.includes(":") ? name : `DNS:${name}`)).join();
      writeFileSync(file("extensions"), `subjectAltName=${all}`);
      const [key, request, cert] = [file("key"), file("csr"), file("cert")];
      openssl("req", ...kind, "-subj", `/CN=${first}`, "-keyout", key, "-out", request);
      const signed = ["-CA", file("ca.pem"), "-CAkey", file("ca.key"), "-days", "2"];
      openssl(
        "x509",
        "-req",
        "-in",
        request,
        ...signed,
        "-extfile",
        file("extensions"),
        "-out",
        cert,
      );
      return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}
