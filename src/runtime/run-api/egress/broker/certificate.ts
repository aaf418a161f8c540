import { createHash, createPublicKey, randomBytes, sign, type KeyObject } from "node:crypto";
import { isIP } from "node:net";
import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import * as x509 from "@peculiar/asn1-x509";

interface Party {
  readonly name: string;
  readonly key: KeyObject;
}

interface CertificateOptions {
  readonly issuer: Party;
  readonly subject: Party;
  /** Epoch ms. */
  readonly from: number;
  readonly until: number;
  /** Extensions of the certificate's kind; key identifiers are added. */
  readonly extensions: readonly x509.Extension[];
}

const commonName = "2.5.4.3";
const ecdsaWithSha256 = "1.2.840.10045.4.3.2";

/** A certificate as PEM, signed with the issuer's key of P-256. (RFC 5280) */
export function certificate({ issuer, subject, from, until, extensions }: CertificateOptions) {
  const algorithm = new x509.AlgorithmIdentifier({ algorithm: ecdsaWithSha256 });
  const content = new x509.TBSCertificate({
    version: x509.Version.v3,
    serialNumber: serialNumber(),
    signature: algorithm,
    issuer: nameOf(issuer.name),
    subject: nameOf(subject.name),
    validity: new x509.Validity({ notBefore: new Date(from), notAfter: new Date(until) }),
    subjectPublicKeyInfo: AsnConvert.parse(publicDer(subject.key), x509.SubjectPublicKeyInfo),
    extensions: new x509.Extensions([...extensions, ...keyIdentifiers(issuer.key, subject.key)]),
  });
  const signature = sign("sha256", Buffer.from(AsnConvert.serialize(content)), issuer.key);
  const signed = new x509.Certificate({
    tbsCertificate: content,
    signatureAlgorithm: algorithm,
    signatureValue: bytesOf(signature),
  });
  return pem(Buffer.from(AsnConvert.serialize(signed)));
}

/** Extensions of a CA restricted to these hosts. */
export function authorityExtensions(hosts: readonly string[]): x509.Extension[] {
  // A constraint on an IP address includes a mask, here for this single address.
  const masks: Readonly<Record<number, string>> = { 4: "/32", 6: "/128" };
  const subtrees = hosts.map(
    (host) => new x509.GeneralSubtree({ base: nameOfHost(host, masks[isIP(host)]) }),
  );
  const constraints = new x509.NameConstraints({
    permittedSubtrees: new x509.GeneralSubtrees(subtrees),
  });
  const basics = new x509.BasicConstraints({ cA: true, pathLenConstraint: 0 });
  return [
    extension(x509.id_ce_basicConstraints, basics, "critical"),
    extension(x509.id_ce_keyUsage, new x509.KeyUsage(x509.KeyUsageFlags.keyCertSign), "critical"),
    extension(x509.id_ce_nameConstraints, constraints, "critical"),
  ];
}

/** Extensions of a server's certificate for one host. */
export function serverExtensions(host: string): x509.Extension[] {
  const purposes = new x509.ExtendedKeyUsage([x509.id_kp_serverAuth]);
  const names = new x509.SubjectAlternativeName([nameOfHost(host)]);
  return [
    extension(x509.id_ce_basicConstraints, new x509.BasicConstraints({}), "critical"),
    extension(
      x509.id_ce_keyUsage,
      new x509.KeyUsage(x509.KeyUsageFlags.digitalSignature),
      "critical",
    ),
    extension(x509.id_ce_extKeyUsage, purposes),
    extension(x509.id_ce_subjectAltName, names),
  ];
}

/** OpenSSL and Python in strict mode refuse certificates without key identifiers. */
function keyIdentifiers(issuer: KeyObject, subject: KeyObject): x509.Extension[] {
  const keyIdentifier = new x509.KeyIdentifier(keyId(issuer));
  const authority = new x509.AuthorityKeyIdentifier({ keyIdentifier });
  return [
    extension(x509.id_ce_subjectKeyIdentifier, new x509.SubjectKeyIdentifier(keyId(subject))),
    extension(x509.id_ce_authorityKeyIdentifier, authority),
  ];
}

function extension(extnID: string, value: object, critical?: "critical"): x509.Extension {
  const extnValue = new OctetString(AsnConvert.serialize(value));
  return new x509.Extension({ extnID, critical: critical === "critical", extnValue });
}

function nameOfHost(host: string, mask = ""): x509.GeneralName {
  return isIP(host) === 0
    ? new x509.GeneralName({ dNSName: host })
    : new x509.GeneralName({ iPAddress: `${host}${mask}` });
}

function nameOf(text: string): x509.Name {
  const value = new x509.AttributeValue({ utf8String: text });
  const attribute = new x509.AttributeTypeAndValue({ type: commonName, value });
  return new x509.Name([new x509.RelativeDistinguishedName([attribute])]);
}

function publicDer(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: "spki", format: "der" });
}

/** The first 160 bits of a SHA-256 hash, as RFC 7093 defines it. */
export function keyId(key: KeyObject): ArrayBuffer {
  return bytesOf(createHash("sha256").update(publicDer(key)).digest().subarray(0, 20));
}

/** A random serial number, positive and at most 20 bytes long. */
function serialNumber(): ArrayBuffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytesOf(bytes);
}

function bytesOf(bytes: Buffer): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

function pem(der: Buffer): string {
  const lines = der.toString("base64").replaceAll(/(.{64})(?=.)/g, "$1\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
