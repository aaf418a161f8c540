import { OperationError } from "../contracts/operations.ts";
import type { ReceiptView } from "../contracts/operator-api.ts";
import type { Receipt } from "../contracts/webhook-receipts.ts";

/** Names of fields that hold a secret whatever a sender uses them for, such as Slack's legacy `token`. */
const secretName = /(token|secret|password|passwd|apikey|privatekey|authorization|signature)$/;
const mark = "[redacted]";
const maxDepth = 32;

export interface ReceiptViewDeps {
  readonly receipt: (id: string) => Receipt | null;
  /** The body's JSON, also of a form that holds it; null when there is none. */
  readonly payloadOf: (receipt: Receipt) => unknown;
  /** Takes the secrets that are known out of a text or of a JSON value. */
  readonly redactor: {
    readonly redact: (text: string) => string;
    readonly redactValue: (value: unknown) => unknown;
  };
}

/** A stored delivery for a person: known secrets and fields that are secrets by their name are redacted. */
export function viewReceipt(id: string, deps: ReceiptViewDeps): ReceiptView {
  const { redactor } = deps;
  const receipt = mustHaveReceipt(deps.receipt, id);
  const payload = deps.payloadOf(receipt);
  const headers = Object.entries(receipt.headers).map(
    ([name, value]) => [name, isSecretName(name) ? mark : redactor.redact(value)] as const,
  );
  return {
    receiptId: receipt.id,
    at: new Date(receipt.at).toISOString(),
    source: receipt.source,
    type: receipt.type,
    deliveryId: receipt.deliveryId,
    headers: Object.fromEntries(headers),
    matched: [...receipt.matched],
    reason: receipt.reason === null ? null : redactor.redact(receipt.reason),
    bytes: receipt.body.byteLength,
    payload: redactor.redactValue(withoutSecrets(payload, 0)),
    text: payload === null ? redactor.redact(Buffer.from(receipt.body).toString("utf8")) : null,
  };
}

/** The receipt, or OperationError `unknown_receipt`. */
export function mustHaveReceipt(receiptOf: (id: string) => Receipt | null, id: string): Receipt {
  const receipt = receiptOf(id);
  if (receipt !== null) return receipt;
  const message = `no receipt "${id}"; receipts are kept as long as the history`;
  throw new OperationError("unknown_receipt", message);
}

function withoutSecrets(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth >= maxDepth) return "[too deep]";
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      isSecret(name, one) ? mark : withoutSecrets(one, depth + 1),
    ]),
  );
}

/** Empty and absent values stay: that there is no secret is worth seeing. */
function isSecret(name: string, value: unknown): boolean {
  if (value === null || value === "" || !isSecretName(name)) return false;
  return typeof value === "string" || typeof value === "number";
}

function isSecretName(name: string): boolean {
  return secretName.test(name.toLowerCase().replace(/[^a-z]/g, ""));
}
